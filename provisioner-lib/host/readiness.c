#include "provisioner-lib/host/readiness.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/host/block.h"

/* A multiple of any disk's blocks, as what is read past the page cache has to be, and where to. */
enum { READ_SIZE = 4096 };

static struct err *read_directly(int fd)
{
    CLEANUP(freep) char *space = mem_alloc((size_t)2 * READ_SIZE);
    char *data = space + (READ_SIZE - (uintptr_t)space % READ_SIZE);
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_DIRECT))
        return err_new(ERR_INTERNAL, "O_DIRECT: %s", strerror(errno));
    return block_read(fd, 0, data, READ_SIZE);
}

static struct err *look_at(const struct readiness_request *request, const struct device *device,
                           struct readiness *ret)
{
    TRY(block_size(device->fd, &ret->size));
    if (ret->size != request->size) {
        device_rescan(&request->roots, device);
        TRY(block_size(device->fd, &ret->size));
    }
    return read_directly(device->fd);
}

struct err *readiness_look(const struct readiness_request *request, struct readiness *ret)
{
    CLEANUP(device_close) struct device device = DEVICE_NONE;

    *ret = (struct readiness){0};
    TRY(device_find(&request->roots, request->lun, &device));
    ret->device = device.number;
    struct err *err = look_at(request, &device, ret);
    return err ? err_wrap(err, "%s", device.path) : NULL;
}
