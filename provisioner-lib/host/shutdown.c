#include "provisioner-lib/host/shutdown.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/host/block.h"
#include "provisioner-lib/host/host_worker.h"
#include "provisioner-lib/host/mount_table.h"
#include "provisioner-lib/host/partition.h"
#include "provisioner-lib/host/reservation.h"
#include "provisioner-lib/host/sysfs.h"

/* The same for ext4 (EXT4_IOC_SHUTDOWN) and xfs (XFS_IOC_GOINGDOWN), as far as it is used here; no
 * header for programs has both. */
#define SHUTDOWN _IOR('X', 125, uint32_t)

enum { WITHOUT_LOG = 2, MOST_TRIES = 20 };

struct shutdown_request {
    const struct device_roots *roots;
    const struct device *disk;
    uint64_t key;
    bool is_open; /* to this node's writes: nobody has the fence, be it that whoever had it is gone
                   */
};

enum holder { NOBODY, THIS_NODE, ANOTHER };

/* That nobody has the fence any more does not make it this node's. */
static struct err *read_holder(const struct shutdown_request *request, enum holder *ret)
{
    struct reservation seen;
    bool supported;

    *ret = NOBODY;
    if (!request->key)
        return NULL;
    TRY(reservation_read(request->disk->fd, &supported, &seen));
    if (supported && seen.held)
        *ret = seen.holder == request->key ? THIS_NODE : ANOTHER;
    return NULL;
}

/* ---- what is in caches ---- */

/* "running" or "offline", of a SCSI disk. */
static struct err *write_state(const char *folder, const char *state)
{
    CLEANUP(freep) char *path = mem_printf("%s/device/state", folder);
    CLEANUP(freep) char *line = mem_printf("%s\n", state);
    CLEANUP(closep) int fd = open(path, O_WRONLY | O_CLOEXEC);

    if (fd < 0 || write(fd, line, strlen(line)) < 0)
        return err_new(ERR_INTERNAL, "writing \"%s\" to %s: %s", state, path, strerror(errno));
    return NULL;
}

/* So that a disk refuses what it would take, the kernel takes it for offline meanwhile. Other disks
 * than SCSI's have no such state, and what their caches hold cannot be dropped. */
static struct err *drop_offline(const struct shutdown_request *request, int device)
{
    CLEANUP(freep) char *folder = sysfs_folder(request->roots, request->disk->number);
    CLEANUP(freep) char *state = folder ? sysfs_read(folder, "device/state") : NULL;

    if (!state || strcmp(state, "running") != 0)
        return NULL;
    TRY(write_state(folder, "offline"));
    (void)fsync(device);
    return write_state(folder, "running");
}

/* It is offered to the disk: that the disk refuses it drops it. */
static struct err *drop_cache(const struct shutdown_request *request, int device)
{
    if (request->is_open)
        return drop_offline(request, device);
    (void)fsync(device);
    return NULL;
}

/* ---- a file system ---- */

/* ext4 leaves metadata that is in its journal already to the cache of the device, which would write
 * it at some time. */
static struct err *drop_metadata(const struct shutdown_request *request,
                                 const struct mount_entry *entry)
{
    CLEANUP(closep) int device = open(entry->source, O_RDONLY | O_CLOEXEC);

    return device >= 0 ? drop_cache(request, device) : NULL;
}

/* Where the mount was meanwhile taken away there is the folder below it, which is another's, such
 * as the machine's own, or nothing. What is open cannot be taken away. Of one that has ended before
 * xfs opens nothing, not even its root: `ret` is -1. */
static struct err *open_filesystem(const struct mount_entry *entry, int *ret)
{
    struct stat status;
    CLEANUP(closep)
    int root = open(entry->target, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* or a file: a subPath */

    if ((root < 0 && errno == ENOENT) ||
        (root >= 0 && fstat(root, &status) == 0 && status.st_dev != entry->device))
        return err_new(ERR_NOT_FOUND, "its file system is no longer at %s", entry->target);
    if (root < 0 && errno != EIO)
        return err_new(ERR_INTERNAL, "opening %s: %s", entry->target, strerror(errno));
    *ret = root;
    root = -1;
    return NULL;
}

static struct err *end_filesystem(const struct shutdown_request *request,
                                  const struct mount_entry *entry)
{
    const uint32_t how = WITHOUT_LOG;
    CLEANUP(closep) int root = -1;

    TRY(open_filesystem(entry, &root));
    if (root >= 0 && ioctl(root, SHUTDOWN, &how))
        return err_new(ERR_INTERNAL, "shutting down the file system at %s: %s", entry->target,
                       strerror(errno));
    return drop_metadata(request, entry);
}

/* ---- a disk without one ---- */

static struct err *close_to_writes(int fd, void *ctx)
{
    TRY(block_set_read_only(fd, true));
    return drop_cache(ctx, fd);
}

static struct err *open_to_writes(int fd, void *ctx)
{
    (void)ctx;
    return block_set_read_only(fd, false);
}

struct err *shutdown_lift(const struct device_roots *roots, const struct device *disk)
{
    return partition_visit(roots, disk, open_to_writes, NULL);
}

/* Another call may have taken the fence back before it was closed. */
static struct err *end_raw(struct shutdown_request *request)
{
    enum holder holder;

    TRY(partition_visit(request->roots, request->disk, close_to_writes, request));
    TRY(read_holder(request, &holder));
    return holder == THIS_NODE ? shutdown_lift(request->roots, request->disk) : NULL;
}

/* ---- either ---- */

static struct err *end_use(struct shutdown_request *request)
{
    CLEANUP(mount_entry_fini) struct mount_entry entry = {0};

    TRY(partition_find_mount(request->roots, request->disk->number, &entry));
    return entry.target ? end_filesystem(request, &entry) : end_raw(request);
}

/* Its mounts come and go with pods; that the newest one has gone says nothing of the others. */
static struct err *shut_down_blocking(void *arg)
{
    struct shutdown_request *request = arg;
    enum holder holder;

    TRY(read_holder(request, &holder));
    if (holder == THIS_NODE)
        return NULL;
    request->is_open = holder == NOBODY;
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
    struct shutdown_request request = {.roots = host_device_roots(host), .disk = disk, .key = key};

    return host_on_worker(self, host, shut_down_blocking, &request);
}
