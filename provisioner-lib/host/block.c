#include "provisioner-lib/host/block.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/rt/thread_pool.h"

/* A program that is being started has a copy of all descriptors until it executes, so that the
 * kernel may take a device for claimed though whoever claimed it has closed it. */
enum { TRIES = 200, PAUSE_MS = 5 };

void closep(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

static enum err_kind open_error_kind(int number)
{
    switch (number) {
    case ENOENT:
    case ENXIO: /* the node is there, the device is not */
    case ENODEV:
        return ERR_NOT_FOUND;
    case EBUSY:
        return ERR_PRECONDITION;
    default:
        return ERR_INTERNAL;
    }
}

static struct err *check_device(const char *path, int fd)
{
    struct stat status;

    if (fd < 0)
        return err_new(open_error_kind(errno), "%s: %s", path,
                       errno == EBUSY ? "the device is in use" : strerror(errno));
    if (fstat(fd, &status) || !S_ISBLK(status.st_mode))
        return err_new(ERR_INTERNAL, "%s is not a block device", path);
    return NULL;
}

struct err *block_open(const char *path, int *ret_fd)
{
    CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);

    TRY(check_device(path, fd));
    *ret_fd = fd;
    fd = -1;
    return NULL;
}

static int open_exclusively(const char *path, int access)
{
    for (int tries = 0;; tries++) {
        int fd = open(path, access | O_EXCL | O_CLOEXEC);

        if (fd >= 0 || errno != EBUSY || tries == TRIES)
            return fd;
        thread_pool_pause(PAUSE_MS);
    }
}

static struct err *claim(const char *path, int access, struct block_claim *ret)
{
    CLEANUP(closep) int fd = open_exclusively(path, access);

    TRY(check_device(path, fd));
    *ret = (struct block_claim){.path = path, .fd = fd};
    fd = -1;
    return NULL;
}

struct err *block_claim(const char *path, struct block_claim *ret)
{
    return claim(path, O_RDWR, ret);
}

struct err *block_hold(const char *path, struct block_claim *ret)
{
    return claim(path, O_RDONLY, ret);
}

/* It is free when it can be claimed again, which is for reading here: udev looks at a device that
 * was open for writing. */
void block_claim_end(struct block_claim *claim)
{
    if (claim->fd < 0)
        return;
    close(claim->fd);
    CLEANUP(closep) int again = open_exclusively(claim->path, O_RDONLY);
    claim->fd = -1;
}

static struct err *control(int fd, unsigned long request, void *argument, const char *name)
{
    if (ioctl(fd, request, argument))
        return err_new(ERR_INTERNAL, "%s: %s", name, strerror(errno));
    return NULL;
}

struct err *block_size(int fd, uint64_t *ret_bytes)
{
    return control(fd, BLKGETSIZE64, ret_bytes, "BLKGETSIZE64");
}

struct err *block_read(int fd, uint64_t offset, void *data, size_t length)
{
    for (size_t done = 0; done < length;) {
        ssize_t n = pread(fd, (char *)data + done, length - done, (off_t)(offset + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return err_new(ERR_INTERNAL, "reading the device: %s",
                           n < 0 ? strerror(errno) : "unexpected end");
        done += (size_t)n;
    }
    return NULL;
}

struct err *block_write(int fd, uint64_t offset, const void *data, size_t length)
{
    if (pwrite(fd, data, length, (off_t)offset) != (ssize_t)length)
        return err_new(ERR_INTERNAL, "writing the device: %s", strerror(errno));
    return NULL;
}

struct err *block_drop_caches(int fd)
{
    return control(fd, BLKFLSBUF, NULL, "BLKFLSBUF");
}

void block_read_partitions(int fd)
{
    (void)ioctl(fd, BLKRRPART, NULL);
}

struct err *block_flush(int fd)
{
    return fsync(fd) ? err_new(ERR_INTERNAL, "flushing the device: %s", strerror(errno)) : NULL;
}

struct err *block_set_read_only(int fd, bool read_only)
{
    int value = read_only;

    return control(fd, BLKROSET, &value, "BLKROSET");
}

struct err *block_is_read_only(int fd, bool *ret_read_only)
{
    int value;

    TRY(control(fd, BLKROGET, &value, "BLKROGET"));
    *ret_read_only = value != 0;
    return NULL;
}
