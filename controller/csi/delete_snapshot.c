/* DeleteSnapshot: what is asked for is noted in the AzSnapshot, which is watched until its
 * reconciler has cleared everything away.
 *
 * A snapshot without one is asked of the cloud: its record may be lost, or a driver before this one
 * made it, or somebody by hand, who has named it in a VolumeSnapshotContent with deletionPolicy
 * Delete. It gets a record to be deleted by, unless another cluster or driver has made it.
 */

#include <string.h>

#include "controller/csi/existing_snapshot.h"
#include "lib/api/csi.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/kube/cached_client.h"
#include "provisioner-lib/records/names.h"
#include "provisioner-lib/records/snapshot.h"

/* ---- of an AzSnapshot ---- */

static struct err *request_deletion(struct task *self, struct controller *controller,
                                    const struct kube_object *object)
{
    json_t *changes =
        json_pack("{s:{s:s, s:n, s:{s:s}}}", "status", "state", snapshot_state(as_snapshot(object)),
                  "error", "annotation", ANNOTATION_DELETE_REQUEST, "cloud-delete-snapshot");

    TRY(cached_patch_status(self, controller->kube, controller->snapshots, object,
                            if_same(object, changes), NULL));
    if (kube_is_deleting(object->metadata))
        return NULL;
    return kube_delete(self, controller->kube, &AZ_SNAPSHOTS, object->metadata->namespace_,
                       object->metadata->name, object->metadata->uid);
}

static const Api__AzError *deletion_failure(const struct kube_object *object)
{
    const Api__AzSnapshot *snapshot = as_snapshot(object);

    return strcmp(snapshot_state(snapshot), "DeletionFailed") == 0 ? snapshot->status->error : NULL;
}

static struct err *delete_on_record(struct task *self, struct rpc_call *call,
                                    const struct kube_object *object)
{
    struct controller *controller = call->ctx;

    TRY(err_unless(request_deletion(self, controller, object), ERR_NOT_FOUND));
    return csi_wait_gone(self, call, controller->snapshots, object, deletion_failure);
}

/* ---- of a snapshot without one ---- */

static struct err *check_deletable(const struct controller *controller,
                                   const struct cloud_snapshot *snapshot)
{
    CLEANUP(freep) char *origin = disk_origin_text(&snapshot->mark, &controller->creator);

    if (disk_origin_of(&snapshot->mark, &controller->creator) != DISK_OF_OTHERS)
        return NULL;
    return err_new(ERR_PRECONDITION,
                   "snapshot %s is not deleted: it has no AzSnapshot, and %s. Delete it there, or "
                   "set deletionPolicy of its VolumeSnapshotContent to Retain",
                   snapshot->id, origin);
}

static struct err *record(struct task *self, struct controller *controller,
                          const struct cloud_snapshot *seen, struct kube_object **ret)
{
    const char *azure_name = strrchr(seen->id, '/') + 1;
    CLEANUP(freep) char *name = snapshot_name_with_hash(seen->id);
    CLEANUP(json_decrefp)
    json_t *json = json_pack(
        "{s:{s:s, s:[s], s:{s:s}}, s:{s:s, s:s}}", "metadata", "name", name, "finalizers",
        FINALIZER_SNAPSHOT, "annotations", ANNOTATION_PRE_PROVISIONED, seen->id, "spec",
        "snapshotName", azure_name, "sourceVolumeId", *seen->disk_id ? seen->disk_id : "unknown");
    struct err *err = cached_create(self, controller->kube, controller->snapshots,
                                    controller->settings.namespace_, json, ret);

    if (!err || err_kind(err) != ERR_EXISTS)
        return err;
    err_free(err);
    return err_new(ERR_BUSY, "AzSnapshot %s has just been created by another request", name);
}

/* ---- the call ---- */

static struct err *delete_snapshot(struct task *self, struct rpc_call *call,
                                   const char *snapshot_id)
{
    struct controller *controller = call->ctx;
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;
    CLEANUP(cloud_snapshot_fini) struct cloud_snapshot seen = {0};

    TRY(csi_find_snapshot(self, controller, snapshot_id, &object));
    if (object)
        return delete_on_record(self, call, object);
    struct err *err =
        controller->cloud->ops->snapshot_get(self, controller->cloud, snapshot_id, &seen);
    if (err && (err_kind(err) == ERR_NOT_FOUND || err_kind(err) == ERR_INVALID)) {
        err_free(err); /* gone, or an id that no snapshot can have */
        return NULL;
    }
    TRY(err);
    TRY(check_deletable(controller, &seen));
    TRY(record(self, controller, &seen, &object));
    return delete_on_record(self, call, object);
}

struct err *csi_delete_snapshot(struct task *self, struct rpc_call *call, const void *message,
                                void *ret)
{
    struct controller *controller = call->ctx;
    const Csi__V1__DeleteSnapshotRequest *request = message;

    (void)ret;
    if (!request->snapshot_id[0])
        return err_new(ERR_INVALID, "snapshot_id is missing");
    CLEANUP(freep) char *operation = mem_lower(request->snapshot_id);
    TRY(in_flight_begin(&controller->csi_calls, operation));
    struct err *err = delete_snapshot(self, call, request->snapshot_id);
    in_flight_end(&controller->csi_calls, operation);
    return err;
}
