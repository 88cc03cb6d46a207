/* ControllerPublishVolume and ControllerUnpublishVolume: the primary AzVolumeAttachment is written,
 * promoted, demoted or deleted; the reconcilers do what follows. */

#include <string.h>

#include "controller/access_mode.h"
#include "controller/az_error.h"
#include "controller/csi_service.h"
#include "controller/names.h"
#include "controller/volume_view.h"
#include "lib/api/azdisk.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/base/log.h"

/* How long to wait for a volume that was seen for the first time to get its disk on record. */
enum { ADOPTION_MS = 30 * 1000 };

static const char *state_of(const Api__AzVolumeAttachment *attachment)
{
    return attachment->status && attachment->status->state ? attachment->status->state : "";
}

static const Api__AzVolumeAttachmentDetail *detail_of(const Api__AzVolumeAttachment *attachment)
{
    return attachment->status ? attachment->status->detail : NULL;
}

static bool is_on_node(const Api__AzVolumeAttachment *attachment, const char *node)
{
    return attachment->spec && attachment->spec->node_name &&
           strcmp(attachment->spec->node_name, node) == 0;
}

/* Operations for one volume and one node come one after the other. */
static char *operation_id(const char *volume_id, const char *node)
{
    CLEANUP(freep) char *lower = mem_lower(volume_id);

    return mem_printf("%s on node %s", lower, node);
}

/* The volume's attachment on a node, referenced; asks the API server if the mirror lacks it. */
static struct err *find_attachment(struct task *self, struct controller *controller,
                                   const char *volume, const char *node, struct kube_object **ret)
{
    const char *namespace_ = controller->settings.namespace_;
    CLEANUP(freep) char *name = attachment_name_of(volume, node);
    CLEANUP(freep) char *key = kube_key(namespace_, name);
    struct kube_object *object = store_get(controller->attachments, key);

    *ret = object ? kube_object_ref(object) : NULL;
    if (object)
        return NULL;
    struct err *err =
        kube_get(self, controller->kube, &AZ_VOLUME_ATTACHMENTS, namespace_, name, ret);
    if (!err)
        store_note(controller->attachments, *ret);
    if (!err || err_kind(err) != ERR_NOT_FOUND)
        return err;
    err_free(err);
    return NULL;
}

static struct err *patch(struct task *self, struct controller *controller,
                         const struct kube_object *object, const char *subresource,
                         const json_t *document)
{
    CLEANUP(kube_object_unrefp) struct kube_object *written = NULL;

    TRY(kube_patch(self, controller->kube, &AZ_VOLUME_ATTACHMENTS, controller->settings.namespace_,
                   object->metadata->name, subresource, document, &written));
    store_note(controller->attachments, written);
    return NULL;
}

static struct err *request_detach(struct task *self, struct controller *controller,
                                  const struct kube_object *object)
{
    CLEANUP(json_decrefp)
    json_t *document =
        json_pack("{s:{s:s, s:{s:s}}}", "status", "state", state_of(as_attachment(object)),
                  "annotation", NOTE_DETACH_REQUEST, "crdProvisioner");

    TRY(patch(self, controller, object, "status", document));
    if (is_deleting(object))
        return NULL;
    return kube_delete(self, controller->kube, &AZ_VOLUME_ATTACHMENTS,
                       controller->settings.namespace_, object->metadata->name,
                       object->metadata->uid);
}

/* ---- a volume that was there before the driver ---- */

/* A PersistentVolume made by hand has no AzVolume yet. One is written from what the caller says of
 * it; its reconciler looks at the disk. */
static struct err *write_pre_provisioned(struct task *self, struct controller *controller,
                                         const Csi__V1__ControllerPublishVolumeRequest *request,
                                         const char *name, struct kube_object **ret)
{
    const char *namespace_ = controller->settings.namespace_;
    const Csi__V1__VolumeCapability *capability = request->volume_capability;
    CLEANUP(freep)
    struct parameter *list = PARAMETER_LIST(request->volume_context, request->n_volume_context);
    CLEANUP(volume_parameters_fini) struct volume_parameters parameters = {0};
    CLEANUP(kube_object_unrefp) struct kube_object *created = NULL;
    json_t *known = json_object();
    size_t n = parameters_keep_known(list, request->n_volume_context);
    int mode = (int)capability->access_mode->mode;

    for (size_t i = 0; i < n; i++)
        json_object_set_new(known, list[i].name, json_string(list[i].value));
    CLEANUP(json_decrefp)
    json_t *json = json_pack(
        "{s:{s:s, s:[s], s:{s:s}}, s:{s:s, s:i, s:[{s:i, s:i}], s:o}}", "metadata", "name", name,
        "finalizers", FINALIZER_VOLUME, "annotations", NOTE_PRE_PROVISIONED, request->volume_id,
        "spec", "volumeName", name, "maxMountReplicaCount", 0, "volumeCapability", "access_type",
        capability->access_type_case == CSI__V1__VOLUME_CAPABILITY__ACCESS_TYPE_MOUNT,
        "access_mode", mode, "parameters", known);

    TRY(volume_parameters_parse(list, n, access_mode_is_multi_node(mode), &parameters));
    json_object_set_new(json_object_get(json, "spec"), "maxMountReplicaCount",
                        json_integer(parameters.max_mount_replica_count));
    TRY(kube_create(self, controller->kube, &AZ_VOLUMES, namespace_, json, &created));
    CLEANUP(json_decrefp)
    json_t *status = json_pack("{s:{s:s, s:{s:s}}}", "status", "state", "Pending", "annotation",
                               NOTE_PRE_PROVISIONED, request->volume_id);
    TRY(kube_patch(self, controller->kube, &AZ_VOLUMES, namespace_, name, "status", status, ret));
    store_note(controller->volumes, *ret);
    return NULL;
}

static struct err *wait_created(struct task *self, struct rpc_call *call, struct kube_object **io)
{
    struct controller *controller = call->ctx;
    CLEANUP(freep) char *key = mem_strdup((*io)->key);
    uint64_t deadline = loop_now(controller->loop) + ADOPTION_MS;

    if (deadline > csi_wait_deadline(call))
        deadline = csi_wait_deadline(call);
    for (;;) {
        struct kube_object *object = store_get(controller->volumes, key);

        if (!object)
            return err_new(ERR_NOT_FOUND, "volume %s is gone", key);
        kube_object_unref(*io);
        *io = kube_object_ref(object);
        if (is_deleting(object))
            return err_new(ERR_PRECONDITION, "volume %s is being deleted", key);
        if (volume_is_created(as_volume(object)))
            return NULL;
        if (as_volume(object)->status && as_volume(object)->status->error)
            return az_error_take(as_volume(object)->status->error);
        struct err *err = store_wait(self, controller->volumes, key, deadline);
        if (err)
            return err_wrap(err, "volume %s is not created yet", key);
    }
}

static struct err *volume_to_publish(struct task *self, struct rpc_call *call,
                                     const Csi__V1__ControllerPublishVolumeRequest *request,
                                     struct kube_object **ret)
{
    struct controller *controller = call->ctx;
    CLEANUP(kube_object_unrefp) struct kube_object *volume = NULL;
    CLEANUP(freep) char *name = NULL;
    struct err *err = csi_find_volume(self, controller, request->volume_id, &volume);

    if (err && err_kind(err) == ERR_INVALID) {
        err_free(err);
        return err_new(ERR_NOT_FOUND, "there is no volume %s", request->volume_id);
    }
    TRY(err);
    if (!volume) {
        TRY(volume_name_of_id(request->volume_id, &name));
        TRY(write_pre_provisioned(self, controller, request, name, &volume));
    }
    TRY(wait_created(self, call, &volume));
    *ret = TAKE_PTR(volume);
    return NULL;
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
    return err_new(ERR_NOT_FOUND, "the driver does not run on node %s (it has no AzDriverNode)",
                   node);
}

/* A disk has one writer: another node's primary must be unpublished first. */
static struct err *check_no_other_primary(const struct controller *controller,
                                          const Api__AzVolume *volume, const char *node)
{
    size_t n;
    struct kube_object *const *objects =
        attachments_of_volume(controller, volume->metadata->name, &n);

    if (volume_is_multi_node(volume))
        return NULL;
    for (size_t i = 0; i < n; i++) {
        const Api__AzVolumeAttachment *other = as_attachment(objects[i]);

        if (is_primary(other) && !is_deleting(objects[i]) && !is_on_node(other, node))
            return err_new(ERR_PRECONDITION,
                           "volume %s is published to node %s; it must be unpublished there first",
                           volume->metadata->name, other->spec->node_name);
    }
    return NULL;
}

static struct err *promote(struct task *self, struct controller *controller,
                           const struct kube_object *object)
{
    CLEANUP(json_decrefp)
    json_t *document =
        json_pack("{s:{s:s, s:{s:s, s:s}}, s:{s:s}}", "metadata", "resourceVersion",
                  object->metadata->resource_version, "labels", LABEL_ROLE, ROLE_PRIMARY,
                  LABEL_ROLE_CHANGE, "promoted", "spec", "role", ROLE_PRIMARY);

    return patch(self, controller, object, NULL, document);
}

static struct err *write_primary(struct task *self, struct controller *controller,
                                 const Api__AzVolume *volume, const char *node)
{
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;
    CLEANUP(kube_object_unrefp) struct kube_object *created = NULL;

    TRY(find_attachment(self, controller, volume->metadata->name, node, &object));
    if (object && is_deleting(object))
        return err_new(ERR_BUSY, "volume %s is still being detached from node %s",
                       volume->metadata->name, node);
    if (object)
        return is_primary(as_attachment(object)) ? NULL : promote(self, controller, object);

    CLEANUP(json_decrefp) json_t *json = attachment_json(volume, node, ROLE_PRIMARY);
    TRY(kube_create(self, controller->kube, &AZ_VOLUME_ATTACHMENTS, controller->settings.namespace_,
                    json, &created));
    store_note(controller->attachments, created);
    return NULL;
}

/* Is the attachment as far as a caller has to wait for? */
static bool is_far_enough(const struct controller *controller,
                          const Api__AzVolumeAttachment *attachment)
{
    const Api__AzVolumeAttachmentDetail *detail = detail_of(attachment);

    switch ((enum publish_wait)controller->settings.publish_wait) {
    case PUBLISH_WAIT_CREATED:
        return true;
    case PUBLISH_WAIT_LUN:
        return detail && detail->n_publish__context > 0;
    case PUBLISH_WAIT_ATTACHED:
        return detail && detail->role && strcmp(detail->role, ROLE_PRIMARY) == 0 &&
               strcmp(state_of(attachment), STATE_ATTACHED) == 0;
    }
    return true;
}

static struct err *wait_published(struct task *self, struct rpc_call *call, const char *volume,
                                  const char *node, struct kube_object **ret)
{
    struct controller *controller = call->ctx;
    CLEANUP(freep) char *name = attachment_name_of(volume, node);
    CLEANUP(freep) char *key = kube_key(controller->settings.namespace_, name);

    for (;;) {
        struct kube_object *object = store_get(controller->attachments, key);

        if (!object || is_deleting(object))
            return err_new(ERR_BUSY, "volume %s was unpublished from node %s meanwhile", volume,
                           node);
        const Api__AzVolumeAttachment *attachment = as_attachment(object);
        if (is_far_enough(controller, attachment)) {
            *ret = kube_object_ref(object);
            return NULL;
        }
        if (strcmp(state_of(attachment), STATE_ATTACHMENT_FAILED) == 0 && attachment->status->error)
            return az_error_take(attachment->status->error);
        CLEANUP(kube_object_unrefp) struct kube_object *seen = kube_object_ref(object);
        struct err *err = store_wait(self, controller->attachments, key, csi_wait_deadline(call));
        const Api__AzVolumeAttachmentStatus *status = as_attachment(seen)->status;
        if (err && err_kind(err) == ERR_TIMEOUT && status && status->error) {
            err_free(err);
            return az_error_take(status->error);
        }
        if (err)
            return err_wrap(err, "volume %s on node %s is %s", volume, node,
                            state_of(as_attachment(seen)));
    }
}

/* What was refused for want of room must not take the next room on its own: the caller may be done
 * with the volume, and needs not unpublish it. */
static void withdraw(struct task *self, struct controller *controller, const char *volume,
                     const char *node)
{
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;
    CLEANUP(err_freep) struct err *err = find_attachment(self, controller, volume, node, &object);

    if (!err && object)
        err = request_detach(self, controller, object);
    if (err)
        log_warning("volume %s on node %s: cannot be withdrawn: %s", volume, node,
                    err_message(err));
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
    CLEANUP(kube_object_unrefp) struct kube_object *volume = NULL;

    TRY(volume_to_publish(self, call, request, &volume));
    TRY(check_node(self, controller, request->node_id));
    TRY(capabilities_check(&(Csi__V1__VolumeCapability *){request->volume_capability}, 1,
                           (int)volume_max_shares(as_volume(volume))));
    TRY(check_no_other_primary(controller, as_volume(volume), request->node_id));
    TRY(write_primary(self, controller, as_volume(volume), request->node_id));
    struct err *err = wait_published(self, call, volume->metadata->name, request->node_id, ret);
    if (err && err_kind(err) == ERR_EXHAUSTED)
        withdraw(self, controller, volume->metadata->name, request->node_id);
    return err;
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

    CLEANUP(freep) char *id = operation_id(request->volume_id, request->node_id);
    TRY(in_flight_begin(&controller->csi_calls, id));
    struct err *err = publish(self, call, request, &attachment);
    in_flight_end(&controller->csi_calls, id);
    TRY(err);
    answer_context(call->arena, as_attachment(attachment), ret);
    return NULL;
}

/* ---- ControllerUnpublishVolume ---- */

/* A disk that keeps replicas stays attached, so that a node that cannot answer holds nobody up. */
static bool is_to_be_demoted(struct controller *controller, const Api__AzVolume *volume)
{
    return controller->settings.on_unpublish == ON_UNPUBLISH_DEMOTE && volume && volume->spec &&
           volume->spec->max_mount_replica_count > 0;
}

static struct err *demote(struct task *self, struct controller *controller,
                          const struct kube_object *object)
{
    CLEANUP(json_decrefp)
    json_t *document =
        json_pack("{s:{s:s, s:{s:s, s:s}}, s:{s:s}}", "metadata", "resourceVersion",
                  object->metadata->resource_version, "labels", LABEL_ROLE, ROLE_REPLICA,
                  LABEL_ROLE_CHANGE, "demoted", "spec", "role", ROLE_REPLICA);

    return patch(self, controller, object, NULL, document);
}

static struct err *wait_detached(struct task *self, struct rpc_call *call, const char *key,
                                 const char *uid)
{
    struct controller *controller = call->ctx;

    for (;;) {
        struct kube_object *object = store_get(controller->attachments, key);

        if (!object || strcmp(object->metadata->uid, uid) != 0)
            return NULL;
        const Api__AzVolumeAttachmentStatus *status = as_attachment(object)->status;
        if (status && status->error &&
            strcmp(state_of(as_attachment(object)), STATE_DETACHMENT_FAILED) == 0)
            return az_error_take(status->error);
        TRY(store_wait(self, controller->attachments, key, csi_wait_deadline(call)));
    }
}

static struct err *unpublish(struct task *self, struct rpc_call *call, const Api__AzVolume *volume,
                             const struct kube_object *object)
{
    struct controller *controller = call->ctx;

    if (!is_deleting(object) && !is_primary(as_attachment(object)))
        return NULL; /* a replica, by an earlier call or from the start */
    if (!is_deleting(object) && is_to_be_demoted(controller, volume))
        return demote(self, controller, object);

    struct err *err = request_detach(self, controller, object);
    if (err && err_kind(err) == ERR_NOT_FOUND) {
        err_free(err);
        return NULL;
    }
    TRY(err);
    return wait_detached(self, call, object->key, object->metadata->uid);
}

/* Without a node the volume is unpublished from all. */
static struct err *unpublish_all(struct task *self, struct rpc_call *call,
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
            err = unpublish(self, call, as_volume(volume), all[i]);
        kube_object_unref(all[i]);
    }
    free(all);
    return err;
}

static struct err *unpublish_from(struct task *self, struct rpc_call *call, const char *name,
                                  const struct kube_object *volume, const char *node)
{
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;

    if (!node[0])
        return volume ? unpublish_all(self, call, volume) : NULL;
    TRY(find_attachment(self, call->ctx, name, node, &object));
    return object ? unpublish(self, call, volume ? as_volume(volume) : NULL, object) : NULL;
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
    struct err *err = volume_name_of_id(request->volume_id, &name);
    if (err) {
        err_free(err); /* an id that no volume of ours can have is published nowhere */
        return NULL;
    }
    TRY(csi_find_volume(self, controller, request->volume_id, &volume));
    CLEANUP(freep) char *id = operation_id(request->volume_id, request->node_id);
    TRY(in_flight_begin(&controller->csi_calls, id));
    err = unpublish_from(self, call, name, volume, request->node_id);
    in_flight_end(&controller->csi_calls, id);
    return err;
}
