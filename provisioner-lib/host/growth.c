/* What a node does when a disk has grown: its device, and the file system on it, follow. */

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/host/block.h"
#include "provisioner-lib/host/host.h"
#include "provisioner-lib/host/host_worker.h"

/* Less than what Azure's disks grow by, and more than a file system may leave at its end. */
#define REST (UINT64_C(512) * 1024 * 1024)

enum { SIZE_LOOK_MS = 200 };

/* ---- the device ---- */

struct size_look {
    const struct device_roots *roots;
    const struct device *device;
    const struct filesystem *type; /* NULL: only the device's own size */
    bool rescan;
    uint64_t size, filesystem_size;
};

static struct err *look_at_size(void *arg)
{
    struct size_look *look = arg;

    if (look->rescan)
        device_rescan(look->roots, look->device);
    TRY(block_size(look->device->fd, &look->size));
    return look->type ? look->type->read_size(look->device->fd, &look->filesystem_size) : NULL;
}

struct err *host_await_size(struct task *self, struct host *host, const struct device *device,
                            uint64_t size, uint64_t deadline)
{
    struct size_look look = {.roots = host_device_roots(host), .device = device};

    for (;;) {
        TRY(host_on_worker(self, host, look_at_size, &look));
        if (look.size == size)
            return NULL;
        if (look.rescan && loop_now(host_loop(host)) >= deadline)
            return err_new(ERR_UNAVAILABLE,
                           "%s has %" PRIu64 " bytes; the %" PRIu64
                           " to which the disk has grown are not seen here yet",
                           device->path, look.size, size);
        if (look.rescan)
            TRY(task_sleep(self, SIZE_LOOK_MS));
        look.rescan = true;
    }
}

/* ---- the file system ---- */

struct err *host_grow(struct task *self, struct host *host, const struct device *device,
                      const struct filesystem *type, const char *path, bool *ret_grown)
{
    struct size_look look = {.device = device, .type = type};
    struct err *err = host_on_worker(self, host, look_at_size, &look);

    *ret_grown = !err && look.size >= look.filesystem_size + REST;
    if (*ret_grown)
        err = filesystem_grow(self, type, device->path, path);
    return err ? err_wrap(err, "%s", device->path) : NULL;
}

/* ---- where it is ---- */

struct place_look {
    const struct device *device;
    const char *path;
    bool raw;
};

static struct err *look_at_place(void *arg)
{
    struct place_look *look = arg;
    struct stat status;

    if (stat(look->path, &status) < 0)
        return err_new(ERR_NOT_FOUND, "%s: %s", look->path, strerror(errno));
    look->raw = S_ISBLK(status.st_mode);
    if ((look->raw ? status.st_rdev : status.st_dev) != look->device->number)
        return err_new(ERR_NOT_FOUND, "the volume's device %s is not at %s", look->device->path,
                       look->path);
    return NULL;
}

struct err *host_check_at(struct task *self, struct host *host, const struct device *device,
                          const char *path, bool *ret_raw)
{
    struct place_look look = {.device = device, .path = path};

    TRY(host_on_worker(self, host, look_at_place, &look));
    *ret_raw = look.raw;
    return NULL;
}
