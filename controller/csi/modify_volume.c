/* ControllerModifyVolume: the parameters of a VolumeAttributesClass are requested in the AzVolume,
 * whose reconciler modifies the disk (volume/modification.h). */

#include <string.h>

#include "controller/csi/existing_volume.h"
#include "controller/csi/service.h"
#include "controller/volume/modification.h"
#include "lib/api/csi.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/kube/cached_client.h"
#include "provisioner-lib/records/az_error.h"

/* ---- the request ---- */

/* What its StorageClass asks for must stay possible, or it is attached never again. */
static struct err *check_accelerator(const Api__AzVolume *volume, const struct cloud_disk *disk,
                                     const char *sku)
{
    CLEANUP(volume_parameters_fini) struct volume_parameters has = {0};

    TRY(volume_parse_existing(volume, &has));
    const char *obstacle = volume_parameters_accelerator_obstacle(
        &has, &(struct caching_disk){sku, disk->max_shares, 0});

    return obstacle ? err_new(ERR_INVALID,
                              "parameter skuName: the volume has writeAcceleratorEnabled, which is "
                              "not possible with %s",
                              obstacle)
                    : NULL;
}

/* The disk says what it is: records may be behind, and Azure counts changes. */
static struct err *check_kind(struct task *self, struct cloud *cloud, const Api__AzVolume *volume,
                              const struct volume_parameters *wanted)
{
    CLEANUP(cloud_disk_fini) struct cloud_disk disk = {0};
    struct disk_limits limits;

    TRY(cloud->ops->disk_get(self, cloud, volume->status->detail->volume__id, &disk));
    struct volume_parameters kind = {.sku = wanted->sku ? wanted->sku : disk.sku,
                                     .location = disk.region};
    TRY(check_accelerator(volume, &disk, kind.sku));
    TRY(cloud->ops->disk_limits(self, cloud, &kind, disk.size_bytes / GIB, &limits));
    return modification_check(&disk, wanted, &limits);
}

static bool is_requested(const Api__AzVolume *volume, const struct parameter *list, size_t n)
{
    const Api__AzVolumeSpec *spec = volume->spec;
    CLEANUP(freep)
    struct parameter *has = PARAMETER_LIST(spec->mutable_parameters, spec->n_mutable_parameters);

    return n == spec->n_mutable_parameters && parameters_include(has, n, list, n);
}

/* A wish that is taken back may have been carried out without being on record yet: then the disk
 * does not have any longer what it had before. */
static struct err *forget_what_it_had(struct task *self, struct controller *controller,
                                      const struct kube_object *volume,
                                      const struct parameter *list, size_t n)
{
    if (!volume_was_seen_with(as_volume(volume), list, n))
        return NULL;
    return cached_patch_status(self, controller->kube, controller->volumes, volume,
                               if_same(volume, modification_unknown_json()), NULL);
}

/* First the parameters, then that they are to be tried: a refusal that is on record is of those
 * before. */
static struct err *request_parameters(struct task *self, struct controller *controller,
                                      const struct kube_object *volume,
                                      const struct parameter *list, size_t n)
{
    CLEANUP(kube_object_unrefp) struct kube_object *written = NULL;

    if (!is_requested(as_volume(volume), list, n)) {
        TRY(forget_what_it_had(self, controller, volume, list, n));
        TRY(cached_patch(self, controller->kube, controller->volumes, volume,
                         if_same(volume, modification_wish_json(as_volume(volume), list, n)),
                         &written));
        TRY(modification_check_kept(as_volume(written)));
        volume = written;
    }
    if (!as_volume(volume)->status->modify_error)
        return NULL;
    return cached_patch_status(self, controller->kube, controller->volumes, volume,
                               if_same(volume, modification_begin_json()), NULL);
}

/* ---- waiting ---- */

/* What its last trouble was, or how far it is. */
static struct err *in_vain(const struct kube_object *volume, struct err *err)
{
    int percent = volume_percent(as_volume(volume));

    if (err_kind(err) == ERR_TIMEOUT && percent < 100) {
        err_free(err);
        return err_new(ERR_TIMEOUT,
                       "Azure is still converting the disk of volume %s, or copying its data; %d "
                       "%% is done",
                       volume->metadata->name, percent);
    }
    return csi_waited_in_vain(as_volume(volume)->status->error,
                              err_wrap(err, "waiting until the disk of volume %s has been modified",
                                       volume->metadata->name));
}

/* One that somebody has deleted, and that was written anew, knows of no request. */
static struct err *wait_modified(struct task *self, struct rpc_call *call,
                                 const struct kube_object *requested)
{
    struct controller *controller = call->ctx;
    const char *key = requested->key;

    for (;;) {
        struct kube_object *object = store_get(controller->volumes, key);

        if (!object || kube_is_deleting(object->metadata))
            return err_new(ERR_NOT_FOUND, "volume %s no longer exists", key);
        if (strcmp(object->metadata->uid, requested->metadata->uid) != 0)
            return err_new(ERR_BUSY, "AzVolume %s was deleted while its disk was to be modified",
                           requested->metadata->name);
        if (as_volume(object)->status->modify_error)
            return az_error_take(as_volume(object)->status->modify_error);
        if (!volume_is_modifying(as_volume(object)))
            return NULL;
        TRY(modification_check_possible(controller, object));
        CLEANUP(kube_object_unrefp) struct kube_object *seen = kube_object_ref(object);
        struct err *err = store_wait(self, controller->volumes, key, csi_wait_deadline(call));
        if (err)
            return in_vain(seen, err);
    }
}

/* ---- the call ---- */

static struct err *modify(struct task *self, struct rpc_call *call, const char *volume_id,
                          const struct parameter *list, size_t n)
{
    struct controller *controller = call->ctx;
    CLEANUP(volume_parameters_fini) struct volume_parameters wanted = {0};
    CLEANUP(kube_object_unrefp) struct kube_object *volume = NULL;

    TRY(volume_parameters_parse_mutable(list, n, &wanted));
    TRY(csi_volume_to_change(self, call, volume_id, &volume));
    TRY(check_kind(self, controller->cloud, as_volume(volume), &wanted));
    TRY(request_parameters(self, controller, volume, list, n));
    return wait_modified(self, call, volume);
}

struct err *csi_modify_volume(struct task *self, struct rpc_call *call, const void *message,
                              void *ret)
{
    struct controller *controller = call->ctx;
    const Csi__V1__ControllerModifyVolumeRequest *request = message;
    size_t n = request->n_mutable_parameters;

    (void)ret;
    if (!request->volume_id[0])
        return err_new(ERR_INVALID, "volume_id is missing");
    if (n == 0)
        return err_new(ERR_INVALID, "mutable_parameters is missing");
    CLEANUP(freep) struct parameter *list = PARAMETER_LIST(request->mutable_parameters, n);
    CLEANUP(freep) char *operation = mem_lower(request->volume_id);
    TRY(in_flight_begin(&controller->csi_calls, operation));
    struct err *err = modify(self, call, request->volume_id, list, n);
    in_flight_end(&controller->csi_calls, operation);
    return err;
}
