#include "provisioner-lib/host/mount_point.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "provisioner-lib/host/block.h"

static struct err *failed(const char *what, const char *path)
{
    return err_new(ERR_INTERNAL, "%s %s: %s", what, path, strerror(errno));
}

struct err *mount_point_make_folder(const char *path)
{
    struct stat status;

    if (mkdir(path, 0750) == 0)
        return NULL;
    if (errno != EEXIST || stat(path, &status))
        return failed("making", path);
    errno = ENOTDIR;
    return S_ISDIR(status.st_mode) ? NULL : failed("making", path);
}

struct err *mount_point_make_file(const char *path)
{
    CLEANUP(closep) int fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

    return fd < 0 ? failed("making", path) : NULL;
}

struct err *mount_point_remove(const char *path)
{
    struct stat status;

    if (lstat(path, &status))
        return errno == ENOENT ? NULL : failed("removing", path);
    if (S_ISDIR(status.st_mode))
        return rmdir(path) ? failed("removing", path) : NULL;
    if (!S_ISREG(status.st_mode) || status.st_size > 0)
        return err_new(ERR_INTERNAL, "%s is neither a directory nor an empty file: not removed",
                       path);
    return unlink(path) ? failed("removing", path) : NULL;
}
