/* The AzSnapshot reconciler: takes the steps of snapshot/plan.h, one after another. */

#include <stdlib.h>
#include <string.h>

#include "controller/cache/provenance.h"
#include "controller/snapshot/progress.h"
#include "controller/snapshot/quota.h"
#include "controller/snapshot/regional_copy.h"
#include "controller/snapshot/turn.h"
#include "controller/snapshot/work.h"
#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/base/timestamp.h"
#include "lib/kube/cached_client.h"
#include "provisioner-lib/records/az_error.h"
#include "provisioner-lib/records/failed_attempt.h"
#include "provisioner-lib/records/snapshot.h"

enum { MAX_STEPS = 8 };

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
               .delete_requested = snapshot_annotation(snapshot, ANNOTATION_DELETE_REQUEST) != NULL,
               .local = snapshot_local_id(snapshot) != NULL,
               .taken = snapshot_local_is_taken(snapshot),
               .whole = snapshot_local_is_complete(snapshot),
               .waits = snapshot_local_id(snapshot) && snapshot_waits_for_turn(controller, object),
               .copying = snapshot_copy_exists(snapshot),
               .over = snapshot_copy_is_over(snapshot)},
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

/* ---- the snapshot ---- */

/* Whose file system it may have. What is on record already is of an earlier attempt, which may have
 * made the snapshot. */
static void add_provenance(const struct snapshot_work *work, json_t *status)
{
    CLEANUP(provenance_fini) struct provenance source = {0};
    const Api__AzSnapshotStatus *recorded = work->snapshot->status;

    if ((recorded && recorded->filesystem) ||
        snapshot_annotation(work->snapshot, ANNOTATION_SOURCE_UUIDS))
        return;
    provenance_of_disk(work->controller, work->snapshot->spec->source_volume_id, &source);
    json_object_set_new(status, "filesystem", json_pack("s?", source.filesystem));
    json_object_set_new(status, "annotation",
                        json_pack("{s:s?}", ANNOTATION_SOURCE_UUIDS, source.uuids));
}

/* An API server with an older definition drops what is recorded of a local one. */
static struct err *record_creating(struct task *self, struct snapshot_work *work)
{
    CLEANUP(kube_object_unrefp) struct kube_object *written = NULL;
    json_t *local;

    TRY(regional_copy_plan(self, work, &local));
    bool is_copy = !json_is_null(local);
    json_t *status = json_pack("{s:s, s:n, s:o}", "state", "Creating", "error", "local", local);
    add_provenance(work, status);
    TRY(snapshot_patch_status(self, work, status, &written));
    if (!is_copy || snapshot_local_id(as_snapshot(written)))
        return NULL;
    return err_new(
        ERR_PRECONDITION,
        "AzSnapshot %s does not keep status.local, without which a snapshot cannot be "
        "copied to another region: update the custom resource definitions (kubectl apply "
        "-f crds/)",
        written->metadata->name);
}

static struct err *create(struct task *self, struct snapshot_work *work)
{
    struct cloud *cloud = work->controller->cloud;
    CLEANUP(snapshot_parameters_fini) struct snapshot_parameters parameters = {0};
    CLEANUP(cloud_snapshot_fini) struct cloud_snapshot made = {0};

    TRY(snapshot_parse_parameters(work->snapshot, &parameters));
    if (parameters.incremental)
        TRY(snapshot_check_quota(work->controller, work->snapshot->spec->source_volume_id));
    const struct cloud_snapshot_spec spec = snapshot_spec_of(work, &parameters);
    TRY(cloud->ops->snapshot_create(self, cloud, &spec, &made));
    return snapshot_patch_status(self, work, snapshot_status_json(&made), NULL);
}

/* Nobody has called DeleteSnapshot, and it is not what the attempts on record have left. */
static bool is_left(const struct snapshot_work *work, const struct cloud_snapshot *found)
{
    const char *request = snapshot_annotation(work->snapshot, ANNOTATION_DELETE_REQUEST);

    if (!request || strcmp(request, DELETE_REQUEST_OF_FAILED_CREATION) != 0)
        return false;
    const char *why =
        failed_attempt_excludes(work->snapshot->metadata, goes_at(work->snapshot), found->made_us);
    if (why)
        log_warning("%s: its creation has failed by its record, but snapshot %s may be of use: %s. "
                    "It is not deleted",
                    work->object->key, found->id, why);
    return why;
}

/* Its creation may have begun although that is not on record, and a copy may be announced before
 * that. What has its name and is somebody else's made the creation fail, and stays. */
static struct err *unrecorded_id(struct task *self, struct snapshot_work *work, char **ret_id)
{
    CLEANUP(snapshot_parameters_fini) struct snapshot_parameters parameters = {0};
    CLEANUP(cloud_snapshot_fini) struct cloud_snapshot found = {0};
    CLEANUP(err_freep) struct err *err = snapshot_parse_parameters(work->snapshot, &parameters);

    *ret_id = NULL;
    if (err)
        return NULL;
    const struct cloud_snapshot_spec spec = snapshot_spec_of(work, &parameters);
    TRY(snapshot_find_own(self, work, &spec, &found));
    *ret_id = found.id && is_left(work, &found) ? NULL : TAKE_PTR(found.id);
    return NULL;
}

static struct err *delete_from_cloud(struct task *self, struct snapshot_work *work)
{
    const struct cloud_ops *ops = work->controller->cloud->ops;
    bool is_there = snapshot_copy_exists(work->snapshot) || !snapshot_is_copy(work->snapshot);
    CLEANUP(freep) char *id = is_there ? mem_strdup(snapshot_recorded_id(work->snapshot)) : NULL;

    if (!id)
        TRY(unrecorded_id(self, work, &id));
    if (!id)
        return NULL;
    if (strcmp(snapshot_state(work->snapshot), "DeletionFailed") != 0) /* that stays until then */
        TRY(snapshot_patch_status(self, work, json_pack("{s:s, s:n}", "state", "Deleting", "error"),
                                  NULL));
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

    TRY(snapshot_patch_status(self, work,
                              json_pack("{s:s, s:{s:s}}", "state", snapshot_state(work->snapshot),
                                        "annotation", ANNOTATION_DELETE_REQUEST,
                                        DELETE_REQUEST_OF_FAILED_CREATION),
                              &written));
    return cached_delete(self, work->controller->leader_kube, work->controller->snapshots, written);
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
    case SNAPSHOT_TAKE_LOCAL:
        return regional_copy_take_local(self, work);
    case SNAPSHOT_ANNOUNCE:
        return regional_copy_announce(self, work);
    case SNAPSHOT_COPY:
        return regional_copy_begin(self, work);
    case SNAPSHOT_DELETE_LOCAL:
        return regional_copy_delete_local(self, work);
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

/* A copy that was refused may be begun later: what it is to be copied from is kept, and is what
 * CreateSnapshot is answered with. An error that sounds final would tell its caller that nothing
 * comes of it. */
static bool can_be_copied_later(const struct snapshot_work *work, enum snapshot_step step,
                                const struct err *err)
{
    return step == SNAPSHOT_COPY && !work->in.deleting &&
           err_kind_retry(err_kind(err)) != ERR_RETRY_NEVER;
}

/* NULL: that a local one cannot be deleted yet is no trouble of the snapshot. */
static json_t *failure_json(const struct snapshot_work *work, enum snapshot_step step,
                            const struct err *err)
{
    if (step == SNAPSHOT_DELETE_LOCAL && !work->in.deleting)
        return NULL;

    json_t *status = json_pack("{s:o}", "error", az_error_json(err));
    char text[TIMESTAMP_SIZE];

    if (work->in.deleting)
        json_object_set_new(status, "state", json_string("DeletionFailed"));
    else if (work->in.created)
        json_object_set_new(status, "state", json_string("Created"));
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
                                  enum snapshot_step step, struct err *err)
{
    CLEANUP(snapshot_work_fini) struct snapshot_work work = {0};

    if (err_kind(err) == ERR_CANCELED || err_kind(err) == ERR_CONFLICT ||
        !gather(controller, key, &work))
        return err;
    /* What failed was the answer to recording it; nobody would take an error away from it. */
    if (work.in.created && !work.in.deleting && step != SNAPSHOT_COPY)
        return err;
    if (can_be_copied_later(&work, step, err)) {
        if (!work.in.created)
            err_free(regional_copy_announce(self, &work));
        return err;
    }
    json_t *status = failure_json(&work, step, err);
    if (status)
        err_free(snapshot_patch_status(self, &work, status, NULL));
    if (status && work.in.created && !work.in.deleting)
        snapshot_enqueue_failed(controller, work.object);
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
            return record_failure(self, controller, key, step, err);
        if (step == SNAPSHOT_NONE || step == SNAPSHOT_REMOVE_FINALIZER ||
            step == SNAPSHOT_REQUEUE || step == SNAPSHOT_FORGET)
            return NULL;
        gone |= step == SNAPSHOT_DELETE;
    }
    return NULL;
}
