/* The reconciler of progress; see controller/progress.h. */
#include "controller/snapshot/progress.h"

#include <strings.h>

#include "controller/progress.h"
#include "lib/base/alloc.h"
#include "lib/base/timestamp.h"
#include "lib/kube/cached_client.h"
#include "provisioner-lib/records/az_error.h"
#include "provisioner-lib/records/snapshot.h"

json_t *snapshot_status_json(const struct cloud_snapshot *snapshot)
{
    CLEANUP(err_freep)
    struct err *failure =
        snapshot->failure
            ? err_new(ERR_INTERNAL, "Azure could not copy the data of snapshot %s: %s; delete it",
                      snapshot->id, snapshot->failure)
            : NULL;
    char taken[TIMESTAMP_SIZE];

    timestamp_format(snapshot->taken_us, taken);
    return json_pack("{s:s, s:s, s:I, s:s, s:b, s:i, s:o}", "state", "Created", "snapshotId",
                     snapshot->id, "sizeBytes", (json_int_t)snapshot->size_bytes, "creationTime",
                     taken, "readyToUse", snapshot->ready, "completionPercent", snapshot->percent,
                     "error", failure ? az_error_json(failure) : json_null());
}

/* Volumes can be made from one with instant access before its data has been copied. */
static const char *incomplete_id(const struct kube_object *object)
{
    const Api__AzSnapshot *snapshot = as_snapshot(object);

    return snapshot_is_created(snapshot) && !kube_is_deleting(object->metadata) &&
                   (!snapshot_is_ready(snapshot) || snapshot_percent(snapshot) < 100)
               ? snapshot_recorded_id(snapshot)
               : NULL;
}

static const struct cloud_snapshot *find(const struct cloud_snapshots *all, const char *id)
{
    for (size_t i = 0; i < all->n; i++)
        if (strcasecmp(all->items[i].id, id) == 0)
            return &all->items[i];
    return NULL;
}

static bool is_recorded(const Api__AzSnapshot *snapshot, const struct cloud_snapshot *seen)
{
    return seen->ready == snapshot_is_ready(snapshot) &&
           seen->percent == snapshot_percent(snapshot) &&
           (seen->failure != NULL) == (snapshot->status->error != NULL);
}

/* One that a list does not have may be missing from the list only. */
static struct err *record(struct task *self, struct controller *controller,
                          struct kube_object *object, const void *list)
{
    const Api__AzSnapshot *snapshot = as_snapshot(object);
    const struct cloud_snapshot *seen = find(list, snapshot->status->snapshot_id);

    if (!seen || is_recorded(snapshot, seen))
        return NULL;
    return cached_patch_status(
        self, controller->leader_kube, controller->snapshots, object,
        if_same(object, json_pack("{s:o}", "status", snapshot_status_json(seen))), NULL);
}

static struct progress progress_of(struct controller *controller)
{
    return (struct progress){controller, controller->snapshots, SNAPSHOT_PROGRESS_QUEUE,
                             incomplete_id, record};
}

void snapshot_progress_enqueue(struct controller *controller, const struct kube_object *snapshot)
{
    const struct progress progress = progress_of(controller);

    progress_enqueue(&progress, snapshot);
}

struct err *reconcile_snapshot_progress(struct task *self, void *ctx, const char *group)
{
    struct controller *controller = ctx;
    const struct progress progress = progress_of(controller);
    CLEANUP(cloud_snapshots_fini) struct cloud_snapshots all = {0};
    CLEANUP(freep) char *any = progress_any(&progress, group);

    if (!any)
        return NULL;
    TRY(controller->cloud->ops->snapshot_list(self, controller->cloud, any, &all));
    return progress_record(self, &progress, group, &all);
}
