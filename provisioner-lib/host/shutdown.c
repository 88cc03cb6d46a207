#include "provisioner-lib/host/shutdown.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "provisioner-lib/host/block.h"
#include "provisioner-lib/host/fence.h"
#include "provisioner-lib/host/host_worker.h"
#include "provisioner-lib/host/mount_table.h"
#include "provisioner-lib/host/partition.h"

/* The same for ext4 (EXT4_IOC_SHUTDOWN) and xfs (XFS_IOC_GOINGDOWN), as far as it is used here; no
 * header for programs has both. */
#define SHUTDOWN _IOR('X', 125, uint32_t)

enum { WITHOUT_LOG = 2 };

struct shutdown_request {
    const struct device_roots *roots;
    const struct device *disk;
    uint64_t key;
};

static struct err *is_lost(const struct shutdown_request *request, bool *ret)
{
    struct reservation seen;
    bool supported;

    TRY(reservation_read(request->disk->fd, &supported, &seen));
    *ret = supported && fence_is_lost(&seen, request->key);
    return NULL;
}

/* ext4 leaves metadata that is in its journal already to the cache of the device, which would write
 * it at some time. It is offered to the disk now: that the disk refuses it drops it. */
static void drop_metadata(const struct mount_entry *entry)
{
    CLEANUP(closep) int device = open(entry->source, O_RDONLY | O_CLOEXEC);

    if (device >= 0)
        (void)fsync(device);
}

static struct err *shut_down_blocking(void *arg)
{
    const struct shutdown_request *request = arg;
    const uint32_t how = WITHOUT_LOG;
    CLEANUP(mount_entry_fini) struct mount_entry entry = {0};
    CLEANUP(closep) int root = -1;
    bool lost;

    TRY(is_lost(request, &lost));
    if (lost)
        TRY(partition_find_mount(request->roots, request->disk->number, &entry));
    if (!entry.target)
        return NULL;
    root = open(entry.target, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* or a file: a subPath */
    if (root < 0 || ioctl(root, SHUTDOWN, &how))
        return err_new(ERR_INTERNAL, "shutting down the file system at %s: %s", entry.target,
                       strerror(errno));
    drop_metadata(&entry);
    return NULL;
}

struct err *host_shut_down(struct task *self, struct host *host, const struct device *disk,
                           uint64_t key)
{
    struct shutdown_request request = {host_device_roots(host), disk, key};

    return host_on_worker(self, host, shut_down_blocking, &request);
}
