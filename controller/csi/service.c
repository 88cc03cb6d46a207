#include "controller/csi/service.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "controller/cache/volume_name.h"
#include "controller/volume/adoption.h"
#include "lib/api/csi.pb-c.h"
#include "lib/base/alloc.h"
#include "provisioner-lib/records/access_mode.h"
#include "provisioner-lib/records/az_error.h"

enum { TIME_TO_ANSWER_MS = 200 };

struct err *csi_size_of_range(const Csi__V1__CapacityRange *range, int64_t *ret_gib)
{
    int64_t required = range ? range->required_bytes : 0, limit = range ? range->limit_bytes : 0;

    if (required < 0 || limit < 0)
        return err_new(ERR_INVALID, "capacity_range must not be negative");
    if (required > INT64_MAX - GIB)
        return err_new(ERR_OUT_OF_RANGE, "capacity_range.required_bytes %" PRId64 " is too large",
                       required);
    *ret_gib = disk_size_gib(required);
    if (limit && *ret_gib * GIB > limit)
        return err_new(ERR_OUT_OF_RANGE,
                       "capacity_range: disk sizes are whole GiB, and %" PRId64
                       " GiB exceed limit_bytes %" PRId64,
                       *ret_gib, limit);
    return NULL;
}

struct err *csi_refuse_secrets(const struct parameter *secrets, size_t n, const char *what,
                               const char *sidecar, const char *class)
{
    CLEANUP(freep) char *keys = mem_strdup("");

    if (n == 0)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        CLEANUP(freep) char *before = TAKE_PTR(keys);

        keys = mem_printf("%s%s%s", before, i ? ", " : "", secrets[i].name);
    }
    return err_new(ERR_INVALID,
                   "secrets (%s) are not supported: the driver creates %s with its own identity "
                   "only. Remove csi.storage.k8s.io/%s-secret-name and "
                   "csi.storage.k8s.io/%s-secret-namespace from the %s",
                   keys, what, sidecar, sidecar, class);
}

uint64_t csi_wait_deadline(const struct rpc_call *call)
{
    return call->deadline > TIME_TO_ANSWER_MS ? call->deadline - TIME_TO_ANSWER_MS : 0;
}

struct err *csi_waited_in_vain(const Api__AzError *trouble, struct err *wait_err)
{
    if (err_kind(wait_err) != ERR_TIMEOUT || !trouble)
        return wait_err;
    err_free(wait_err);
    return az_error_take(trouble);
}

struct err *csi_api_error(struct err *err)
{
    if (!err || err_is_transient(err) || err_kind(err) == ERR_NOT_FOUND ||
        err_kind(err) == ERR_EXISTS || err_kind(err) == ERR_CANCELED)
        return err;
    return err_as(err_wrap(err, "the API server refuses a request of the driver"), ERR_UNAVAILABLE);
}

struct err *csi_wait_gone(struct task *self, const struct rpc_call *call, struct store *store,
                          const struct kube_object *object, csi_failure_fn *failure)
{
    for (;;) {
        const struct kube_object *now = store_get(store, object->key);

        if (!now || strcmp(now->metadata->uid, object->metadata->uid) != 0)
            return NULL;
        if (failure(now))
            return az_error_take(failure(now));
        TRY(store_wait(self, store, object->key, csi_wait_deadline(call)));
    }
}

struct err *csi_check_disk(const struct controller *controller, const struct kube_object *object,
                           const char *volume_id)
{
    const char *disk = adoption_disk(controller, as_volume(object));

    if (!disk || strcasecmp(disk, volume_id) == 0)
        return NULL;
    return err_new(ERR_PRECONDITION,
                   "AzVolume %s belongs to disk %s, not to disk %s: somebody has written it by "
                   "hand. If no pod uses disk %s, delete the AzVolume",
                   object->metadata->name, disk, volume_id, disk);
}

static struct err *find_known(const struct controller *controller, const char *volume_id,
                              struct kube_object **ret)
{
    CLEANUP(freep) char *name = NULL;

    TRY(volume_name_of_disk(controller, volume_id, &name));
    struct kube_object *object = volume_of_name(controller, name);
    *ret = object ? kube_object_ref(object) : NULL;
    return NULL;
}

struct err *csi_find_volume(struct task *self, struct controller *controller, const char *volume_id,
                            struct kube_object **ret)
{
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;

    *ret = NULL;
    TRY(find_known(controller, volume_id, &object));
    if (!object) {
        TRY(volume_names_catch_up(self, controller, controller->kube, volume_id));
        TRY(find_known(controller, volume_id, &object));
    }
    if (object)
        TRY(csi_check_disk(controller, object, volume_id));
    *ret = TAKE_PTR(object);
    return NULL;
}

/* ---- ControllerGetCapabilities ---- */

#define RPC_TYPE(name) CSI__V1__CONTROLLER_SERVICE_CAPABILITY__RPC__TYPE__##name

/* GetSnapshot is answered, too; GET_SNAPSHOT is not claimed because csi-sanity (v5.4.0) takes a
 * capability that it does not know for a mistake. */
static const Csi__V1__ControllerServiceCapability__RPC__Type capabilities[] = {
    RPC_TYPE(CREATE_DELETE_VOLUME),   RPC_TYPE(PUBLISH_UNPUBLISH_VOLUME),
    RPC_TYPE(EXPAND_VOLUME),          RPC_TYPE(MODIFY_VOLUME),
    RPC_TYPE(LIST_VOLUMES),           RPC_TYPE(LIST_VOLUMES_PUBLISHED_NODES),
    RPC_TYPE(VOLUME_CONDITION),       RPC_TYPE(SINGLE_NODE_MULTI_WRITER),
    RPC_TYPE(CREATE_DELETE_SNAPSHOT), RPC_TYPE(LIST_SNAPSHOTS),
    RPC_TYPE(CLONE_VOLUME),           RPC_TYPE(PUBLISH_READONLY),
};

static struct err *get_capabilities(struct task *self, struct rpc_call *call, const void *request,
                                    void *ret)
{
    Csi__V1__ControllerGetCapabilitiesResponse *response = ret;

    (void)self, (void)request;
    response->capabilities = arena_alloc(call->arena, sizeof capabilities * sizeof(void *));
    for (size_t i = 0; i < COUNT_OF(capabilities); i++) {
        Csi__V1__ControllerServiceCapability *capability =
            arena_alloc(call->arena, sizeof *capability);
        Csi__V1__ControllerServiceCapability__RPC *rpc = arena_alloc(call->arena, sizeof *rpc);

        csi__v1__controller_service_capability__init(capability);
        csi__v1__controller_service_capability__rpc__init(rpc);
        rpc->type = capabilities[i];
        capability->type_case = CSI__V1__CONTROLLER_SERVICE_CAPABILITY__TYPE_RPC;
        capability->rpc = rpc;
        response->capabilities[response->n_capabilities++] = capability;
    }
    return NULL;
}

/* ---- ValidateVolumeCapabilities ---- */

struct err *csi_validate_volume_capabilities(struct task *self, struct rpc_call *call,
                                             const void *message, void *ret)
{
    const Csi__V1__ValidateVolumeCapabilitiesRequest *request = message;
    Csi__V1__ValidateVolumeCapabilitiesResponse *response = ret;
    CLEANUP(kube_object_unrefp) struct kube_object *volume = NULL;

    if (!request->volume_id[0])
        return err_new(ERR_INVALID, "volume_id is missing");
    if (request->n_volume_capabilities == 0)
        return err_new(ERR_INVALID, "volume_capabilities is missing");
    CLEANUP(err_freep)
    struct err *unknown = csi_find_volume(self, call->ctx, request->volume_id, &volume);
    if (unknown && err_kind(unknown) != ERR_INVALID)
        return TAKE_PTR(unknown);
    if (!volume)
        return err_new(ERR_NOT_FOUND, "volume %s does not exist", request->volume_id);

    CLEANUP(err_freep)
    struct err *err =
        capabilities_check(request->volume_capabilities, request->n_volume_capabilities,
                           (int)volume_max_shares(as_volume(volume)));
    if (err) {
        response->message = arena_strdup(call->arena, err_message(err));
        return NULL;
    }
    Csi__V1__ValidateVolumeCapabilitiesResponse__Confirmed *confirmed =
        arena_alloc(call->arena, sizeof *confirmed);
    csi__v1__validate_volume_capabilities_response__confirmed__init(confirmed);
    confirmed->n_volume_capabilities = request->n_volume_capabilities;
    confirmed->volume_capabilities = request->volume_capabilities;
    response->confirmed = confirmed;
    return NULL;
}

/* ---- the table ---- */

static const struct rpc_method methods[] = {
    {"CreateVolume", csi_create_volume},
    {"DeleteVolume", csi_delete_volume},
    {"ControllerPublishVolume", csi_publish_volume},
    {"ControllerUnpublishVolume", csi_unpublish_volume},
    {"ControllerExpandVolume", csi_expand_volume},
    {"ControllerModifyVolume", csi_modify_volume},
    {"ListVolumes", csi_list_volumes},
    {"CreateSnapshot", csi_create_snapshot},
    {"DeleteSnapshot", csi_delete_snapshot},
    {"ListSnapshots", csi_list_snapshots},
    {"GetSnapshot", csi_get_snapshot},
    {"ValidateVolumeCapabilities", csi_validate_volume_capabilities},
    {"ControllerGetCapabilities", get_capabilities},
};

struct rpc_service csi_controller_service(struct controller *controller)
{
    return (struct rpc_service){
        .descriptor = &csi__v1__controller__descriptor,
        .methods = methods,
        .n_methods = COUNT_OF(methods),
        .ctx = controller,
    };
}
