#include "provisioner-lib/records/snapshot.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/timestamp.h"

const Api__AzSnapshot *as_snapshot(const struct kube_object *object)
{
    return KUBE_AS(Api__AzSnapshot, object);
}

const char *snapshot_state(const Api__AzSnapshot *snapshot)
{
    return snapshot->status && snapshot->status->state ? snapshot->status->state : "";
}

const char *snapshot_annotation(const Api__AzSnapshot *snapshot, const char *name)
{
    const Api__AzSnapshotStatus *status = snapshot->status;

    return status ? KUBE_MAP_GET(status->annotation, status->n_annotation, name) : NULL;
}

bool snapshot_is_created(const Api__AzSnapshot *snapshot)
{
    return snapshot->status && snapshot->status->snapshot_id;
}

bool snapshot_is_ready(const Api__AzSnapshot *snapshot)
{
    return snapshot_is_created(snapshot) && snapshot->status->ready_to_use;
}

int snapshot_percent(const Api__AzSnapshot *snapshot)
{
    return snapshot_is_created(snapshot) ? snapshot->status->completion_percent : 0;
}

int snapshot_percent_of_disk(const Api__AzSnapshot *snapshot)
{
    return snapshot_local_is_taken(snapshot) ? snapshot->status->local->completion_percent
                                             : snapshot_percent(snapshot);
}

bool snapshot_goes(const Api__AzSnapshot *snapshot)
{
    bool is_copied = snapshot_local_id(snapshot) && snapshot_local_is_taken(snapshot);

    return kube_is_deleting(snapshot->metadata) &&
           !(is_copied && !snapshot_annotation(snapshot, ANNOTATION_DELETE_REQUEST));
}

bool snapshot_is_pending(const Api__AzSnapshot *snapshot)
{
    if (snapshot_goes(snapshot))
        return false;
    if (!snapshot_is_created(snapshot) && !snapshot_local_is_taken(snapshot))
        return !snapshot_recorded_id(snapshot) && !snapshot_has_failed(snapshot);
    return snapshot_percent_of_disk(snapshot) < 100 && !snapshot->status->error;
}

bool snapshot_has_failed(const Api__AzSnapshot *snapshot)
{
    return strcmp(snapshot_state(snapshot), "CreationFailed") == 0;
}

const char *snapshot_recorded_id(const Api__AzSnapshot *snapshot)
{
    return snapshot_is_created(snapshot)
               ? snapshot->status->snapshot_id
               : kube_annotation(snapshot->metadata, ANNOTATION_PRE_PROVISIONED);
}

static const Api__AzSnapshotLocal *local_of(const Api__AzSnapshot *snapshot)
{
    return snapshot->status ? snapshot->status->local : NULL;
}

int64_t snapshot_taken_us(const Api__AzSnapshot *snapshot)
{
    if (snapshot_local_is_taken(snapshot))
        return timestamp_noted(local_of(snapshot)->creation_time);
    return snapshot->status ? timestamp_noted(snapshot->status->creation_time) : 0;
}

bool snapshot_is_copy(const Api__AzSnapshot *snapshot)
{
    return local_of(snapshot) != NULL;
}

const char *snapshot_local_id(const Api__AzSnapshot *snapshot)
{
    return local_of(snapshot) ? local_of(snapshot)->snapshot_id : NULL;
}

bool snapshot_local_is_taken(const Api__AzSnapshot *snapshot)
{
    return local_of(snapshot) && timestamp_noted(local_of(snapshot)->creation_time);
}

bool snapshot_local_is_complete(const Api__AzSnapshot *snapshot)
{
    return snapshot_local_is_taken(snapshot) && local_of(snapshot)->completion_percent >= 100;
}

bool snapshot_copy_exists(const Api__AzSnapshot *snapshot)
{
    return snapshot_is_created(snapshot) && snapshot->status->has_completion_percent;
}

bool snapshot_copy_is_over(const Api__AzSnapshot *snapshot)
{
    return snapshot_is_created(snapshot) &&
           (snapshot->status->ready_to_use || snapshot->status->error);
}

bool snapshot_is_of_disk(const Api__AzSnapshot *snapshot)
{
    return local_of(snapshot) ? snapshot_local_is_taken(snapshot) && snapshot_local_id(snapshot)
                              : snapshot_is_created(snapshot);
}

struct err *snapshot_parse_parameters(const Api__AzSnapshot *snapshot,
                                      struct snapshot_parameters *ret)
{
    const Api__AzSnapshotSpec *spec = snapshot->spec;
    CLEANUP(freep)
    struct parameter *list = PARAMETER_LIST(spec->parameters, spec->n_parameters);

    return snapshot_parameters_parse(list, spec->n_parameters, ret);
}
