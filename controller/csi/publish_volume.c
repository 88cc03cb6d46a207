/* ControllerPublishVolume: writes the primary AzVolumeAttachment, or makes an existing one primary;
 * the reconcilers do the rest. */

#include <stdlib.h>
#include <string.h>

#include "controller/attachment/publish_plan.h"
#include "controller/attachment/snapshot.h"
#include "controller/cache/node_attachment.h"
#include "controller/cache/published.h"
#include "controller/csi/attachment_requests.h"
#include "controller/csi/existing_volume.h"
#include "controller/csi/service.h"
#include "lib/api/azdisk.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "provisioner-lib/records/access_mode.h"
#include "provisioner-lib/records/az_error.h"
#include "provisioner-lib/records/names.h"

static const Api__AzVolumeAttachmentDetail *detail_of(const Api__AzVolumeAttachment *attachment)
{
    return attachment->status ? attachment->status->detail : NULL;
}

static bool is_on_node(const Api__AzVolumeAttachment *attachment, const char *node)
{
    return attachment->spec && attachment->spec->node_name &&
           strcmp(attachment->spec->node_name, node) == 0;
}

/* ---- ControllerPublishVolume ---- */

static struct err *check_node(struct task *self, struct controller *controller, const char *node)
{
    CLEANUP(freep) char *key = kube_key(controller->settings.namespace_, node);

    if (store_get(controller->driver_nodes, key))
        return NULL;
    struct err *err = kube_get(self, controller->kube, &AZ_DRIVER_NODES,
                               controller->settings.namespace_, node, NULL);
    if (!err || err_kind(err) != ERR_NOT_FOUND)
        return err;
    err_free(err);
    return err_new(ERR_NOT_FOUND,
                   "the driver is not running on node %s (the node has no AzDriverNode)", node);
}

/* ---- how far it is ---- */

/* Has the attachment got as far as the caller has to wait for? If two are published at once, only
 * the one that the leader has recorded as the primary has. */
static bool is_far_enough(const struct controller *controller, const struct kube_object *object)
{
    const Api__AzVolumeAttachmentDetail *detail = detail_of(as_attachment(object));
    bool on_record = attachment_standing_of(controller, object).on_record;

    switch ((enum publish_wait)controller->settings.publish_wait) {
    case PUBLISH_WAIT_CREATED:
        return true;
    case PUBLISH_WAIT_LUN:
        return on_record && detail->n_publish__context > 0;
    case PUBLISH_WAIT_ATTACHED:
        return on_record && strcmp(attachment_state(as_attachment(object)), STATE_ATTACHED) == 0;
    }
    return true;
}

static bool is_unpublished(const struct kube_object *object)
{
    return kube_is_deleting(object->metadata) ||
           !attachment_wants(as_attachment(object), ROLE_PRIMARY);
}

bool csi_is_published(const struct controller *controller, const struct kube_object *attachment)
{
    return !is_unpublished(attachment) && is_far_enough(controller, attachment);
}

/* ---- one writer ---- */

/* By the cache. `ret_holder`: with ANSWER_REFUSE, the node that has the volume; borrowed. */
static struct publish_plan decide(const struct controller *controller, const Api__AzVolume *volume,
                                  const struct kube_object *here, const char *node,
                                  const char **ret_holder)
{
    size_t n;
    struct kube_object *const *objects =
        attachments_of_volume(controller, volume->metadata->name, &n);
    CLEANUP(freep) struct publish_standing *elsewhere = mem_alloc((n + 1) * sizeof *elsewhere);
    CLEANUP(freep) const char **nodes = mem_alloc((n + 1) * sizeof *nodes);
    const char *off_record = kubernetes_has_off_record(controller, volume->metadata->name, node);
    struct publish_snapshot in = {.here = attachment_standing_of(controller, here),
                                  .elsewhere = elsewhere,
                                  .single_writer = !volume_is_multi_node(volume)};

    for (size_t i = 0; i < n; i++) {
        if (is_on_node(as_attachment(objects[i]), node))
            continue;
        elsewhere[in.n_elsewhere] = attachment_standing_of(controller, objects[i]);
        nodes[in.n_elsewhere++] = as_attachment(objects[i])->spec->node_name;
    }
    if (off_record) {
        elsewhere[in.n_elsewhere] =
            (struct publish_standing){.phase = PHASE_DELETED_WHILE_PUBLISHED};
        nodes[in.n_elsewhere++] = off_record;
    }
    struct publish_plan plan = publish_decide(&in);
    *ret_holder = plan.answer == ANSWER_REFUSE ? nodes[plan.holder] : NULL;
    return plan;
}

static struct err *refuse(struct task *self, struct controller *controller,
                          const Api__AzVolume *volume, const struct kube_object *here,
                          const struct publish_plan *plan, const char *holder)
{
    struct err *refusal = err_new(ERR_PRECONDITION,
                                  "volume %s is published to node %s; it must be unpublished there "
                                  "first",
                                  volume->metadata->name, holder);
    struct err *err =
        plan->gives_back ? csi_change_purpose(self, controller, here, for_replica(), NULL) : NULL;

    if (!err)
        return refusal;
    err_free(refusal);
    return err; /* the next call gives the role back */
}

/* ---- read-only or for writing ---- */

static const char *word_for(bool read_only)
{
    return read_only ? "read-only" : "for writing";
}

static struct err *other_access(const Api__AzVolume *volume, const char *node, bool recorded)
{
    return err_new(ERR_EXISTS,
                   "volume %s is published to node %s %s; it must be unpublished there before it "
                   "is published %s",
                   volume->metadata->name, node, word_for(recorded), word_for(!recorded));
}

/* An API server with an older definition drops the field. */
static struct err *check_kept(const struct kube_object *written, bool read_only)
{
    if (attachment_is_read_only(as_attachment(written)) == read_only)
        return NULL;
    return err_new(ERR_PRECONDITION,
                   "AzVolumeAttachment %s does not keep spec.readOnly: update the custom resource "
                   "definitions (kubectl apply -f crds/)",
                   written->metadata->name);
}

/* It is published here already. An attempt that has failed may be due again only in minutes, but
 * somebody waits for it now. */
static struct err *settle_access(struct task *self, struct controller *controller,
                                 const Api__AzVolume *volume, const char *node, bool read_only,
                                 struct kube_object *object, struct kube_object **ret)
{
    bool recorded = attachment_is_read_only(as_attachment(object));

    switch (publish_access_decide(recorded, read_only, csi_is_published(controller, object))) {
    case ACCESS_AGREES:
        return csi_request_attempt(self, controller, object, ret);
    case ACCESS_CHANGE:
        return csi_change_purpose(self, controller, object, for_publish(read_only), ret);
    case ACCESS_CONFLICT:
        return other_access(volume, node, recorded);
    }
    abort();
}

/* ---- writing ---- */

/* `ret`: the attachment, as the API server has it now. `ret_promoted`: it was a replica. */
static struct err *write_purpose(struct task *self, struct controller *controller,
                                 const Api__AzVolume *volume, const char *node, bool read_only,
                                 struct kube_object **ret, bool *ret_promoted)
{
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;
    const char *name = volume->metadata->name, *holder;

    TRY(csi_find_attachment(self, controller, name, node, &object));
    struct publish_plan plan = decide(controller, volume, object, node, &holder);
    if (plan.answer == ANSWER_WAIT) { /* by the cache: it may have been unpublished since */
        kube_object_unref(TAKE_PTR(object));
        TRY(node_attachment_read(self, controller, name, node, &object));
        plan = decide(controller, volume, object, node, &holder);
    }
    *ret_promoted = plan.answer == ANSWER_PROMOTE;
    switch (plan.answer) {
    case ANSWER_CREATE:
        return node_attachment_create(self, controller, controller->kube, volume, node,
                                      for_publish(read_only), ret);
    case ANSWER_PROMOTE:
        return csi_change_purpose(self, controller, object, for_publish(read_only), ret);
    case ANSWER_REFUSE: /* a disk has one writer */
        return refuse(self, controller, volume, object, &plan, holder);
    case ANSWER_BUSY:
        return err_new(ERR_BUSY, "the attachment of volume %s to node %s is still being deleted",
                       name, node);
    default:
        return settle_access(self, controller, volume, node, read_only, object, ret);
    }
}

/* An attachment that must not stay as it is: one that was refused for lack of room must not take
 * the next free slot on its own, as the caller may have given up, and need not unpublish it. */
static void withdraw(struct task *self, struct controller *controller, const char *volume,
                     const char *node)
{
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;
    CLEANUP(err_freep)
    struct err *err = csi_find_attachment(self, controller, volume, node, &object);

    if (!err && object)
        err = csi_request_detach(self, controller, object);
    if (err)
        log_warning("withdrawing the attachment of volume %s to node %s failed: %s", volume, node,
                    err_message(err));
}

/* `ret_promoted`: what was a replica, as it was written; NULL if it was none. */
static struct err *write_primary(struct task *self, struct controller *controller,
                                 const Api__AzVolume *volume, const char *node, bool read_only,
                                 struct kube_object **ret_promoted)
{
    CLEANUP(kube_object_unrefp) struct kube_object *written = NULL;
    bool promoted;

    TRY(write_purpose(self, controller, volume, node, read_only, &written, &promoted));
    *ret_promoted = promoted ? kube_object_ref(written) : NULL;
    struct err *err = check_kept(written, read_only);
    if (err)
        withdraw(self, controller, volume->metadata->name, node);
    return err;
}

/* ---- waiting ---- */

static struct err *wait_published(struct task *self, struct rpc_call *call,
                                  const Api__AzVolume *volume, const char *node,
                                  const struct kube_object *promoted, struct kube_object **ret)
{
    struct controller *controller = call->ctx;

    for (;;) {
        struct kube_object *object = node_attachment(controller, volume->metadata->name, node);

        if (!object || is_unpublished(object))
            return err_new(ERR_BUSY, "volume %s was unpublished from node %s in the meantime",
                           volume->metadata->name, node);
        const Api__AzVolumeAttachment *attachment = as_attachment(object);
        CLEANUP(kube_object_unrefp) struct kube_object *seen = kube_object_ref(object);
        if (is_far_enough(controller, object)) {
            *ret = TAKE_PTR(seen);
            return NULL;
        }
        const Api__AzError *failure =
            publish_failure(attachment, promoted ? as_attachment(promoted) : NULL);
        if (failure)
            return az_error_take(failure);
        const char *holder;
        struct publish_plan plan = decide(controller, volume, seen, node, &holder);
        if (plan.gives_back)
            return refuse(self, controller, volume, seen, &plan, holder);
        struct err *err = store_wait_found(self, controller->attachments_by_volume,
                                           volume->metadata->name, csi_wait_deadline(call));
        if (err && err_kind(err) == ERR_TIMEOUT && attachment->status &&
            attachment->status->error) {
            err_free(err);
            return az_error_take(attachment->status->error);
        }
        if (err)
            return err_wrap(err,
                            "volume %s on node %s is in state \"%s\" and %s the primary on record",
                            volume->metadata->name, node, attachment_state(attachment),
                            attachment_standing_of(controller, seen).on_record ? "is" : "not yet");
    }
}

static void answer_context(struct arena *arena, const Api__AzVolumeAttachment *attachment,
                           Csi__V1__ControllerPublishVolumeResponse *response)
{
    const Api__AzVolumeAttachmentDetail *detail = detail_of(attachment);
    size_t n = detail ? detail->n_publish__context : 0;

    response->publish_context = arena_alloc(arena, n * sizeof *response->publish_context);
    for (size_t i = 0; i < n; i++) {
        Csi__V1__ControllerPublishVolumeResponse__PublishContextEntry *entry =
            arena_alloc(arena, sizeof *entry);

        csi__v1__controller_publish_volume_response__publish_context_entry__init(entry);
        entry->key = arena_strdup(arena, detail->publish__context[i]->key);
        entry->value = arena_strdup(arena, detail->publish__context[i]->value);
        response->publish_context[response->n_publish_context++] = entry;
    }
}

static struct err *publish(struct task *self, struct rpc_call *call,
                           const Csi__V1__ControllerPublishVolumeRequest *request,
                           struct kube_object **ret)
{
    struct controller *controller = call->ctx;
    CLEANUP(kube_object_unrefp) struct kube_object *volume = NULL, *promoted = NULL;

    TRY(csi_volume_to_publish(self, call, request, &volume));
    TRY(check_node(self, controller, request->node_id));
    TRY(capabilities_check(&(Csi__V1__VolumeCapability *){request->volume_capability}, 1,
                           (int)volume_max_shares(as_volume(volume))));
    TRY(semaphore_take(self, &controller->publishes, csi_wait_deadline(call)));
    struct err *err = write_primary(self, controller, as_volume(volume), request->node_id,
                                    request->readonly, &promoted);
    semaphore_give(&controller->publishes);
    TRY(err);
    err = wait_published(self, call, as_volume(volume), request->node_id, promoted, ret);
    if (err && err_kind(err) == ERR_EXHAUSTED)
        withdraw(self, controller, volume->metadata->name, request->node_id);
    TRY(err);
    /* Another controller may have changed it before it was answered. */
    bool recorded = attachment_is_read_only(as_attachment(*ret));
    return recorded == request->readonly
               ? NULL
               : other_access(as_volume(volume), request->node_id, recorded);
}

struct err *csi_publish_volume(struct task *self, struct rpc_call *call, const void *message,
                               void *ret)
{
    struct controller *controller = call->ctx;
    const Csi__V1__ControllerPublishVolumeRequest *request = message;
    CLEANUP(kube_object_unrefp) struct kube_object *attachment = NULL;

    if (!request->volume_id[0])
        return err_new(ERR_INVALID, "volume_id is missing");
    if (!request->node_id[0])
        return err_new(ERR_INVALID, "node_id is missing");
    if (!request->volume_capability)
        return err_new(ERR_INVALID, "volume_capability is missing");
    TRY(capabilities_check(&(Csi__V1__VolumeCapability *){request->volume_capability}, 1,
                           MAX_SHARES_LIMIT));

    CLEANUP(freep) char *id = csi_operation_id(request->volume_id, request->node_id);
    TRY(in_flight_begin(&controller->csi_calls, id));
    struct err *err = publish(self, call, request, &attachment);
    in_flight_end(&controller->csi_calls, id);
    TRY(err);
    answer_context(call->arena, as_attachment(attachment), ret);
    return NULL;
}
