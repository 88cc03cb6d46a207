#include "controller/snapshot/plan.h"

static enum snapshot_step next_of_deleting(const struct snapshot_facts *in)
{
    if (!in->has_finalizer)
        return SNAPSHOT_NONE;
    return in->delete_requested && !in->gone ? SNAPSHOT_DELETE : SNAPSHOT_REMOVE_FINALIZER;
}

enum snapshot_step snapshot_next(const struct snapshot_facts *in)
{
    if (in->deleting)
        return next_of_deleting(in);
    if (!in->has_finalizer)
        return SNAPSHOT_ADD_FINALIZER;
    if (in->created || in->adopted)
        return SNAPSHOT_NONE;
    if (in->failed && in->goes_now)
        return SNAPSHOT_FORGET;
    if (in->failed)
        return in->goes ? SNAPSHOT_REQUEUE : SNAPSHOT_NONE;
    return in->creating ? SNAPSHOT_CREATE : SNAPSHOT_RECORD_CREATING;
}
