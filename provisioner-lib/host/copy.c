/* What a node does with a disk that is a copy of another one, before it is mounted: the journal is
 * replayed, and the file system gets a UUID of its own. */

#include "provisioner-lib/host/block.h"
#include "provisioner-lib/host/host.h"
#include "provisioner-lib/host/host_worker.h"

static struct err *replay_blocking(void *arg)
{
    return mount_replay(arg);
}

struct err *host_replay(struct task *self, struct host *host, const struct mount_request *request)
{
    return host_on_worker(self, host, replay_blocking, (void *)(uintptr_t)request);
}

struct uuid_change {
    const struct device *device;
    const struct filesystem *type;
    const char *uuid;
};

/* A file system that was mounted has written past what is cached of the device. */
static struct err *change_uuid(void *arg)
{
    const struct uuid_change *change = arg;
    CLEANUP(block_claim_end) struct block_claim claim = BLOCK_CLAIM_NONE;

    TRY(block_claim(change->device->path, &claim));
    TRY(block_drop_caches(claim.fd));
    return change->type->set_uuid(claim.fd, change->uuid);
}

struct err *host_set_uuid(struct task *self, struct host *host, const struct device *device,
                          const struct filesystem *type, const char *uuid)
{
    struct uuid_change change = {device, type, uuid};
    struct err *err = host_on_worker(self, host, change_uuid, &change);

    return err ? err_wrap(err, "%s", device->path) : NULL;
}
