/* What keeps the rest of a machine from a disk that it has, but may not use. */

#include <unistd.h>

#include "provisioner-lib/host/block.h"
#include "provisioner-lib/host/host.h"
#include "provisioner-lib/host/host_worker.h"

struct hold_call {
    const struct device_roots *roots;
    unsigned lun;
    struct device *held;
};

/* The same device again, this time for nobody else to claim. */
static struct err *claim(struct device *found)
{
    struct block_claim claim = BLOCK_CLAIM_NONE;

    TRY(block_hold(found->path, &claim));
    close(found->fd);
    found->fd = claim.fd;
    return NULL;
}

static void end(struct device *held)
{
    struct block_claim claim = {.path = held->path, .fd = held->fd};

    block_claim_end(&claim);
    held->fd = -1;
    device_close(held);
}

static struct err *hold(void *arg)
{
    const struct hold_call *call = arg;
    struct device *held = call->held;
    CLEANUP(device_close) struct device found = DEVICE_NONE;
    struct err *err = device_find(call->roots, call->lun, &found);

    if (!err && held->fd >= 0 && held->number == found.number)
        return NULL;
    end(held);
    TRY(err);
    TRY(claim(&found));
    *held = found;
    found = DEVICE_NONE;
    return NULL;
}

struct err *host_hold(struct task *self, struct host *host, unsigned lun, struct device *held)
{
    struct hold_call call = {.roots = host_device_roots(host), .lun = lun, .held = held};

    return host_on_worker(self, host, hold, &call);
}

static struct err *let_go(void *arg)
{
    end(arg);
    return NULL;
}

void host_let_go(struct task *self, struct host *host, struct device *held)
{
    CLEANUP(err_freep) struct err *err = host_on_worker(self, host, let_go, held);

    if (err) /* no thread was free */
        device_close(held);
}
