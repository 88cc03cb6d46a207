/* ControllerUnpublishVolume: the primary AzVolumeAttachment is demoted or deleted; the reconcilers
 * do what follows. It is demoted only where its node cannot write any more (cache/volume_in_use.h):
 * else the disk is detached, and nobody becomes the primary before. */

#include <string.h>

#include "controller/attachment/publish_plan.h"
#include "controller/attachment/snapshot.h"
#include "controller/cache/node_attachment.h"
#include "controller/cache/published.h"
#include "controller/cache/volume_in_use.h"
#include "controller/cache/volume_name.h"
#include "controller/csi/attachment_requests.h"
#include "controller/csi/service.h"
#include "lib/api/azdisk.pb-c.h"
#include "lib/api/csi.pb-c.h"
#include "lib/base/alloc.h"

enum { UNPUBLISH_TRIES = 5 }; /* each after a write of the reconciler's */

/* A disk that keeps replicas stays attached, so that a node that cannot answer holds nobody up. */
static bool keeps_replicas(struct controller *controller, const Api__AzVolume *volume)
{
    return controller->settings.on_unpublish == ON_UNPUBLISH_DEMOTE && volume &&
           volume_replicas_requested(volume) > 0;
}

static const Api__AzError *detach_failure(const struct kube_object *object)
{
    const Api__AzVolumeAttachment *attachment = as_attachment(object);
    bool failed = strcmp(attachment_state(attachment), STATE_DETACHMENT_FAILED) == 0;

    return failed ? attachment->status->error : NULL;
}

/* Not by a detach: by somebody's hand, which leaves the disk attached. The next call finds out. */
static struct err *record_lost(const struct kube_object *object)
{
    return err_new(ERR_BUSY,
                   "AzVolumeAttachment %s was deleted although nothing had requested that its disk "
                   "be detached",
                   object->key);
}

static struct err *detach(struct task *self, struct rpc_call *call, struct kube_object *object)
{
    bool asked = attachment_annotation(as_attachment(object), ANNOTATION_DETACH_REQUEST) != NULL;
    struct err *err = csi_request_detach(self, call->ctx, object);

    if (err && err_kind(err) == ERR_NOT_FOUND) {
        err_free(err);
        return asked ? NULL : record_lost(object);
    }
    TRY(err);
    struct controller *controller = call->ctx;
    return csi_wait_gone(self, call, controller->attachments, object, detach_failure);
}

/* ---- the node that had it ---- */

static void tell(const struct controller *controller, const Api__AzVolume *volume, const char *node,
                 enum volume_in_use former)
{
    static const char *const why[] = {
        [VOLUME_IN_USE_MOUNTED] =
            "still reports the volume as mounted (status.volumesInUse) and may write to it. With "
            "the taint node.kubernetes.io/out-of-service on the node, the disk would have stayed "
            "attached",
        [VOLUME_IN_USE_JOB] =
            "may still be formatting, checking or mounting the disk (" ANNOTATION_RUNNING_JOB
            " in the status of its AzVolumeAttachment)",
        [VOLUME_IN_USE_NO_NODE] =
            "has been removed from the cluster, but its VM may still be running",
    };

    events_record(
        controller->events, &AZ_VOLUMES, volume->metadata, EVENT_WARNING, "DetachedFromFormerNode",
        "Unpublish",
        "The disk is being detached from node %s before another node may use it: the node %s", node,
        why[former]);
}

/* Whether the disk stays with the node, as a replica. */
static struct err *may_stay(struct task *self, struct controller *controller,
                            const Api__AzVolume *volume, const char *volume_id, const char *node,
                            bool *ret)
{
    enum volume_in_use former;

    *ret = false;
    if (!keeps_replicas(controller, volume))
        return NULL;
    TRY(volume_in_use_read(self, controller, node, volume->metadata->name, volume_id, &former));
    *ret = former == VOLUME_NOT_IN_USE;
    if (!*ret)
        tell(controller, volume, node, former);
    return NULL;
}

/* ---- unpublishing ---- */

/* Nothing to do, says the cache, which may be behind. NULL in `io` if it is gone by now. */
static struct err *read_again(struct task *self, struct controller *controller,
                              struct kube_object **io)
{
    CLEANUP(kube_object_unrefp) struct kube_object *old = *io;
    const Api__AzVolumeAttachmentSpec *spec = as_attachment(old)->spec;

    *io = NULL;
    if (!spec || !spec->volume_name || !spec->node_name)
        return NULL; /* it makes no sense, and nothing is done with it */
    return node_attachment_read(self, controller, spec->volume_name, spec->node_name, io);
}

/* A replica is treated like the primary that recovery may be about to make of it: thereafter it is
 * on record that it was unpublished, and who looked at it before cannot promote it. `ret_again`:
 * somebody has written to it since it was seen so. */
static struct err *unpublish_as_seen(struct task *self, struct rpc_call *call,
                                     const Api__AzVolume *volume, const char *volume_id,
                                     struct kube_object *object, bool *ret_again)
{
    struct controller *controller = call->ctx;
    bool keeps = keeps_replicas(controller, volume);
    enum attachment_phase phase = attachment_phase_of(controller, object);
    enum attachment_answer answer = unpublish_decide(phase, keeps);

    *ret_again = false;
    if (answer == ANSWER_NOTHING)
        return NULL; /* gone, or on its way to be a replica, by an earlier call */
    if (answer == ANSWER_DEMOTE) {
        TRY(may_stay(self, controller, volume, volume_id, as_attachment(object)->spec->node_name,
                     &keeps));
        answer = unpublish_decide(phase, keeps);
    }
    if (answer != ANSWER_DEMOTE)
        return detach(self, call, object);
    struct err *err = csi_change_purpose(self, controller, object, for_replica(), NULL);
    *ret_again = err && err_kind(err) == ERR_CONFLICT;
    return err;
}

static struct err *unpublish(struct task *self, struct rpc_call *call, const Api__AzVolume *volume,
                             const char *volume_id, struct kube_object *found)
{
    struct controller *controller = call->ctx;
    CLEANUP(kube_object_unrefp) struct kube_object *object = kube_object_ref(found);
    bool keeps = keeps_replicas(controller, volume), again;

    if (unpublish_decide(attachment_phase_of(controller, object), keeps) == ANSWER_NOTHING)
        TRY(read_again(self, controller, &object));
    for (int tries = 0;; tries++) {
        struct err *err = unpublish_as_seen(self, call, volume, volume_id, object, &again);

        if (!again || tries == UNPUBLISH_TRIES)
            return err;
        err_free(err);
        TRY(read_again(self, controller, &object));
        if (!object)
            return record_lost(found);
    }
}

/* Without a node the volume is unpublished from all. */
static struct err *unpublish_all(struct task *self, struct rpc_call *call, const char *volume_id,
                                 const struct kube_object *volume)
{
    struct controller *controller = call->ctx;
    struct kube_object **all = NULL;
    size_t n, n_all = 0;
    struct kube_object *const *objects =
        attachments_of_volume(controller, volume->metadata->name, &n);
    struct err *err = NULL;

    for (size_t i = 0; i < n; i++)
        ARRAY_ADD(all, n_all) = kube_object_ref(objects[i]);
    for (size_t i = 0; i < n_all; i++) {
        if (!err)
            err = unpublish(self, call, as_volume(volume), volume_id, all[i]);
        kube_object_unref(all[i]);
    }
    free(all);
    return err;
}

/* A disk that does not exist is on no node. */
static struct err *check_disk_is_gone(struct task *self, struct controller *controller,
                                      const char *name, const char *volume_id, const char *node)
{
    CLEANUP(cloud_disk_fini) struct cloud_disk unused = {0};
    struct err *err = controller->cloud->ops->disk_get(self, controller->cloud, volume_id, &unused);

    if (err && err_kind(err) == ERR_NOT_FOUND) {
        err_free(err);
        return NULL;
    }
    TRY(err);
    return err_new(
        ERR_UNAVAILABLE,
        "volume %s is attached to node %s but not on record yet; the controller will record it",
        name, node);
}

/* Published, or on its way there, and the record is lost or was never ours. What goes on record is
 * a replica: it is detached if it is attached, and never attached if it is not. */
static struct err *unpublish_unrecorded(struct task *self, struct rpc_call *call, const char *name,
                                        const char *volume_id, const struct kube_object *volume,
                                        const char *node)
{
    struct controller *controller = call->ctx;
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;
    bool stays;

    if (!volume || !volume_is_created(as_volume(volume)))
        return check_disk_is_gone(self, controller, name, volume_id, node);
    TRY(may_stay(self, controller, as_volume(volume), volume_id, node, &stays));
    TRY(node_attachment_create(self, controller, controller->kube, as_volume(volume), node,
                               for_replica(), &object));
    return stays ? NULL : detach(self, call, object);
}

/* Of a publish that was never answered, the record may have been deleted when Azure was at the
 * attach already. Then nobody but the attach knows of the disk on that node. */
static bool may_be_unrecorded(const struct controller *controller, const char *name,
                              const struct kube_object *volume, const char *node)
{
    if (kubernetes_has_on_node(controller, name, node))
        return true;
    return volume && volume_is_created(as_volume(volume)) &&
           kubernetes_has_asked_for(controller, name, node);
}

static struct err *unpublish_from(struct task *self, struct rpc_call *call, const char *name,
                                  const Csi__V1__ControllerUnpublishVolumeRequest *request,
                                  const struct kube_object *volume)
{
    const char *node = request->node_id, *id = request->volume_id;
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;

    if (!node[0])
        return volume ? unpublish_all(self, call, id, volume) : NULL;
    TRY(csi_find_attachment(self, call->ctx, name, node, &object));
    if (object)
        return unpublish(self, call, volume ? as_volume(volume) : NULL, id, object);
    return may_be_unrecorded(call->ctx, name, volume, node)
               ? unpublish_unrecorded(self, call, name, id, volume, node)
               : NULL;
}

struct err *csi_unpublish_volume(struct task *self, struct rpc_call *call, const void *message,
                                 void *ret)
{
    struct controller *controller = call->ctx;
    const Csi__V1__ControllerUnpublishVolumeRequest *request = message;
    CLEANUP(kube_object_unrefp) struct kube_object *volume = NULL;
    CLEANUP(freep) char *name = NULL;

    (void)ret;
    if (!request->volume_id[0])
        return err_new(ERR_INVALID, "volume_id is missing");
    struct err *err = csi_find_volume(self, controller, request->volume_id, &volume);
    if (err && (err_kind(err) == ERR_INVALID || err_kind(err) == ERR_PRECONDITION)) {
        err_free(err); /* what cannot be published is not: no id of a disk, or of another record */
        return NULL;
    }
    TRY(err);
    TRY(volume_name_of_disk(controller, request->volume_id, &name));
    CLEANUP(freep) char *id = csi_operation_id(request->volume_id, request->node_id);
    TRY(in_flight_begin(&controller->csi_calls, id));
    err = unpublish_from(self, call, name, request, volume);
    in_flight_end(&controller->csi_calls, id);
    return err;
}
