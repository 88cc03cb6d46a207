/* The reconciler of progress; see controller/progress.h. */
#include "controller/snapshot/progress.h"

#include <strings.h>

#include "controller/progress.h"
#include "controller/snapshot/turn.h"
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
    return json_pack("{s:s, s:s, s:s, s:I, s:s, s:b, s:i, s:o}", "state", "Created", "snapshotId",
                     snapshot->id, "location", snapshot->region, "sizeBytes",
                     (json_int_t)snapshot->size_bytes, "creationTime", taken, "readyToUse",
                     snapshot->ready, "completionPercent", snapshot->percent, "error",
                     failure ? az_error_json(failure) : json_null());
}

int snapshot_local_percent(const struct cloud_snapshot *local)
{
    if (local->ready && local->percent >= 100)
        return 100;
    return local->percent < 100 ? local->percent : 99;
}

/* Volumes can be made from one with instant access before its data has been copied. One that has
 * failed gets no further. */
static const char *incomplete_id(const struct kube_object *object)
{
    const Api__AzSnapshot *snapshot = as_snapshot(object);

    return snapshot_is_created(snapshot) && !snapshot_goes(snapshot) && !snapshot->status->error &&
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

/* What is new of the snapshot itself; NULL if nothing is. Its id and the time of its content never
 * change. */
static json_t *news_of(const Api__AzSnapshot *snapshot, const struct cloud_snapshot *seen)
{
    if (is_recorded(snapshot, seen))
        return NULL;
    json_t *status = snapshot_status_json(seen);
    json_object_del(status, "creationTime");
    json_object_del(status, "snapshotId");
    return status;
}

/* The same of the local one, from which it is to be copied. */
static json_t *news_of_local(const Api__AzSnapshot *snapshot, const struct cloud_snapshot *seen)
{
    int percent = snapshot_local_percent(seen);

    if (seen->failure) {
        json_t *status = snapshot_status_json(seen);
        json_t *news =
            json_pack("{s:s, s:O}", "state", "Created", "error", json_object_get(status, "error"));

        json_decref(status);
        return news;
    }
    return percent == snapshot->status->local->completion_percent
               ? NULL
               : json_pack("{s:s, s:{s:i}}", "state", "Created", "local", "completionPercent",
                           percent);
}

/* One that a list does not have may be missing from the list only. */
static struct err *record(struct task *self, struct controller *controller,
                          struct kube_object *object, const void *list)
{
    const Api__AzSnapshot *snapshot = as_snapshot(object);
    bool is_to_be_copied = snapshot_local_id(snapshot) && !snapshot_copy_exists(snapshot);
    const struct cloud_snapshot *seen =
        find(list, is_to_be_copied ? snapshot_local_id(snapshot) : snapshot->status->snapshot_id);
    json_t *news = !seen             ? NULL
                   : is_to_be_copied ? news_of_local(snapshot, seen)
                                     : news_of(snapshot, seen);

    if (!news)
        return NULL;
    TRY(cached_patch_status(self, controller->leader_kube, controller->snapshots, object,
                            if_same(object, json_pack("{s:o}", "status", news)), NULL));
    if (seen->failure)
        snapshot_enqueue_failed(controller, object);
    return NULL;
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
