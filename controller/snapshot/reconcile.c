/* The AzSnapshot reconciler: takes the steps of snapshot/plan.h, one after another. */

#include <stdlib.h>
#include <string.h>

#include "controller/cache/provenance.h"
#include "controller/controller.h"
#include "controller/snapshot/plan.h"
#include "controller/snapshot/progress.h"
#include "controller/snapshot/quota.h"
#include "lib/api/azdisk.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/base/timestamp.h"
#include "lib/kube/cached_client.h"
#include "provisioner-lib/records/az_error.h"
#include "provisioner-lib/records/snapshot.h"

enum {
    MAX_STEPS = 6,
    /* Longer than csi-snapshotter waits between two attempts. */
    FAILED_STAYS_MS = 10 * 60 * 1000,
};

/* One snapshot that is being reconciled. */
struct snapshot_work {
    struct controller *controller;
    struct kube_object *object; /* referenced */
    const Api__AzSnapshot *snapshot;
    struct snapshot_facts in;
};

static void snapshot_work_fini(struct snapshot_work *work)
{
    kube_object_unref(work->object);
}

/* ---- gather ---- */

static int64_t goes_at(const Api__AzSnapshot *snapshot)
{
    return timestamp_noted(snapshot_annotation(snapshot, ANNOTATION_FORGET_AFTER));
}

static bool gather(struct controller *controller, const char *key, struct snapshot_work *ret)
{
    struct kube_object *object = store_get(controller->snapshots, key);

    if (!object || !as_snapshot(object)->spec || !as_snapshot(object)->spec->snapshot_name ||
        !as_snapshot(object)->spec->source_volume_id)
        return false;
    const Api__AzSnapshot *snapshot = as_snapshot(object);
    int64_t goes = goes_at(snapshot);
    *ret = (struct snapshot_work){
        .controller = controller,
        .object = kube_object_ref(object),
        .snapshot = snapshot,
        .in = {.deleting = kube_is_deleting(object->metadata),
               .has_finalizer = kube_has_finalizer(object->metadata, FINALIZER_SNAPSHOT),
               .created = snapshot_is_created(snapshot),
               .creating = strcmp(snapshot_state(snapshot), "Creating") == 0,
               .failed = snapshot_has_failed(snapshot),
               .goes = goes > 0,
               .goes_now = goes > 0 && goes <= loop_wall_us(controller->loop),
               .adopted = kube_annotation(object->metadata, ANNOTATION_PRE_PROVISIONED) != NULL,
               .delete_requested =
                   snapshot_annotation(snapshot, ANNOTATION_DELETE_REQUEST) != NULL},
    };
    return true;
}

/* ---- writing to the object ---- */

static struct err *patch_finalizers(struct task *self, struct snapshot_work *work, bool add)
{
    json_t *changes = kube_finalizer_json(work->object->metadata, FINALIZER_SNAPSHOT, add);

    return cached_patch(self, work->controller->leader_kube, work->controller->snapshots,
                        work->object, if_unchanged(work->object, changes), NULL);
}

static struct err *patch_status(struct task *self, struct snapshot_work *work, json_t *status,
                                struct kube_object **ret)
{
    json_t *changes = json_pack("{s:o}", "status", status);

    return cached_patch_status(self, work->controller->leader_kube, work->controller->snapshots,
                               work->object, if_unchanged(work->object, changes), ret);
}

/* ---- the snapshot ---- */

static struct cloud_snapshot_spec spec_of(const struct snapshot_work *work,
                                          const struct snapshot_parameters *parameters)
{
    return (struct cloud_snapshot_spec){
        .name = work->snapshot->spec->snapshot_name,
        .disk_id = work->snapshot->spec->source_volume_id,
        .parameters = parameters,
        .creator = work->controller->creator,
    };
}

/* What is on record already is of an earlier attempt, which may have made the snapshot. */
static struct err *record_creating(struct task *self, struct snapshot_work *work)
{
    CLEANUP(provenance_fini) struct provenance source = {0};
    const Api__AzSnapshotStatus *status = work->snapshot->status;

    if ((status && status->filesystem) ||
        snapshot_annotation(work->snapshot, ANNOTATION_SOURCE_UUIDS))
        return patch_status(self, work, json_pack("{s:s, s:n}", "state", "Creating", "error"),
                            NULL);
    provenance_of_disk(work->controller, work->snapshot->spec->source_volume_id, &source);
    return patch_status(self, work,
                        json_pack("{s:s, s:n, s:s?, s:{s:s?}}", "state", "Creating", "error",
                                  "filesystem", source.filesystem, "annotation",
                                  ANNOTATION_SOURCE_UUIDS, source.uuids),
                        NULL);
}

static struct err *create(struct task *self, struct snapshot_work *work)
{
    struct cloud *cloud = work->controller->cloud;
    CLEANUP(snapshot_parameters_fini) struct snapshot_parameters parameters = {0};
    CLEANUP(cloud_snapshot_fini) struct cloud_snapshot made = {0};

    TRY(snapshot_parse_parameters(work->snapshot, &parameters));
    if (parameters.incremental)
        TRY(snapshot_check_quota(work->controller, work->snapshot->spec->source_volume_id));
    const struct cloud_snapshot_spec spec = spec_of(work, &parameters);
    TRY(cloud->ops->snapshot_create(self, cloud, &spec, &made));
    return patch_status(self, work, snapshot_status_json(&made), NULL);
}

/* Its creation may have begun although that is not on record. What has its name and is somebody
 * else's made the creation fail, and stays. */
static struct err *unrecorded_id(struct task *self, struct snapshot_work *work, char **ret_id)
{
    struct cloud *cloud = work->controller->cloud;
    CLEANUP(snapshot_parameters_fini) struct snapshot_parameters parameters = {0};
    CLEANUP(cloud_snapshot_fini) struct cloud_snapshot seen = {0};
    CLEANUP(err_freep) struct err *err = snapshot_parse_parameters(work->snapshot, &parameters);
    CLEANUP(freep) char *id = NULL;

    *ret_id = NULL;
    if (err)
        return NULL;
    const struct cloud_snapshot_spec spec = spec_of(work, &parameters);
    TRY(cloud->ops->snapshot_id(cloud, &spec, &id));
    struct err *look = cloud->ops->snapshot_get(self, cloud, id, &seen);
    if (look)
        return err_unless(look, ERR_NOT_FOUND);
    if (disk_is_for_volume(&seen.mark, &spec.creator, spec.name, NULL) &&
        strcasecmp(seen.disk_id, spec.disk_id) == 0)
        *ret_id = TAKE_PTR(id);
    return NULL;
}

static struct err *delete_from_cloud(struct task *self, struct snapshot_work *work)
{
    const struct cloud_ops *ops = work->controller->cloud->ops;
    const char *recorded = snapshot_recorded_id(work->snapshot);
    CLEANUP(freep) char *id = recorded ? mem_strdup(recorded) : NULL;

    if (!id)
        TRY(unrecorded_id(self, work, &id));
    if (!id)
        return NULL;
    if (strcmp(snapshot_state(work->snapshot), "DeletionFailed") != 0) /* that stays until then */
        TRY(patch_status(self, work, json_pack("{s:s, s:n}", "state", "Deleting", "error"), NULL));
    return ops->snapshot_delete(self, work->controller->cloud, id);
}

/* ---- a creation that has failed ---- */

static void requeue(const struct snapshot_work *work)
{
    const struct controller *controller = work->controller;
    int64_t us = goes_at(work->snapshot) - loop_wall_us(controller->loop);

    workqueue_add_at(controller->leading->queues[SNAPSHOT_QUEUE], work->object->key,
                     loop_now(controller->loop) + (us > 0 ? (uint64_t)us / 1000 : 0) + 1);
}

static struct err *forget(struct task *self, struct snapshot_work *work)
{
    CLEANUP(kube_object_unrefp) struct kube_object *written = NULL;

    TRY(patch_status(self, work,
                     json_pack("{s:s, s:{s:s}}", "state", snapshot_state(work->snapshot),
                               "annotation", ANNOTATION_DELETE_REQUEST, "creation-failed"),
                     &written));
    return kube_delete_unchanged(self, work->controller->leader_kube, &AZ_SNAPSHOTS, written);
}

/* ---- steps ---- */

static struct err *take_step(struct task *self, struct snapshot_work *work, enum snapshot_step step)
{
    switch (step) {
    case SNAPSHOT_NONE:
        return NULL;
    case SNAPSHOT_ADD_FINALIZER:
        return patch_finalizers(self, work, true);
    case SNAPSHOT_REMOVE_FINALIZER:
        return patch_finalizers(self, work, false);
    case SNAPSHOT_RECORD_CREATING:
        return record_creating(self, work);
    case SNAPSHOT_CREATE:
        return create(self, work);
    case SNAPSHOT_REQUEUE:
        requeue(work);
        return NULL;
    case SNAPSHOT_FORGET:
        return forget(self, work);
    case SNAPSHOT_DELETE:
        return delete_from_cloud(self, work);
    }
    abort();
}

static json_t *failure_json(const struct snapshot_work *work, const struct err *err)
{
    json_t *status = json_pack("{s:o}", "error", az_error_json(err));
    char text[TIMESTAMP_SIZE];

    if (work->in.deleting)
        json_object_set_new(status, "state", json_string("DeletionFailed"));
    else if (!err_is_transient(err)) {
        timestamp_format(loop_wall_us(work->controller->loop) + (int64_t)FAILED_STAYS_MS * 1000,
                         text);
        json_object_set_new(status, "state", json_string("CreationFailed"));
        json_object_set_new(status, "annotation",
                            json_pack("{s:s}", ANNOTATION_FORGET_AFTER, text));
    } else if (!*snapshot_state(work->snapshot))
        json_object_set_new(status, "state", json_string("Pending"));
    return status;
}

static struct err *record_failure(struct task *self, struct controller *controller, const char *key,
                                  struct err *err)
{
    CLEANUP(snapshot_work_fini) struct snapshot_work work = {0};

    if (err_kind(err) == ERR_CANCELED || err_kind(err) == ERR_CONFLICT ||
        !gather(controller, key, &work))
        return err;
    /* What failed was the answer to recording it; nobody would take an error away from it. */
    if (snapshot_is_created(work.snapshot) && !work.in.deleting)
        return err;
    err_free(patch_status(self, &work, failure_json(&work, err), NULL));
    return err;
}

struct err *reconcile_snapshot(struct task *self, void *ctx, const char *key)
{
    struct controller *controller = ctx;
    bool gone = false;

    for (int i = 0; i < MAX_STEPS; i++) {
        CLEANUP(snapshot_work_fini) struct snapshot_work work = {0};

        if (!gather(controller, key, &work))
            return NULL;
        work.in.gone = gone;
        enum snapshot_step step = snapshot_next(&work.in);
        struct err *err = take_step(self, &work, step);
        if (err)
            return record_failure(self, controller, key, err);
        if (step == SNAPSHOT_NONE || step == SNAPSHOT_REMOVE_FINALIZER ||
            step == SNAPSHOT_REQUEUE || step == SNAPSHOT_FORGET)
            return NULL;
        gone |= step == SNAPSHOT_DELETE;
    }
    return NULL;
}
