/* vm_batch.h - what is asked of a VM, and which of it goes out in the VM's next change; for
 * vm_queue.c.
 *
 * A change takes whatever waits, the more urgent first, that no other VM's change keeps from it and
 * for which the VM has room.
 */
#pragma once

#include "lib/base/list.h"
#include "provisioner-lib/azure/vm.h"
#include "provisioner-lib/azure/vm_queue.h"

enum { MAX_BATCH = VM_LUNS };

/* What a task asked for; it is on that task's stack, which waits until `done`. */
struct vm_request {
    struct list link;
    const struct vm_change *change;
    char **disks; /* that it concerns, in lower case: its own first, then those in exchange */
    size_t n_disks;
    size_t max_batch; /* goes with so many others at most, all of whom have the same number: there
                       may be one among them that spoils it for all */
    bool accepted;    /* as who asked was told */
    bool retried;     /* was sent and refused; what the model says now is wanted first */
    uint64_t since;
    bool done;
    struct err *err;
};

static inline struct vm_request *vm_request_of(struct list *link)
{
    return CONTAINER_OF(link, struct vm_request, link);
}

struct vm_batch {
    struct vm_request *requests[MAX_BATCH];
    size_t n;
};

/* As long as another VM's change keeps one of its disks from being changed: TIMER_NEVER if that has
 * to end first, 0 if there is none. */
uint64_t vm_request_waits_until(const struct vm *vm, const struct vm_request *request);
/* When the first of those that wait for others' changes may go, if nothing ends before. */
uint64_t vm_pending_waits_until(const struct vm *vm);

/* How many places for disks a request takes; fewer than none if it gives some back. */
int vm_request_places(const struct vm *vm, const struct vm_request *request);
/* As many as the model has free, and those that what waits gives back. Where the model is not
 * known, or the VM's size is none that Azure has told of, it is for Azure to refuse. */
int vm_room(const struct vm *vm);
/* More is asked for than there is. */
bool vm_lacks_room(const struct vm *vm);

/* Takes what can go out now from what waits. A repair goes alone. The disks are held from then
 * until the caller releases them, which is later than the requests are answered if nobody knows
 * what became of the change. */
void vm_batch_take(struct vm *vm, struct vm_batch *batch);
/* Azure has begun with it. */
void vm_batch_accepted(struct vm *vm, const struct vm_batch *batch);
/* Nothing has come of that. */
void vm_batch_failed(const struct vm_batch *batch);
/* Another VM's change concerns one of its disks, too. */
bool vm_batch_overlaps(const struct vm *vm, const struct vm_batch *batch);

/* It takes disks from a machine that is out of service, and does nothing else. */
bool vm_batch_is_out_of_service(const struct vm_batch *batch);

/* All that the batch asks for; the disks' ids belong to the requests. */
struct vm_batch_update {
    struct vm_attach attach[MAX_BATCH];
    struct vm_detach detach[2 * MAX_BATCH];
    struct vm_update update; /* of these lists */
};

/* It detaches something by force. */
bool vm_update_is_forced(const struct vm_update *update);

/* free() it. */
struct vm_batch_update *vm_batch_update_of(const struct vm *vm, const struct vm_batch *batch);
