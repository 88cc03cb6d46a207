#include "controller/snapshot/plan.h"

/* Of one whose content has been taken. */
static enum snapshot_step next_of_taken(const struct snapshot_facts *in)
{
    if (!in->local)
        return SNAPSHOT_NONE;
    if (in->over)
        return SNAPSHOT_DELETE_LOCAL;
    if (in->copying)
        return SNAPSHOT_NONE;
    if (in->whole && !in->waits)
        return SNAPSHOT_COPY;
    return in->created ? SNAPSHOT_NONE : SNAPSHOT_ANNOUNCE;
}

/* If somebody deletes the record, the snapshot stays: a copy is completed before the record goes,
 * for it needs the local one, which only the record knows of. */
static enum snapshot_step next_of_deleting(const struct snapshot_facts *in)
{
    if (!in->has_finalizer)
        return SNAPSHOT_NONE;
    if (in->delete_requested && !in->gone)
        return SNAPSHOT_DELETE;
    if (!in->delete_requested && in->local && in->taken)
        return next_of_taken(in);
    return in->local ? SNAPSHOT_DELETE_LOCAL : SNAPSHOT_REMOVE_FINALIZER;
}

enum snapshot_step snapshot_next(const struct snapshot_facts *in)
{
    if (in->deleting)
        return next_of_deleting(in);
    if (!in->has_finalizer)
        return SNAPSHOT_ADD_FINALIZER;
    if (in->created)
        return next_of_taken(in);
    if (in->adopted)
        return SNAPSHOT_NONE;
    if (in->local && !in->creating) /* of an attempt that has failed */
        return SNAPSHOT_DELETE_LOCAL;
    if (in->failed && in->goes_now)
        return SNAPSHOT_FORGET;
    if (in->failed)
        return in->goes ? SNAPSHOT_REQUEUE : SNAPSHOT_NONE;
    if (!in->creating)
        return SNAPSHOT_RECORD_CREATING;
    if (!in->local)
        return SNAPSHOT_CREATE;
    return in->taken ? next_of_taken(in) : SNAPSHOT_TAKE_LOCAL;
}
