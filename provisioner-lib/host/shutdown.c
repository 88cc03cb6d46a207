#include "provisioner-lib/host/shutdown.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "provisioner-lib/host/block.h"
#include "provisioner-lib/host/host_worker.h"
#include "provisioner-lib/host/mount_table.h"
#include "provisioner-lib/host/partition.h"
#include "provisioner-lib/host/reservation.h"

/* The same for ext4 (EXT4_IOC_SHUTDOWN) and xfs (XFS_IOC_GOINGDOWN), as far as it is used here; no
 * header for programs has both. */
#define SHUTDOWN _IOR('X', 125, uint32_t)

enum { WITHOUT_LOG = 2, MOST_TRIES = 20 };

struct shutdown_request {
    const struct device_roots *roots;
    const struct device *disk;
    uint64_t key;
};

/* That nobody has the fence any more does not make it this node's. */
static struct err *is_held_again(const struct shutdown_request *request, bool *ret)
{
    struct reservation seen;
    bool supported;

    *ret = false;
    if (!request->key)
        return NULL;
    TRY(reservation_read(request->disk->fd, &supported, &seen));
    *ret = supported && seen.held && seen.holder == request->key;
    return NULL;
}

/* ---- a file system ---- */

/* ext4 leaves metadata that is in its journal already to the cache of the device, which would write
 * it at some time. It is offered to the disk now: that the disk refuses it drops it. */
static void drop_metadata(const struct mount_entry *entry)
{
    CLEANUP(closep) int device = open(entry->source, O_RDONLY | O_CLOEXEC);

    if (device >= 0)
        (void)fsync(device);
}

/* Where the mount was meanwhile taken away there is the folder below it, which is another's, such
 * as the machine's own, or nothing. What is open cannot be taken away. */
static struct err *open_filesystem(const struct mount_entry *entry, int *ret)
{
    struct stat status;
    CLEANUP(closep)
    int root = open(entry->target, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* or a file: a subPath */

    if ((root < 0 && errno == ENOENT) ||
        (root >= 0 && fstat(root, &status) == 0 && status.st_dev != entry->device))
        return err_new(ERR_NOT_FOUND, "its file system is no longer at %s", entry->target);
    if (root < 0)
        return err_new(ERR_INTERNAL, "opening %s: %s", entry->target, strerror(errno));
    *ret = root;
    root = -1;
    return NULL;
}

static struct err *end_filesystem(const struct mount_entry *entry)
{
    const uint32_t how = WITHOUT_LOG;
    CLEANUP(closep) int root = -1;

    TRY(open_filesystem(entry, &root));
    if (ioctl(root, SHUTDOWN, &how))
        return err_new(ERR_INTERNAL, "shutting down the file system at %s: %s", entry->target,
                       strerror(errno));
    drop_metadata(entry);
    return NULL;
}

/* ---- a disk without one ---- */

/* What its cache holds is offered to the disk, too. */
static struct err *close_to_writes(int fd)
{
    TRY(block_set_read_only(fd, true));
    (void)fsync(fd);
    return NULL;
}

static struct err *open_to_writes(int fd)
{
    return block_set_read_only(fd, false);
}

struct err *shutdown_lift(const struct device_roots *roots, const struct device *disk)
{
    return partition_visit(roots, disk, open_to_writes);
}

/* Another call may have taken the fence back before it was closed. */
static struct err *end_raw(const struct shutdown_request *request)
{
    bool held;

    TRY(partition_visit(request->roots, request->disk, close_to_writes));
    TRY(is_held_again(request, &held));
    return held ? shutdown_lift(request->roots, request->disk) : NULL;
}

/* ---- either ---- */

static struct err *end_use(const struct shutdown_request *request)
{
    CLEANUP(mount_entry_fini) struct mount_entry entry = {0};

    TRY(partition_find_mount(request->roots, request->disk->number, &entry));
    return entry.target ? end_filesystem(&entry) : end_raw(request);
}

/* Its mounts come and go with pods; that the newest one has gone says nothing of the others. */
static struct err *shut_down_blocking(void *arg)
{
    const struct shutdown_request *request = arg;
    bool held;

    TRY(is_held_again(request, &held));
    if (held)
        return NULL;
    for (int tries = 1;; tries++) {
        struct err *err = end_use(request);

        if (!err || err_kind(err) != ERR_NOT_FOUND || tries == MOST_TRIES)
            return err;
        err_free(err);
    }
}

struct err *host_shut_down(struct task *self, struct host *host, const struct device *disk,
                           uint64_t key)
{
    struct shutdown_request request = {host_device_roots(host), disk, key};

    return host_on_worker(self, host, shut_down_blocking, &request);
}
