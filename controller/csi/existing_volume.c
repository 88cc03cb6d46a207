#include "controller/csi/existing_volume.h"

#include <string.h>

#include "controller/cache/disk_pv.h"
#include "controller/cache/informers.h"
#include "controller/cache/volume_name.h"
#include "controller/csi/service.h"
#include "controller/volume/adoption.h"
#include "lib/base/alloc.h"
#include "lib/base/timestamp.h"
#include "lib/kube/cached_client.h"
#include "provisioner-lib/records/az_error.h"

/* How long to wait for a disk to be looked at. */
enum { LOOK_MS = 30 * 1000, REQUEST_TRIES = 5 /* each after somebody else's write */ };

/* ---- a volume that the driver has not seen ---- */

/* What came of writing an AzVolume. If somebody else has just written one, it may be of another
 * disk of the same name. */
static struct err *written(struct task *self, struct controller *controller, const char *volume_id,
                           struct err *err, struct kube_object **ret)
{
    if (!err || err_kind(err) != ERR_EXISTS)
        return err;
    err_free(err);
    TRY(csi_find_volume(self, controller, volume_id, ret));
    return *ret ? NULL
                : err_new(ERR_BUSY,
                          "an AzVolume has just been written for another disk of the "
                          "name of %s",
                          volume_id);
}

/* A PersistentVolume made by hand has no AzVolume yet. One is written from what the caller says of
 * it; its reconciler looks at the disk. */
static struct err *adopt(struct task *self, struct controller *controller,
                         const Csi__V1__ControllerPublishVolumeRequest *request,
                         struct kube_object **ret)
{
    const Csi__V1__VolumeCapability *capability = request->volume_capability;
    CLEANUP(freep)
    struct parameter *list = PARAMETER_LIST(request->volume_context, request->n_volume_context);
    bool mounted = capability->access_type_case == CSI__V1__VOLUME_CAPABILITY__ACCESS_TYPE_MOUNT;

    /* Whether its disk is ever deleted depends on that: it must not be that of a late watch. */
    TRY(informers_catch_up_pv_of_disk(self, controller, request->volume_id));
    struct err *err =
        adoption_write(self, controller, controller->kube,
                       &(struct adoption){.volume_id = request->volume_id,
                                          .parameters = list,
                                          .n_parameters = request->n_volume_context,
                                          .mounted = mounted,
                                          .access_mode = (int)capability->access_mode->mode},
                       ret);
    return written(self, controller, request->volume_id, err, ret);
}

/* ---- one whose disk is to be looked at again ---- */

/* A disk that was not there, or could not be read, may be by now; and one that is attached nowhere
 * may have been made anew, or changed. */
static bool is_to_be_looked_at(const struct controller *controller,
                               const struct kube_object *object)
{
    const Api__AzVolume *volume = as_volume(object);
    size_t n;

    if (!adoption_is_of(volume) || volume_annotation(volume, ANNOTATION_LOOK_REQUEST))
        return false;
    attachments_of_volume(controller, object->metadata->name, &n);
    return volume_is_created(volume) ? n == 0 : volume->status && volume->status->error;
}

static struct err *request_once(struct task *self, struct controller *controller,
                                struct kube_object **io)
{
    CLEANUP(kube_object_unrefp) struct kube_object *written = NULL;
    char now[TIMESTAMP_SIZE];

    timestamp_format(loop_wall_us(controller->loop), now);
    json_t *changes = json_pack("{s:{s:n, s:{s:s}}}", "status", "error", "annotation",
                                ANNOTATION_LOOK_REQUEST, now);
    TRY(cached_patch_status(self, controller->kube, controller->volumes, *io,
                            if_unchanged(*io, changes), &written));
    kube_object_unref(*io);
    *io = TAKE_PTR(written);
    return NULL;
}

static struct err *read_again(struct task *self, struct controller *controller,
                              struct kube_object **io)
{
    CLEANUP(kube_object_unrefp) struct kube_object *now = NULL;

    TRY(cached_get(self, controller->kube, controller->volumes, (*io)->metadata->namespace_,
                   (*io)->metadata->name, &now));
    kube_object_unref(*io);
    *io = TAKE_PTR(now);
    return NULL;
}

static struct err *request_look(struct task *self, struct controller *controller,
                                struct kube_object **io)
{
    struct err *err = NULL;

    for (int i = 0; i < REQUEST_TRIES && is_to_be_looked_at(controller, *io); i++) {
        err_free(err);
        err = request_once(self, controller, io);
        if (!err || err_kind(err) != ERR_CONFLICT)
            return err;
        TRY(read_again(self, controller, io));
    }
    return err;
}

/* ---- waiting ---- */

static struct err *not_looked_at_yet(const struct kube_object *object, struct err *wait_err)
{
    const Api__AzVolumeStatus *status = as_volume(object)->status;

    if (err_kind(wait_err) != ERR_TIMEOUT || !status || !status->error)
        return err_wrap(wait_err, "waiting until the controller has read the disk of volume %s",
                        object->metadata->name);
    err_free(wait_err);
    return az_error_take(status->error);
}

static struct err *wait_looked_at(struct task *self, struct rpc_call *call, struct kube_object **io)
{
    struct controller *controller = call->ctx;
    CLEANUP(freep) char *key = mem_strdup((*io)->key);
    uint64_t deadline = loop_now(controller->loop) + LOOK_MS;
    bool is_looked_at = volume_annotation(as_volume(*io), ANNOTATION_LOOK_REQUEST) != NULL;

    if (deadline > csi_wait_deadline(call))
        deadline = csi_wait_deadline(call);
    for (;;) {
        struct kube_object *object = store_get(controller->volumes, key);

        if (!object)
            return err_new(ERR_NOT_FOUND, "volume %s no longer exists", key);
        kube_object_unref(*io);
        *io = kube_object_ref(object);
        if (kube_is_deleting(object->metadata))
            return err_new(ERR_PRECONDITION, "volume %s is being deleted", key);
        const Api__AzVolume *volume = as_volume(object);
        bool pending = volume_annotation(volume, ANNOTATION_LOOK_REQUEST) != NULL;
        bool created = volume_is_created(volume);
        /* Of one that is not looked at now it is about something else. */
        if (!pending && (is_looked_at || !created) && volume->status && volume->status->error)
            return az_error_take(volume->status->error);
        if (!pending && created)
            return NULL;
        struct err *err = store_wait(self, controller->volumes, key, deadline);
        if (err)
            return not_looked_at_yet(*io, err);
    }
}

/* ---- the volume ---- */

/* Two records of one disk would be two that decide who may write to it. */
static struct err *check_only_record(const struct controller *controller,
                                     const struct kube_object *object, const char *volume_id)
{
    size_t n;
    struct kube_object *const *volumes = volumes_of_disk(controller, volume_id, &n);

    for (size_t i = 0; i < n; i++)
        if (strcmp(volumes[i]->metadata->name, object->metadata->name) != 0)
            return err_new(
                ERR_PRECONDITION,
                "disk %s has two AzVolumes, %s and %s, so it cannot be used: delete one of them, "
                "which does not delete the disk",
                volume_id, object->metadata->name, volumes[i]->metadata->name);
    return NULL;
}

struct err *csi_volume_to_publish(struct task *self, struct rpc_call *call,
                                  const Csi__V1__ControllerPublishVolumeRequest *request,
                                  struct kube_object **ret)
{
    struct controller *controller = call->ctx;
    CLEANUP(kube_object_unrefp) struct kube_object *volume = NULL;
    struct err *err = csi_find_volume(self, controller, request->volume_id, &volume);

    if (err && err_kind(err) == ERR_INVALID) {
        err_free(err);
        return err_new(ERR_NOT_FOUND, "volume %s does not exist", request->volume_id);
    }
    TRY(err);
    if (!volume)
        TRY(adopt(self, controller, request, &volume));
    TRY(request_look(self, controller, &volume));
    TRY(wait_looked_at(self, call, &volume));
    TRY(csi_check_disk(controller, volume, request->volume_id));
    TRY(check_only_record(controller, volume, request->volume_id));
    *ret = TAKE_PTR(volume);
    return NULL;
}

/* ---- one whose disk is to be changed ---- */

/* A volume that version 1 of the driver made, or somebody by hand, and that has not been published
 * since, has no AzVolume yet. */
static struct err *adopt_by_pv(struct task *self, struct controller *controller,
                               const char *volume_id, struct kube_object **ret)
{
    TRY(informers_catch_up_pv_of_disk(self, controller, volume_id));
    struct kube_object *found = pv_of_disk(controller, volume_id, NULL);
    if (!found)
        return err_new(ERR_NOT_FOUND, "volume %s does not exist", volume_id);
    CLEANUP(kube_object_unrefp) struct kube_object *pv = kube_object_ref(found);
    struct adoption adoption = adoption_of_pv(KUBE_AS(Api__PersistentVolume, pv)->spec);
    struct err *err = adoption_write(self, controller, controller->kube, &adoption, ret);
    free(adoption.parameters);
    return written(self, controller, volume_id, err, ret);
}

static struct err *find_or_adopt(struct task *self, struct controller *controller,
                                 const char *volume_id, struct kube_object **ret)
{
    struct err *err = csi_find_volume(self, controller, volume_id, ret);

    if (err && err_kind(err) == ERR_INVALID) {
        err_free(err);
        return err_new(ERR_NOT_FOUND, "volume %s does not exist", volume_id);
    }
    if (!err && !*ret)
        err = adopt_by_pv(self, controller, volume_id, ret);
    if (!err && kube_is_deleting((*ret)->metadata))
        return err_new(ERR_PRECONDITION, "volume %s is being deleted", volume_id);
    return err;
}

static struct err *wait_created(struct task *self, struct rpc_call *call, struct kube_object **io)
{
    struct controller *controller = call->ctx;
    CLEANUP(freep) char *key = mem_strdup((*io)->key);

    while (!volume_is_created(as_volume(*io))) {
        struct kube_object *now;

        TRY(store_wait(self, controller->volumes, key, csi_wait_deadline(call)));
        now = store_get(controller->volumes, key);
        if (!now)
            return err_new(ERR_NOT_FOUND, "volume %s no longer exists", key);
        kube_object_unref(*io);
        *io = kube_object_ref(now);
    }
    return NULL;
}

struct err *csi_volume_to_change(struct task *self, struct rpc_call *call, const char *volume_id,
                                 struct kube_object **ret)
{
    CLEANUP(kube_object_unrefp) struct kube_object *volume = NULL;

    TRY(find_or_adopt(self, call->ctx, volume_id, &volume));
    TRY(wait_created(self, call, &volume));
    TRY(csi_check_disk(call->ctx, volume, volume_id));
    TRY(check_only_record(call->ctx, volume, volume_id));
    *ret = TAKE_PTR(volume);
    return NULL;
}
