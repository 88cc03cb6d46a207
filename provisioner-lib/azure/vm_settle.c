#include "provisioner-lib/azure/vm_settle.h"

#include "lib/base/log.h"
#include "provisioner-lib/azure/arm_error.h"
#include "provisioner-lib/azure/disk_hold.h"

enum {
    PAUSE_MS = 2000,        /* between the first looks at a VM that we change */
    OTHERS_PAUSE_MS = 3000, /* between looks at a VM that somebody else changes */
    OTHERS_MS = 2 * 60 * 1000,
    /* An attach seldom takes Azure longer than one minute. */
    PATIENCE_MS = 5 * 60 * 1000,
    LOST_PATIENCE_MS = 60 * 1000, /* where the machine is out of service */
    MOST_DOUBLINGS = 2,
    SLOW_MS = 60 * 60 * 1000,
};

/* One after the other; what was an hour ago says nothing of now. */
static unsigned recent_overruns(const struct vm *vm)
{
    return vm->overruns && loop_now(vm->cache->loop) < vm->overrun_at + SLOW_MS ? vm->overruns : 0;
}

uint64_t vm_patience_ms(const struct vm *vm, const struct vm_batch *batch)
{
    uint64_t patience = vm_batch_is_out_of_service(batch) ? LOST_PATIENCE_MS : PATIENCE_MS;

    return patience << recent_overruns(vm);
}

/* Of a look at the VM: as urgent as what it is for, and as what waits for its end. */
static enum cloud_urgency urgency_of_look(const struct vm *vm, enum cloud_urgency urgency)
{
    enum cloud_urgency waiting =
        list_is_empty(&vm->pending) ? urgency : vm_request_of(vm->pending.next)->change->urgency;

    return waiting < urgency ? waiting : urgency;
}

struct err *vm_settle(struct task *self, struct vm *vm, enum cloud_urgency urgency, uint64_t for_ms)
{
    uint64_t deadline = loop_now(vm->cache->loop) + for_ms, pause = PAUSE_MS;

    TRY(vm_refresh(self, vm, UINT64_MAX, urgency_of_look(vm, urgency)));
    while (vm->model.state == CLOUD_INSTANCE_CHANGING && loop_now(vm->cache->loop) < deadline) {
        TRY(task_sleep(self, pause));
        TRY(vm_refresh(self, vm, 0, urgency_of_look(vm, urgency)));
        pause *= 2;
    }
    return NULL;
}

/* ---- a change of ours ---- */

bool vm_outcome_is_unknown(const struct err *err)
{
    return err_kind(err) == ERR_UNAVAILABLE || err_kind(err) == ERR_TIMEOUT ||
           err_kind(err) == ERR_INTERNAL;
}

void vm_note_overrun(struct vm *vm)
{
    unsigned before = recent_overruns(vm);

    vm->overruns = before < MOST_DOUBLINGS ? before + 1 : MOST_DOUBLINGS;
    vm->overrun_at = loop_now(vm->cache->loop);
    vm_give_up(vm);
    vm_outdate(vm); /* from now on the model means something else */
}

/* ---- of somebody else ---- */

bool vm_is_changed_by_others(const struct err *err)
{
    return err_kind(err) == ERR_BUSY && !arm_error_may_be_of_one_disk(err);
}

/* The disks that were to be changed are not on their way: other VMs may have use for them
 * meanwhile. */
void vm_see_others_end(struct task *self, struct vm *vm, enum cloud_urgency urgency)
{
    uint64_t deadline = loop_now(vm->cache->loop) + OTHERS_MS;

    disk_hold_release_all(vm);
    struct err *err = vm_refresh(self, vm, UINT64_MAX, urgency_of_look(vm, urgency));
    while (!err && vm->model.state == CLOUD_INSTANCE_CHANGING &&
           loop_now(vm->cache->loop) < deadline) {
        err = task_sleep(self, OTHERS_PAUSE_MS);
        if (!err)
            err = vm_refresh(self, vm, UINT64_MAX, urgency_of_look(vm, urgency));
    }
    err_free(err); /* it was only to wait; whoever looks next is told */
}
