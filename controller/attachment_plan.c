#include "controller/attachment_plan.h"

#include <assert.h>
#include <strings.h>

static struct attachment_plan step(enum attachment_step step)
{
    return (struct attachment_plan){step, NO_LUN};
}

static struct attachment_plan step_at(enum attachment_step step, int lun)
{
    return (struct attachment_plan){step, lun};
}

/* Where the model has the disk; NULL if it does not. */
static const struct cloud_slot *slot_of(const struct attachment_snapshot *in)
{
    for (size_t i = 0; i < in->instance->n_slots; i++)
        if (strcasecmp(in->instance->slots[i].disk_id, in->disk_id) == 0)
            return &in->instance->slots[i];
    return NULL;
}

static bool is_lun_free(const struct attachment_snapshot *in, int lun)
{
    if (lun < 0 || lun >= MAX_LUNS || in->luns_taken[lun])
        return false;
    for (size_t i = 0; i < in->instance->n_slots; i++)
        if (in->instance->slots[i].lun == lun)
            return false;
    return true;
}

/* The one on record if it still can be had, else the lowest; NO_LUN if the VM is full. Records of
 * attachments that the model does not have yet count like disks. */
static int choose_lun(const struct attachment_snapshot *in)
{
    int used = (int)in->instance->n_slots;

    for (int lun = 0; lun < MAX_LUNS; lun++) {
        bool in_model = false;

        for (size_t i = 0; i < in->instance->n_slots; i++)
            in_model |= in->instance->slots[i].lun == lun;
        used += in->luns_taken[lun] && !in_model;
    }
    if (used >= in->instance->max_disks)
        return NO_LUN;
    if (is_lun_free(in, in->lun))
        return in->lun;
    for (int lun = 0; lun < MAX_LUNS; lun++)
        if (is_lun_free(in, lun))
            return lun;
    return NO_LUN;
}

static struct attachment_plan next_of_deleting(const struct attachment_snapshot *in)
{
    bool may_detach = in->wanted != ROLE_IS_PRIMARY || in->detach_requested || !in->node_exists;

    if (!in->has_finalizer || !may_detach)
        return step(STEP_NONE);
    if (!in->looked)
        return step(STEP_LOOK);
    if (!in->instance || !slot_of(in))
        return step(STEP_REMOVE_FINALIZER);
    return step(in->state == ATTACHMENT_DETACHING ? STEP_DETACH : STEP_RECORD_DETACHING);
}

static struct attachment_plan next_of_attached(const struct attachment_snapshot *in)
{
    if (in->role != in->wanted)
        return step(in->wanted == ROLE_IS_PRIMARY && in->role_taken ? STEP_NONE : STEP_RECORD_ROLE);
    if (in->verified)
        return step(STEP_NONE);
    if (!in->looked)
        return step(STEP_LOOK);
    if (!in->instance)
        return step(in->node_exists ? STEP_RECORD_LOST : STEP_NONE);

    const struct cloud_slot *slot = slot_of(in);
    bool there = slot && !slot->leaving && slot->lun == in->lun;
    return step(there ? STEP_VERIFIED : STEP_RECORD_LOST);
}

/* The model has the disk already: attached before, by us or by somebody else. */
static struct attachment_plan next_of_present(const struct attachment_snapshot *in,
                                              const struct cloud_slot *slot)
{
    if (slot->leaving)
        return step(STEP_LOOK_LATER);
    switch (in->instance->state) {
    case CLOUD_INSTANCE_SETTLED:
        return step_at(STEP_RECORD_ATTACHED, slot->lun);
    case CLOUD_INSTANCE_CHANGING:
        return step(STEP_LOOK_LATER);
    case CLOUD_INSTANCE_FAILED:
        return step(STEP_REPAIR);
    }
    return step(STEP_NONE);
}

static struct attachment_plan next_of_absent(const struct attachment_snapshot *in)
{
    int lun = choose_lun(in);

    if (lun == NO_LUN)
        return step(STEP_NO_SLOT);
    if (in->state == ATTACHMENT_ATTACHING && lun == in->lun)
        return step_at(STEP_ATTACH, lun);
    return step_at(STEP_RECORD_ATTACHING, lun);
}

static bool must_wait(const struct attachment_snapshot *in)
{
    if (in->other_shares >= in->max_shares || (in->wanted == ROLE_IS_PRIMARY && in->role_taken))
        return true;
    return in->wanted == ROLE_IS_REPLICA && (in->primary_waits || !in->primary_attached);
}

struct attachment_plan attachment_next(const struct attachment_snapshot *in)
{
    assert(in->wanted != ROLE_NONE);
    if (in->deleting)
        return next_of_deleting(in);
    if (!in->has_finalizer)
        return step(STEP_ADD_FINALIZER);
    if (!in->volume_ready || !in->node_exists)
        return step(STEP_NONE);
    if (in->state == ATTACHMENT_ATTACHED)
        return next_of_attached(in);
    if (must_wait(in))
        return step(STEP_NONE);
    if (!in->looked)
        return step(STEP_LOOK);
    if (!in->instance)
        return step(STEP_NO_VM);

    const struct cloud_slot *slot = slot_of(in);
    return slot ? next_of_present(in, slot) : next_of_absent(in);
}
