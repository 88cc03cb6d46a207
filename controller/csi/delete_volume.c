/* DeleteVolume: what is asked for is noted in the AzVolume, which is watched until its reconciler
 * has cleared everything away.
 *
 * That there is no AzVolume does not mean that there is no disk: somebody may have deleted it, or
 * version 1 made the disk and its claim went before this driver came. Whether there is anything to
 * delete is then asked of the cloud, and an AzVolume written anew for what is left. The disk's
 * PersistentVolume says whether it is this driver's to delete; without one its mark does, for a
 * disk of the same name may be another cluster's.
 */

#include <string.h>

#include "controller/cache/informers.h"
#include "controller/cache/volume_name.h"
#include "controller/csi/service.h"
#include "controller/volume/adoption.h"
#include "lib/api/csi.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/kube/cached_client.h"
#include "provisioner-lib/records/names.h"

/* ---- of an AzVolume ---- */

static struct err *check_unused(const struct controller *controller, const char *name)
{
    size_t n;
    struct kube_object *const *objects = attachments_of_volume(controller, name, &n);

    for (size_t i = 0; i < n; i++)
        if (attachment_wants(as_attachment(objects[i]), ROLE_PRIMARY) &&
            !kube_is_deleting(objects[i]->metadata))
            return err_new(ERR_PRECONDITION, "volume %s is still published to node %s", name,
                           as_attachment(objects[i])->spec->node_name);
    return NULL;
}

static struct err *request_deletion(struct task *self, struct controller *controller,
                                    const struct kube_object *object)
{
    json_t *changes =
        json_pack("{s:{s:s, s:n, s:{s:s}}}", "status", "state", volume_state(as_volume(object)),
                  "error", "annotation", ANNOTATION_DELETE_REQUEST, "cloud-delete-volume");

    TRY(cached_patch_status(self, controller->kube, controller->volumes, object, changes, NULL));
    if (kube_is_deleting(object->metadata))
        return NULL;
    return kube_delete(self, controller->kube, &AZ_VOLUMES, object->metadata->namespace_,
                       object->metadata->name, object->metadata->uid);
}

static const Api__AzError *deletion_failure(const struct kube_object *object)
{
    const Api__AzVolume *volume = as_volume(object);

    return strcmp(volume_state(volume), "DeletionFailed") == 0 ? volume->status->error : NULL;
}

/* `ret_gone`: there was no such AzVolume any more, and nothing is known of its disk. */
static struct err *delete_on_record(struct task *self, struct rpc_call *call,
                                    const struct kube_object *object, bool *ret_gone)
{
    struct err *err = request_deletion(self, call->ctx, object);

    *ret_gone = err && err_kind(err) == ERR_NOT_FOUND;
    if (*ret_gone) {
        err_free(err);
        return NULL;
    }
    TRY(err);
    struct controller *controller = call->ctx;
    return csi_wait_gone(self, call, controller->volumes, object, deletion_failure);
}

/* ---- of a disk without one ---- */

static bool is_deletable(const struct controller *controller, const char *id,
                         const struct disk_mark *mark)
{
    enum adoption_pv pv = adoption_pv_of(controller, id);
    CLEANUP(freep) char *origin = disk_origin_text(mark, &controller->creator);

    if (adoption_is_deletable(pv, disk_origin_of(mark, &controller->creator)))
        return true;
    if (pv == ADOPTION_NO_PV)
        log_warning(
            "disk %s is not deleted: it has neither an AzVolume nor a PersistentVolume, and %s", id,
            origin);
    else
        log_warning("disk %s is not deleted: its PersistentVolume was created by hand", id);
    return false;
}

/* Is there a disk that the driver has made? An id of which there can be no disk is of none. */
static struct err *find_disk(struct task *self, struct controller *controller, const char *id,
                             bool *ret)
{
    struct cloud *cloud = controller->cloud;
    CLEANUP(cloud_disk_fini) struct cloud_disk disk = {0};
    struct err *err = cloud->ops->disk_get(self, cloud, id, &disk);

    *ret = false;
    if (err && (err_kind(err) == ERR_NOT_FOUND || err_kind(err) == ERR_INVALID)) {
        err_free(err);
        return NULL;
    }
    TRY(err);
    TRY(informers_catch_up_pv_of_disk(self, controller, id));
    *ret = is_deletable(controller, id, &disk.mark);
    return NULL;
}

/* It lives no longer than its deletion takes: what the volume was like is no matter, and must not
 * be in the way. */
static struct err *record_disk(struct task *self, struct controller *controller, const char *id,
                               struct kube_object **ret)
{
    struct adoption adoption = {
        .volume_id = id,
        .mounted = true,
        .access_mode = CSI__V1__VOLUME_CAPABILITY__ACCESS_MODE__MODE__SINGLE_NODE_WRITER,
        .own = true,
    };
    struct err *err = adoption_write(self, controller, controller->kube, &adoption, ret);

    if (err && err_kind(err) == ERR_EXISTS) {
        err_free(err);
        return err_new(ERR_BUSY, "an AzVolume for disk %s has just been created by another request",
                       id);
    }
    TRY(err);
    events_record(controller->events, &AZ_VOLUMES, (*ret)->metadata, EVENT_NORMAL, "Adopted",
                  "Delete",
                  "This AzVolume was created to delete a volume that had none; its disk is %s", id);
    return NULL;
}

/* ---- DeleteVolume ---- */

static struct err *delete_volume(struct task *self, struct rpc_call *call, const char *volume_id)
{
    struct controller *controller = call->ctx;
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;
    CLEANUP(kube_object_unrefp) struct kube_object *anew = NULL;
    CLEANUP(freep) char *name = NULL;
    bool gone = true, is_left;

    TRY(csi_find_volume(self, controller, volume_id, &object));
    TRY(volume_name_of_disk(controller, volume_id, &name));
    TRY(check_unused(controller, name));
    if (object)
        TRY(delete_on_record(self, call, object, &gone));
    if (!gone)
        return NULL;
    TRY(find_disk(self, controller, volume_id, &is_left));
    if (!is_left)
        return NULL;
    TRY(record_disk(self, controller, volume_id, &anew));
    TRY(delete_on_record(self, call, anew, &gone));
    return gone ? err_new(ERR_BUSY, "AzVolume %s was removed before its disk was deleted", name)
                : NULL;
}

struct err *csi_delete_volume(struct task *self, struct rpc_call *call, const void *message,
                              void *ret)
{
    struct controller *controller = call->ctx;
    const Csi__V1__DeleteVolumeRequest *request = message;
    CLEANUP(freep) char *name = NULL;

    (void)ret;
    if (!request->volume_id[0])
        return err_new(ERR_INVALID, "volume_id is missing");
    struct err *err = volume_name_of_id(request->volume_id, &name);
    if (err) {
        err_free(err); /* an id that no volume of ours can have: there is nothing to delete */
        return NULL;
    }
    TRY(in_flight_begin(&controller->csi_calls, name));
    err = delete_volume(self, call, request->volume_id);
    in_flight_end(&controller->csi_calls, name);
    return err;
}
