/* CreateSnapshot: an AzSnapshot is written, and watched until its reconciler has made the snapshot.
 *
 * CSI knows a snapshot by its name, and so does its record. The answer comes when the snapshot has
 * its content; Azure may have to copy that yet, and ready_to_use is false until it has.
 */

#include <string.h>
#include <strings.h>

#include "controller/csi/existing_snapshot.h"
#include "controller/snapshot/quota.h"
#include "lib/api/csi.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/kube/cached_client.h"
#include "provisioner-lib/records/az_error.h"
#include "provisioner-lib/records/names.h"
#include "provisioner-lib/records/snapshot.h"

/* ---- the request ---- */

static struct err *check_request(struct controller *controller,
                                 const Csi__V1__CreateSnapshotRequest *request,
                                 struct snapshot_parameters *ret_parameters)
{
    size_t n = request->n_parameters;
    CLEANUP(freep) struct parameter *list = PARAMETER_LIST(request->parameters, n);
    CLEANUP(freep)
    struct parameter *secrets = PARAMETER_LIST(request->secrets, request->n_secrets);
    CLEANUP(freep) char *id = NULL;

    if (!request->name[0])
        return err_new(ERR_INVALID, "name is missing");
    if (!request->source_volume_id[0])
        return err_new(ERR_INVALID, "source_volume_id is missing");
    TRY(csi_refuse_secrets(secrets, request->n_secrets, "snapshots", "snapshotter",
                           "VolumeSnapshotClass"));
    TRY(snapshot_parameters_parse(list, n, ret_parameters));
    TRY(controller->cloud->ops->snapshot_id(
        controller->cloud,
        &(struct cloud_snapshot_spec){.name = request->name,
                                      .disk_id = request->source_volume_id,
                                      .parameters = ret_parameters},
        &id));
    return csi_check_snapshots(controller);
}

static json_t *spec_json(const char *name, const Csi__V1__CreateSnapshotRequest *request)
{
    size_t n = request->n_parameters;
    CLEANUP(freep) struct parameter *list = PARAMETER_LIST(request->parameters, n);
    json_t *parameters = json_object();

    parameters_set(parameters, list, n);
    return json_pack("{s:s, s:s, s:o}", "snapshotName", name, "sourceVolumeId",
                     request->source_volume_id, "parameters", parameters);
}

/* Said at once, rather than after the caller's time has been waited through. */
static struct err *check_quota(const struct controller *controller, const char *name,
                               const Csi__V1__CreateSnapshotRequest *request,
                               const struct snapshot_parameters *parameters)
{
    CLEANUP(freep) char *key = kube_key(controller->settings.namespace_, name);

    return !parameters->incremental || store_get(controller->snapshots, key)
               ? NULL
               : snapshot_check_quota(controller, request->source_volume_id);
}

/* ---- one that is there already ---- */

/* A creation that failed for good begins anew, as this request has it. The leader may have been
 * about to forget it, and have asked for the snapshot to be deleted with it: that must not outlast
 * the attempt that failed. */
static struct err *begin_anew(struct task *self, struct controller *controller, const char *name,
                              const struct kube_object *object,
                              const Csi__V1__CreateSnapshotRequest *request)
{
    CLEANUP(kube_object_unrefp) struct kube_object *with_spec = NULL;
    const Api__AzSnapshotSpec *old = as_snapshot(object)->spec;
    json_t *spec = spec_json(name, request);

    for (size_t i = 0; i < old->n_parameters; i++)
        if (!json_object_get(json_object_get(spec, "parameters"), old->parameters[i]->key))
            json_object_set_new(json_object_get(spec, "parameters"), old->parameters[i]->key,
                                json_null());
    TRY(csi_api_error(cached_patch(self, controller->kube, controller->snapshots, object,
                                   if_unchanged(object, json_pack("{s:o}", "spec", spec)),
                                   &with_spec)));
    json_t *status =
        json_pack("{s:{s:s, s:n, s:{s:n, s:n}}}", "status", "state", "Pending", "error",
                  "annotation", ANNOTATION_FORGET_AFTER, ANNOTATION_DELETE_REQUEST);
    return csi_api_error(cached_patch_status(self, controller->kube, controller->snapshots,
                                             with_spec, if_unchanged(with_spec, status), NULL));
}

static struct err *check_same(const struct kube_object *object,
                              const Csi__V1__CreateSnapshotRequest *request)
{
    const Api__AzSnapshotSpec *spec = as_snapshot(object)->spec;
    const char *source = spec && spec->source_volume_id ? spec->source_volume_id : "(nothing)";

    if (kube_is_deleting(object->metadata))
        return err_new(ERR_BUSY, "snapshot %s is being deleted", request->name);
    if (strcasecmp(source, request->source_volume_id) != 0)
        return err_new(ERR_EXISTS, "snapshot %s already exists, and is of volume %s, not of %s",
                       request->name, source, request->source_volume_id);
    return NULL;
}

static struct err *write_snapshot(struct task *self, struct controller *controller,
                                  const char *name, const Csi__V1__CreateSnapshotRequest *request)
{
    const char *namespace_ = controller->settings.namespace_;
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;
    CLEANUP(json_decrefp)
    json_t *json = json_pack("{s:{s:s, s:[s]}, s:o}", "metadata", "name", name, "finalizers",
                             FINALIZER_SNAPSHOT, "spec", spec_json(name, request));
    struct err *err = csi_api_error(
        cached_create(self, controller->kube, controller->snapshots, namespace_, json, &object));

    if (!err || err_kind(err) != ERR_EXISTS)
        return err;
    err_free(err);
    TRY(csi_api_error(
        cached_get(self, controller->kube, controller->snapshots, namespace_, name, &object)));
    TRY(check_same(object, request));
    return snapshot_has_failed(as_snapshot(object))
               ? begin_anew(self, controller, name, object, request)
               : NULL;
}

/* ---- waiting ---- */

/* A snapshot whose data could not be copied exists, and is of no use. */
static struct err *wait_created(struct task *self, struct rpc_call *call, const char *name,
                                struct kube_object **ret)
{
    struct controller *controller = call->ctx;
    CLEANUP(freep) char *key = kube_key(controller->settings.namespace_, name);

    for (;;) {
        struct kube_object *object = store_get(controller->snapshots, key);

        if (!object)
            return err_new(ERR_BUSY, "snapshot %s was deleted while it was being created", name);
        const Api__AzSnapshot *snapshot = as_snapshot(object);
        bool is_created = snapshot_is_created(snapshot);
        if ((is_created || snapshot_has_failed(snapshot)) && snapshot->status->error)
            return az_error_take(snapshot->status->error);
        if (is_created) {
            *ret = kube_object_ref(object);
            return NULL;
        }
        CLEANUP(kube_object_unrefp) struct kube_object *seen = kube_object_ref(object);
        struct err *err = store_wait(self, controller->snapshots, key, csi_wait_deadline(call));
        if (err)
            return csi_waited_in_vain(
                as_snapshot(seen)->status ? as_snapshot(seen)->status->error : NULL, err);
    }
}

/* ---- the call ---- */

static struct err *create_snapshot(struct task *self, struct rpc_call *call, const char *name,
                                   const Csi__V1__CreateSnapshotRequest *request,
                                   const struct snapshot_parameters *parameters,
                                   struct kube_object **ret)
{
    TRY(check_quota(call->ctx, name, request, parameters));
    TRY(write_snapshot(self, call->ctx, name, request));
    return wait_created(self, call, name, ret);
}

struct err *csi_create_snapshot(struct task *self, struct rpc_call *call, const void *message,
                                void *ret)
{
    struct controller *controller = call->ctx;
    const Csi__V1__CreateSnapshotRequest *request = message;
    Csi__V1__CreateSnapshotResponse *response = ret;
    CLEANUP(snapshot_parameters_fini) struct snapshot_parameters parameters = {0};
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;

    TRY(check_request(controller, request, &parameters));
    CLEANUP(freep) char *name = disk_name_of(request->name);
    CLEANUP(freep) char *operation = mem_printf("snapshot/%s", name);
    TRY(in_flight_begin(&controller->csi_calls, operation));
    struct err *err = create_snapshot(self, call, name, request, &parameters, &object);
    in_flight_end(&controller->csi_calls, operation);
    TRY(err);
    response->snapshot = csi_snapshot_of(call->arena, as_snapshot(object));
    return NULL;
}
