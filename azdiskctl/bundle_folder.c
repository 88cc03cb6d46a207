#include "azdiskctl/bundle_folder.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/alloc.h"

enum { LONGEST_PART = 80, OWNER_ONLY = 0700, OWNERS_FILE = 0600 };

static struct err *cannot(const char *what, const char *path)
{
    return err_new(ERR_INVALID, "cannot %s %s: %s", what, path, strerror(errno));
}

/* ---- the directory ---- */

static bool is_entry(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static struct err *expect_empty(const struct bundle_folder *folder)
{
    int fd = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;
    bool is_empty = true;

    if (!entries) {
        if (fd >= 0)
            close(fd);
        return cannot("read", folder->path);
    }
    while (is_empty && (entry = readdir(entries)))
        is_empty = !is_entry(entry);
    closedir(entries);
    if (!is_empty)
        return err_new(ERR_INVALID, "%s is not empty: name a new directory", folder->path);
    return NULL;
}

/* Whose it is could let others in again. */
static struct err *expect_own(const struct bundle_folder *folder)
{
    struct stat stat;

    if (fstat(folder->fd, &stat) != 0)
        return cannot("look at", folder->path);
    if (stat.st_uid != geteuid())
        return err_new(ERR_INVALID, "%s is somebody else's: name a new directory", folder->path);
    return NULL;
}

struct err *bundle_folder_open(const char *path, struct bundle_folder *ret)
{
    *ret = (struct bundle_folder){.path = path, .fd = -1};
    if (mkdir(path, OWNER_ONLY) != 0 && errno != EEXIST)
        return cannot("make the directory", path);
    ret->fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (ret->fd < 0)
        return cannot("open the directory", path);
    TRY(expect_own(ret));
    if (fchmod(ret->fd, OWNER_ONLY) != 0)
        return cannot("keep others out of", path);
    return expect_empty(ret);
}

void bundle_folder_close(struct bundle_folder *folder)
{
    if (folder->fd >= 0)
        close(folder->fd);
    folder->fd = -1;
}

char *bundle_name_part(const char *text)
{
    char *part = mem_strndup(text, LONGEST_PART);

    for (char *at = part; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr(".-", *at))
            *at = '_';
    return part;
}

/* ---- its files ---- */

static struct err *cannot_write(const struct bundle_file *file)
{
    return err_new(ERR_INVALID, "cannot write %s/%s: %s", file->folder->path, file->name,
                   strerror(errno));
}

struct err *bundle_file_create(const struct bundle_folder *folder, const char *name, size_t limit,
                               struct bundle_file *ret)
{
    *ret = (struct bundle_file){.folder = folder, .name = name, .limit = limit};
    ret->fd =
        openat(folder->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, OWNERS_FILE);
    return ret->fd < 0 ? cannot_write(ret) : NULL;
}

bool bundle_file_has_room(const struct bundle_file *file, size_t length)
{
    return length <= file->limit - file->bytes;
}

struct err *bundle_file_write(struct bundle_file *file, const char *data, size_t length)
{
    if (!bundle_file_has_room(file, length))
        return err_new(ERR_EXHAUSTED, "%s/%s has more than %zu bytes", file->folder->path,
                       file->name, file->limit);
    while (length > 0) {
        ssize_t n = write(file->fd, data, length);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return cannot_write(file);
        data += n;
        length -= (size_t)n;
        file->bytes += (size_t)n;
    }
    return NULL;
}

struct err *bundle_file_close(struct bundle_file *file)
{
    int fd = file->fd;

    file->fd = -1;
    return fd >= 0 && close(fd) != 0 ? cannot_write(file) : NULL;
}

void bundle_file_discard(struct bundle_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
    (void)unlinkat(file->folder->fd, file->name, 0);
}

struct err *bundle_folder_write(const struct bundle_folder *folder, const char *name,
                                const char *text, size_t length)
{
    struct bundle_file file;

    TRY(bundle_file_create(folder, name, length, &file));
    struct err *err = bundle_file_write(&file, text, length);
    if (!err)
        return bundle_file_close(&file);
    bundle_file_discard(&file);
    return err;
}
