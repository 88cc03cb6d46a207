#include "controller/volume/plan.h"

static enum volume_step next_of_deleting(const struct volume_snapshot *in)
{
    if (!in->has_finalizer)
        return VOLUME_NONE;
    if (in->claimed && !in->delete_requested)
        return VOLUME_REMOVE_FINALIZER;
    if (in->primaries > 0)
        return VOLUME_NONE;
    if (in->others > 0)
        return VOLUME_RELEASE;
    if (in->leaving > 0)
        return VOLUME_NONE;
    if (in->delete_requested && !in->pre_provisioned && !in->disk_deleted)
        return VOLUME_DELETE;
    return in->unattached ? VOLUME_REMOVE_FINALIZER : VOLUME_CHECK_UNATTACHED;
}

static enum volume_step next_without_pv(const struct volume_snapshot *in)
{
    if (!in->pv_gone)
        return VOLUME_CHECK_PV_GONE;
    if (in->others > 0)
        return VOLUME_RELEASE;
    return in->leaving > 0 ? VOLUME_NONE : VOLUME_END;
}

/* A pod that comes meanwhile is served first, and the change waits for the next opportunity. */
static enum volume_step next_when_detached(const struct volume_snapshot *in, enum volume_step step)
{
    if (in->in_use || in->primaries > 0 || (in->others > 0 && in->replicas_stay))
        return VOLUME_NONE;
    if (in->others > 0)
        return VOLUME_RELEASE;
    return in->leaving > 0 ? VOLUME_NONE : step;
}

/* A size that was taken back may have been asked of the cloud before: the disk itself says what it
 * has. */
static enum volume_step next_of_growing(const struct volume_snapshot *in)
{
    if (!in->updating)
        return VOLUME_NONE;
    if (!in->size_differs)
        return in->disk_read ? VOLUME_RECORD_GROWN : VOLUME_READ_DISK;
    enum volume_step step = in->copying          ? VOLUME_NONE
                            : in->grows_attached ? VOLUME_GROW
                                                 : next_when_detached(in, VOLUME_GROW);
    return step == VOLUME_NONE && !in->disk_read ? VOLUME_READ_DISK : step;
}

/* An earlier modification may have been carried out and not recorded, and whether the disk can be
 * modified while a VM has it follows from what it is. */
static enum volume_step next_of_modifying(const struct volume_snapshot *in)
{
    if (!in->modifying || in->modify_requested)
        return VOLUME_NONE;
    if (!in->disk_read)
        return VOLUME_READ_DISK;
    return in->modifies_attached ? VOLUME_MODIFY : next_when_detached(in, VOLUME_MODIFY);
}

static enum volume_step next_of_created(const struct volume_snapshot *in)
{
    if (in->unseen)
        return VOLUME_ADOPT;
    if (in->has_new_filesystem)
        return VOLUME_RECORD_FILESYSTEM;
    enum volume_step step = next_of_growing(in);
    return step == VOLUME_NONE ? next_of_modifying(in) : step;
}

enum volume_step volume_next(const struct volume_snapshot *in)
{
    if (in->deleting)
        return next_of_deleting(in);
    if (!in->has_finalizer)
        return VOLUME_ADD_FINALIZER;
    if ((in->pv_missing || in->pv_gone) && in->primaries == 0 && !in->delete_requested)
        return next_without_pv(in);
    if (in->pv_changed)
        return VOLUME_FOLLOW_PV;
    if (in->created)
        return next_of_created(in);
    if (in->has_disk)
        return VOLUME_ADOPT;
    if (in->failed && in->goes_now)
        return VOLUME_FORGET;
    if (in->failed)
        return in->goes ? VOLUME_REQUEUE : VOLUME_NONE;
    if (in->restored)
        return VOLUME_REFUSE;
    return in->creating ? VOLUME_CREATE : VOLUME_RECORD_CREATING;
}
