#include "test/azsim/content.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static struct err *failed(const char *path)
{
    return err_new(ERR_INTERNAL, "%s: %s", path, strerror(errno));
}

struct err *content_make(const char *path, int64_t size)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct stat present;
    bool done = fd >= 0 && fstat(fd, &present) == 0 &&
                (present.st_size >= size || ftruncate(fd, size) == 0);
    struct err *err = done ? NULL : failed(path);

    if (fd >= 0)
        close(fd);
    return err;
}

/* From where there is data to where there is none any more. */
static bool copy_extent(int from, int to, off_t start, off_t end)
{
    loff_t in = start, out = start;

    while (in < end) {
        ssize_t n = copy_file_range(from, &in, to, &out, (size_t)(end - in), 0);

        if (n <= 0)
            return false;
    }
    return true;
}

static bool copy_extents(int from, int to, off_t size)
{
    off_t start = 0;

    while (start < size && (start = lseek(from, start, SEEK_DATA)) >= 0) {
        off_t end = lseek(from, start, SEEK_HOLE);

        if (end < 0 || !copy_extent(from, to, start, end))
            return false;
        start = end;
    }
    return start >= 0 || errno == ENXIO; /* nothing but a hole up to the end */
}

static bool copy_file(int from, int to)
{
    struct stat source;

    if (fstat(from, &source) < 0 || ftruncate(to, source.st_size) < 0)
        return false;
    return ioctl(to, FICLONE, from) == 0 || copy_extents(from, to, source.st_size);
}

struct err *content_copy(const char *from, const char *to)
{
    int in = open(from, O_RDONLY | O_CLOEXEC);

    if (in < 0)
        return errno == ENOENT ? NULL : failed(from);
    int out = open(to, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    struct err *err = out >= 0 && copy_file(in, out) ? NULL : failed(to);

    if (out >= 0)
        close(out);
    close(in);
    return err;
}
