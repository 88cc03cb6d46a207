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
    if (in->created && in->unseen)
        return VOLUME_ADOPT;
    if (in->created)
        return in->has_new_filesystem ? VOLUME_RECORD_FILESYSTEM : VOLUME_NONE;
    if (in->has_disk)
        return VOLUME_ADOPT;
    if (in->failed && in->goes_now)
        return VOLUME_FORGET;
    if (in->failed)
        return in->goes ? VOLUME_REQUEUE : VOLUME_NONE;
    return in->creating ? VOLUME_CREATE : VOLUME_RECORD_CREATING;
}
