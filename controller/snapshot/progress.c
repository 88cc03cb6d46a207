/* The reconciler of progress; see progress.h. */
#include "controller/snapshot/progress.h"

#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "lib/base/timestamp.h"
#include "lib/kube/cached_client.h"
#include "provisioner-lib/records/az_error.h"
#include "provisioner-lib/records/snapshot.h"

enum { LOOK_MS = 15 * 1000 };

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

char *snapshot_group_of(const char *id)
{
    const char *name = strrchr(id, '/');
    CLEANUP(freep) char *group = mem_strndup(id, name ? (size_t)(name - id) : strlen(id));

    return mem_lower(group);
}

static bool is_incomplete(const struct kube_object *object)
{
    const Api__AzSnapshot *snapshot = as_snapshot(object);

    return snapshot_is_created(snapshot) && !snapshot_is_ready(snapshot) &&
           !kube_is_deleting(object->metadata);
}

void snapshot_progress_enqueue(const struct controller *controller,
                               const struct kube_object *snapshot)
{
    if (!controller->leading || !is_incomplete(snapshot))
        return;
    CLEANUP(freep) char *group = snapshot_group_of(snapshot_recorded_id(as_snapshot(snapshot)));
    workqueue_add_at(controller->leading->queues[SNAPSHOT_PROGRESS_QUEUE], group,
                     loop_now(controller->loop) + LOOK_MS);
}

/* ---- one look ---- */

static bool is_in_group(const struct kube_object *object, const char *group)
{
    CLEANUP(freep) char *own = snapshot_group_of(snapshot_recorded_id(as_snapshot(object)));

    return strcmp(own, group) == 0;
}

/* One of the group that is not complete, after the object with this key. */
static struct kube_object *next_incomplete(const struct controller *controller, const char *group,
                                           const char *key)
{
    struct kube_object *object = store_after(controller->snapshots, key);

    while (object && !(is_incomplete(object) && is_in_group(object, group)))
        object = store_after(controller->snapshots, object->key);
    return object;
}

static const struct cloud_snapshot *find(const struct cloud_snapshots *all, const char *id)
{
    for (size_t i = 0; i < all->n; i++)
        if (strcasecmp(all->items[i].id, id) == 0)
            return &all->items[i];
    return NULL;
}

/* One that a list does not have may be missing from the list only. */
static struct err *record(struct task *self, struct controller *controller,
                          struct kube_object *object, const struct cloud_snapshots *all)
{
    const Api__AzSnapshotStatus *status = as_snapshot(object)->status;
    const struct cloud_snapshot *seen = find(all, status->snapshot_id);

    if (!seen || (!seen->ready && !seen->failure && seen->percent == status->completion_percent))
        return NULL;
    CLEANUP(kube_object_unrefp) struct kube_object *held = kube_object_ref(object);
    return err_unless(
        cached_patch_status(self, controller->leader_kube, controller->snapshots, held,
                            if_same(held, json_pack("{s:o}", "status", snapshot_status_json(seen))),
                            NULL),
        ERR_NOT_FOUND);
}

struct err *reconcile_snapshot_progress(struct task *self, void *ctx, const char *group)
{
    struct controller *controller = ctx;
    CLEANUP(cloud_snapshots_fini) struct cloud_snapshots all = {0};
    struct kube_object *object = next_incomplete(controller, group, "");
    CLEANUP(freep) char *any = NULL;
    CLEANUP(freep) char *key = NULL;

    if (!object)
        return NULL;
    any = mem_strdup(snapshot_recorded_id(as_snapshot(object)));
    TRY(controller->cloud->ops->snapshot_list(self, controller->cloud, any, &all));
    key = mem_strdup("");
    while ((object = next_incomplete(controller, group, key))) {
        CLEANUP(freep) char *before = TAKE_PTR(key);

        key = mem_strdup(object->key);
        TRY(record(self, controller, object, &all));
    }
    if (next_incomplete(controller, group, ""))
        workqueue_add_at(controller->leading->queues[SNAPSHOT_PROGRESS_QUEUE], group,
                         loop_now(controller->loop) + LOOK_MS);
    return NULL;
}
