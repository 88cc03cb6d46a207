#include "controller/attachment/plan.h"

#include <assert.h>
#include <strings.h>

#include "controller/attachment/states.h"

enum { SWAP_MS = 30 * 1000 }; /* a change of a VM seldom takes Azure longer */

static struct attachment_plan step(enum attachment_step step)
{
    return (struct attachment_plan){.step = step, .lun = NO_LUN};
}

static struct attachment_plan step_at(enum attachment_step step, int lun)
{
    return (struct attachment_plan){.step = step, .lun = lun};
}

/* Where the model has a disk; NULL if it does not. */
static const struct cloud_slot *slot_of(const struct attachment_snapshot *in, const char *disk_id)
{
    for (size_t i = 0; i < in->instance->n_slots; i++)
        if (strcasecmp(in->instance->slots[i].disk_id, disk_id) == 0)
            return &in->instance->slots[i];
    return NULL;
}

/* ---- places on the VM ---- */

static bool is_in_model(const struct attachment_snapshot *in, int lun)
{
    for (size_t i = 0; i < in->instance->n_slots; i++)
        if (in->instance->slots[i].lun == lun)
            return true;
    return false;
}

/* A neighbour that has a LUN on record at which the model has another disk, whoever put it there;
 * `n_neighbours` if there is none. */
static size_t find_displaced(const struct attachment_snapshot *in)
{
    for (size_t n = 0; n < in->n_neighbours; n++)
        for (size_t i = 0; i < in->instance->n_slots; i++)
            if (in->instance->slots[i].lun == in->neighbours[n].lun &&
                strcasecmp(in->instance->slots[i].disk_id, in->neighbours[n].disk_id) != 0)
                return n;
    return in->n_neighbours;
}

static bool is_lun_free(const struct attachment_snapshot *in, int lun)
{
    return lun >= 0 && lun < MAX_LUNS && !in->luns_taken[lun] && !is_in_model(in, lun);
}

/* The model has its disk, and no disk at the LUN that it has on record. */
static bool is_elsewhere(const struct attachment_snapshot *in, const struct neighbour *neighbour)
{
    return neighbour->lun != NO_LUN && slot_of(in, neighbour->disk_id) &&
           !is_in_model(in, neighbour->lun);
}

/* Places that others have. Records of attachments that the model does not have yet count like
 * disks. */
static int count_taken(const struct attachment_snapshot *in)
{
    int taken = (int)in->instance->n_slots;

    for (int lun = 0; lun < MAX_LUNS; lun++)
        taken += in->luns_taken[lun] && !is_in_model(in, lun);
    for (size_t i = 0; i < in->n_neighbours; i++)
        taken -= is_elsewhere(in, &in->neighbours[i]);
    return taken;
}

/* Those of them that become free without anything else having to happen. */
static int count_leaving(const struct attachment_snapshot *in)
{
    int leaving = 0;

    for (size_t i = 0; i < in->n_neighbours; i++)
        leaving += in->neighbours[i].leaving &&
                   (in->neighbours[i].lun != NO_LUN || slot_of(in, in->neighbours[i].disk_id));
    return leaving;
}

/* Primaries that have no place: neither on record nor, as one whose record was lost, in the model.
 */
static int count_waiting(const struct attachment_snapshot *in)
{
    int waiting = 0;

    for (size_t i = 0; i < in->n_neighbours; i++)
        waiting += in->neighbours[i].waits && !slot_of(in, in->neighbours[i].disk_id);
    return waiting;
}

/* By a limit that is guessed nobody is refused who waits for the disk: Azure's word counts. */
static int count_places(const struct attachment_snapshot *in)
{
    bool guess = cloud_source_is_guess(in->instance->max_disks_from);

    return guess && in->wanted == ROLE_IS_PRIMARY ? MAX_LUNS : in->instance->max_disks;
}

static bool is_ours(const struct attachment_snapshot *in, const char *disk_id)
{
    for (size_t i = 0; i < in->n_neighbours; i++)
        if (strcasecmp(in->neighbours[i].disk_id, disk_id) == 0)
            return true;
    return strcasecmp(in->disk_id, disk_id) == 0;
}

/* Places that are reserved for disks of others, and that no such disk has taken yet. */
static int count_reserved(const struct attachment_snapshot *in)
{
    int reserved = in->reserved_slots;

    for (size_t i = 0; i < in->instance->n_slots; i++)
        reserved -= !is_ours(in, in->instance->slots[i].disk_id);
    return reserved > 0 ? reserved : 0;
}

static bool has_place(const struct attachment_snapshot *in, int reserved)
{
    int taken = count_taken(in) + reserved;

    if (in->wanted == ROLE_IS_PRIMARY)
        taken -= count_leaving(in);
    else
        taken += count_waiting(in);
    return taken < count_places(in);
}

/* The LUN on record if it still can be had, else the lowest that no other disk had a moment ago,
 * else the lowest. NO_LUN if all numbers are taken. */
static int choose_lun(const struct attachment_snapshot *in)
{
    int rested = NO_LUN, any = NO_LUN;

    if (is_lun_free(in, in->lun))
        return in->lun;
    for (int lun = MAX_LUNS - 1; lun >= 0; lun--) {
        if (!is_lun_free(in, lun))
            continue;
        any = lun;
        if (!(in->instance->cooling_luns >> lun & 1))
            rested = lun;
    }
    return rested != NO_LUN ? rested : any;
}

/* A replica where Kubernetes has the volume is about to be promoted; if it went, recovery would
 * write it again at once. */
static struct attachment_plan without_place(const struct attachment_snapshot *in)
{
    struct attachment_plan plan = step(STEP_PREEMPT);

    if (in->wanted == ROLE_IS_REPLICA)
        return step(in->published ? STEP_REQUEUE : STEP_RESCHEDULE);
    plan.victim = preemption_victim(in->neighbours, in->n_neighbours);
    return plan.victim < in->n_neighbours ? plan : step(STEP_NO_SLOT);
}

/* ---- the steps ---- */

/* By a clock that may differ from the API server's. */
static bool waits_too_long(const struct attachment_snapshot *in)
{
    return in->deleting_for_ms >= SWAP_MS || in->deleting_for_ms <= -SWAP_MS;
}

/* On a full VM a replica that leaves is detached in one change with the attach of the primary that
 * needs its place, unless somebody else waits for the replica to be gone. An attach that fails
 * again and again holds up nobody's replica. */
static bool leaves_by_swap(const struct attachment_snapshot *in)
{
    return in->primary_arrives && in->wanted == ROLE_IS_REPLICA && !in->detach_requested &&
           !in->primary_waits && !in->volume_goes && !waits_too_long(in) &&
           (int)in->instance->n_slots >= in->instance->max_disks;
}

/* The VM is not known, or is not known to be the right one. */
static struct attachment_plan next_of_guessed(const struct attachment_snapshot *in)
{
    switch (in->owner) {
    case DISK_OWNER_UNASKED:
        return step(STEP_ASK_DISK);
    case DISK_OWNER_NONE:
        return step(STEP_REMOVE_FINALIZER);
    case DISK_OWNER_FOUND:
        return step(STEP_RECORD_VM);
    case DISK_OWNER_UNCLEAR:
        break;
    }
    return step(STEP_UNKNOWN_VM);
}

static struct attachment_plan next_of_deleting(const struct attachment_snapshot *in)
{
    /* The record goes and the disk stays; without a Node it could not be written anew. */
    if (attachment_phase(in) == PHASE_DELETED_WHILE_PUBLISHED)
        return step(in->node_exists ? STEP_REMOVE_FINALIZER : STEP_NONE);
    if (!in->vm_read)
        return step(STEP_READ_VM);
    if (in->vm_guessed && (!in->instance || !slot_of(in, in->disk_id)))
        return in->instance && !in->vm_refreshed ? step(STEP_REFRESH_VM) : next_of_guessed(in);
    if (!in->instance)
        return step(STEP_REMOVE_FINALIZER);
    if (!slot_of(in, in->disk_id)) /* by a model in which somebody else's attach may be missing? */
        return step(in->vm_refreshed ? STEP_REMOVE_FINALIZER : STEP_REFRESH_VM);
    if (in->state != ATTACHMENT_DETACHING)
        return step(STEP_RECORD_DETACHING);
    return step(leaves_by_swap(in) || in->keeps_fence ? STEP_REQUEUE : STEP_DETACH);
}

static struct attachment_plan next_of_attached(const struct attachment_snapshot *in)
{
    if (in->role != in->wanted)
        return step(in->wanted == ROLE_IS_PRIMARY && in->role_taken ? STEP_NONE : STEP_RECORD_ROLE);
    if (in->size_differs)
        return step(STEP_RECORD_SIZE);
    if (in->verified && in->since_boot)
        return step(STEP_NONE);
    if (!in->vm_read)
        return step(STEP_READ_VM);
    if (!in->instance)
        return step(in->vm_guessed ? STEP_NONE : STEP_RECORD_LOST);

    const struct cloud_slot *slot = slot_of(in, in->disk_id);
    bool there = slot && !slot->leaving && slot->lun == in->lun;
    if (there && (!in->vm_recorded || !in->since_boot))
        return step(STEP_RECORD_VM);
    return step(there ? STEP_VERIFIED : STEP_RECORD_LOST);
}

/* A Node that was deleted has come back as another VM. What is on the former one is of no use here,
 * and holds a share; its fence may still be of use. */
static struct attachment_plan next_of_moved(const struct attachment_snapshot *in)
{
    if (!in->vm_read)
        return step(STEP_READ_VM);
    if (in->instance && slot_of(in, in->disk_id))
        return step(in->keeps_fence ? STEP_REQUEUE : STEP_DETACH);
    return step(!in->instance || in->vm_refreshed ? STEP_FORGET_VM : STEP_REFRESH_VM);
}

/* What has failed need not be this disk: an extension of the VM lets every change of it fail. Of
 * what was attached before, and is on record without a LUN, a pod may have the disk in use. */
static struct attachment_plan next_of_failed(const struct attachment_snapshot *in,
                                             const struct cloud_slot *slot)
{
    bool never_came = in->state == ATTACHMENT_ATTACHING && in->lun != NO_LUN;

    if (slot->attached && !slot->leaving)
        return step_at(STEP_RECORD_ATTACHED, slot->lun);
    return step(in->failed_attach && never_came ? STEP_DETACH : STEP_REPAIR);
}

/* The model has the disk already: attached before, by us or by somebody else. */
static struct attachment_plan next_of_present(const struct attachment_snapshot *in,
                                              const struct cloud_slot *slot)
{
    switch (in->instance->state) {
    case CLOUD_INSTANCE_SETTLED: /* one that leaves has been forgotten, and would leave for ever */
        return slot->leaving ? step(STEP_REPAIR) : step_at(STEP_RECORD_ATTACHED, slot->lun);
    case CLOUD_INSTANCE_CHANGING:
        return step(STEP_REQUEUE);
    case CLOUD_INSTANCE_FAILED:
        return next_of_failed(in, slot);
    }
    return step(STEP_NONE);
}

/* A primary takes a reserved place when no replica can give way: Kubernetes, which was told of
 * fewer places, has sent it here all the same. What fails then is told to who has published it by
 * the role on record, so that comes before. */
static struct attachment_plan next_of_absent(const struct attachment_snapshot *in)
{
    if (!has_place(in, count_reserved(in))) {
        struct attachment_plan instead = without_place(in);

        /* Somebody else's disk may have left since the model was read. */
        if (instead.step != STEP_NO_SLOT || !has_place(in, 0))
            return in->wanted == ROLE_IS_REPLICA || in->vm_refreshed ? instead
                                                                     : step(STEP_REFRESH_VM);
    }

    struct attachment_plan plan = step_at(STEP_RECORD_ATTACHING, choose_lun(in));
    if (plan.lun == NO_LUN)
        return step(STEP_REQUEUE); /* until the one that leaves is gone */
    if (in->state == ATTACHMENT_ATTACHING && plan.lun == in->lun && in->role == in->wanted) {
        plan.step = STEP_ATTACH;
        plan.swaps_out = count_taken(in) >= in->instance->max_disks;
    }
    return plan;
}

static bool must_wait(const struct attachment_snapshot *in)
{
    if (in->other_shares >= in->max_shares || (in->wanted == ROLE_IS_PRIMARY && in->role_taken))
        return true;
    return in->wanted == ROLE_IS_REPLICA && (in->primary_waits || !in->primary_attached);
}

static struct attachment_plan next_of_own(const struct attachment_snapshot *in)
{
    if (!in->has_finalizer)
        return step(in->deleting ? STEP_NONE : STEP_ADD_FINALIZER);
    /* Whatever becomes of it: another node's primary waits for the role, and not for Azure. */
    if (in->volume_ready && in->role == ROLE_IS_PRIMARY && in->wanted == ROLE_IS_REPLICA)
        return step(STEP_RECORD_ROLE);
    if (in->deleting)
        return next_of_deleting(in);
    if (!in->volume_ready || !in->node_exists)
        return step(STEP_NONE);
    if (in->vm_moved)
        return next_of_moved(in);
    if (in->state == ATTACHMENT_ATTACHED)
        return next_of_attached(in);
    if (must_wait(in))
        return step(STEP_NONE);
    if (!in->vm_read)
        return step(STEP_READ_VM);
    if (!in->instance)
        return step(STEP_NO_VM);

    const struct cloud_slot *slot = slot_of(in, in->disk_id);
    return slot ? next_of_present(in, slot) : next_of_absent(in);
}

/* What is known to be wrong on record is put right before anything else: nobody may be sent to that
 * LUN, nor get it on record beside the other. The neighbour itself may have nothing to do. */
struct attachment_plan attachment_next(const struct attachment_snapshot *in)
{
    struct attachment_plan plan = step(STEP_RECORD_DISPLACED);

    assert(in->wanted != ROLE_NONE);
    if (in->vm_read && in->instance) {
        plan.victim = find_displaced(in);
        if (plan.victim < in->n_neighbours)
            return plan;
    }
    return next_of_own(in);
}
