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

bool snapshot_is_pending(const Api__AzSnapshot *snapshot)
{
    if (kube_is_deleting(snapshot->metadata))
        return false;
    if (!snapshot_is_created(snapshot))
        return !snapshot_recorded_id(snapshot) && !snapshot_has_failed(snapshot);
    return snapshot_percent(snapshot) < 100 && !snapshot->status->error;
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

int64_t snapshot_taken_us(const Api__AzSnapshot *snapshot)
{
    return snapshot->status ? timestamp_noted(snapshot->status->creation_time) : 0;
}

struct err *snapshot_parse_parameters(const Api__AzSnapshot *snapshot,
                                      struct snapshot_parameters *ret)
{
    const Api__AzSnapshotSpec *spec = snapshot->spec;
    CLEANUP(freep)
    struct parameter *list = PARAMETER_LIST(spec->parameters, spec->n_parameters);

    return snapshot_parameters_parse(list, spec->n_parameters, ret);
}
