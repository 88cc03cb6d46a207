/* ControllerExpandVolume: the size is requested in the AzVolume, whose reconciler makes the disk
 * larger (volume/growth.h). */

#include <inttypes.h>
#include <string.h>

#include "controller/csi/existing_volume.h"
#include "controller/csi/service.h"
#include "controller/volume/growth.h"
#include "lib/api/csi.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/kube/cached_client.h"
#include "provisioner-lib/records/az_error.h"

/* ---- the request ---- */

/* By what the disk was seen to be: the class may have been changed since. */
static struct err *check_kind(struct task *self, struct cloud *cloud, const Api__AzVolume *volume,
                              int64_t gib)
{
    const struct caching_disk disk = volume_disk(volume);
    CLEANUP(volume_parameters_fini) struct volume_parameters parameters = {0};
    struct disk_limits limits;

    TRY(volume_parse_existing(volume, &parameters));
    parameters.sku = disk.sku ? disk.sku : parameters.sku;
    TRY(cloud->ops->disk_limits(self, cloud, &parameters, gib, &limits));
    if (gib > limits.most_gib)
        return err_new(ERR_OUT_OF_RANGE,
                       "volume %s: %" PRId64 " GiB is too large: a %s disk has at most %" PRId64
                       " GiB",
                       volume->metadata->name, gib, parameters.sku, limits.most_gib);
    return NULL;
}

static int64_t size_of(const Api__AzVolume *volume)
{
    return volume->status->detail->capacity__bytes;
}

static bool is_updating(const Api__AzVolume *volume)
{
    return strcmp(volume_state(volume), STATE_UPDATING) == 0 ||
           strcmp(volume_state(volume), STATE_UPDATE_FAILED) == 0;
}

/* The size first: the state alone says that it is wanted. A size that has been requested and cannot
 * be had gives way to a smaller one, as Kubernetes lets a claim's owner do. */
static struct err *request_size(struct task *self, struct controller *controller,
                                const struct kube_object *volume, int64_t gib, int64_t limit)
{
    CLEANUP(kube_object_unrefp) struct kube_object *with_size = NULL;

    if (volume_requested_gib(as_volume(volume)) == gib &&
        strcmp(volume_state(as_volume(volume)), STATE_UPDATING) == 0)
        return NULL;
    TRY(cached_patch(self, controller->kube, controller->volumes, volume,
                     if_same(volume, growth_wish_json(gib * GIB, limit)), &with_size));
    return cached_patch_status(self, controller->kube, controller->volumes, with_size,
                               if_same(with_size, growth_begin_json()), NULL);
}

/* ---- waiting ---- */

static struct err *in_vain(const struct kube_object *volume, struct err *err)
{
    return csi_waited_in_vain(
        as_volume(volume)->status->error,
        err_wrap(err, "waiting until the disk of volume %s has grown", volume->metadata->name));
}

/* One that somebody has deleted, and that was written anew, knows of no request. */
static struct err *wait_grown(struct task *self, struct rpc_call *call,
                              const struct kube_object *requested, int64_t gib,
                              struct kube_object **ret)
{
    struct controller *controller = call->ctx;
    const char *key = requested->key;

    for (;;) {
        struct kube_object *object = store_get(controller->volumes, key);

        if (!object || kube_is_deleting(object->metadata))
            return err_new(ERR_NOT_FOUND, "volume %s no longer exists", key);
        if (strcmp(object->metadata->uid, requested->metadata->uid) != 0)
            return err_new(ERR_BUSY, "AzVolume %s was deleted while its disk was to grow",
                           requested->metadata->name);
        const Api__AzVolume *volume = as_volume(object);
        CLEANUP(kube_object_unrefp) struct kube_object *seen = kube_object_ref(object);
        if (!is_updating(volume) && size_of(volume) >= gib * GIB) {
            *ret = TAKE_PTR(seen);
            return NULL;
        }
        if (strcmp(volume_state(volume), STATE_UPDATE_FAILED) == 0 && volume->status->error)
            return az_error_take(volume->status->error);
        if (size_of(volume) < gib * GIB)
            TRY(growth_check_possible(controller, object, gib));
        struct err *err = store_wait(self, controller->volumes, key, csi_wait_deadline(call));
        if (err)
            return in_vain(seen, err);
    }
}

/* ---- the call ---- */

/* A partition does not grow with its disk, and only its owner knows whether there is room. */
static struct err *check_whole_disk(const Api__AzVolume *volume)
{
    const char *partition = volume_parameter(volume, "partition");

    return partition && *partition
               ? err_new(ERR_INVALID,
                         "volume %s is partition %s of its disk, which cannot be grown through a "
                         "claim: enlarge the disk and the partition by hand; the file system "
                         "follows when the volume is staged again",
                         volume->metadata->name, partition)
               : NULL;
}

static struct err *expand(struct task *self, struct rpc_call *call,
                          const Csi__V1__ControllerExpandVolumeRequest *request, int64_t gib,
                          struct kube_object **ret)
{
    struct controller *controller = call->ctx;
    int64_t limit = request->capacity_range->limit_bytes;
    CLEANUP(kube_object_unrefp) struct kube_object *volume = NULL;

    TRY(csi_volume_to_change(self, call, request->volume_id, &volume));
    TRY(check_whole_disk(as_volume(volume)));
    int64_t has = size_of(as_volume(volume));
    if (limit && has > limit)
        return err_new(ERR_OUT_OF_RANGE,
                       "volume %s has %" PRId64 " bytes already, more than limit_bytes %" PRId64
                       ": disks cannot become smaller",
                       volume->metadata->name, has, limit);
    if (has < gib * GIB)
        TRY(check_kind(self, controller->cloud, as_volume(volume), gib));
    if (has < gib * GIB || is_updating(as_volume(volume)))
        TRY(request_size(self, controller, volume, gib, limit));
    return wait_grown(self, call, volume, gib, ret);
}

struct err *csi_expand_volume(struct task *self, struct rpc_call *call, const void *message,
                              void *ret)
{
    struct controller *controller = call->ctx;
    const Csi__V1__ControllerExpandVolumeRequest *request = message;
    Csi__V1__ControllerExpandVolumeResponse *response = ret;
    CLEANUP(kube_object_unrefp) struct kube_object *volume = NULL;
    int64_t gib;

    if (!request->volume_id[0])
        return err_new(ERR_INVALID, "volume_id is missing");
    if (!request->capacity_range)
        return err_new(ERR_INVALID, "capacity_range is missing");
    TRY(csi_size_of_range(request->capacity_range, &gib));
    CLEANUP(freep) char *operation = mem_lower(request->volume_id);
    TRY(in_flight_begin(&controller->csi_calls, operation));
    struct err *err = expand(self, call, request, gib, &volume);
    in_flight_end(&controller->csi_calls, operation);
    TRY(err);
    response->capacity_bytes = size_of(as_volume(volume));
    response->node_expansion_required = true; /* a raw device, too, is to be read anew there */
    return NULL;
}
