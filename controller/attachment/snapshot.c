#include "controller/attachment/snapshot.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "controller/attachment/failed_attach.h"
#include "controller/attachment/kept_fence.h"
#include "controller/cache/colocation.h"
#include "controller/cache/published.h"
#include "lib/base/alloc.h"
#include "lib/base/timestamp.h"
#include "lib/kube/node.h"
#include "provisioner-lib/records/driver_node.h"
#include "provisioner-lib/records/names.h"

/* ---- what is remembered while this process leads ---- */

void attachment_set_verified(struct controller *controller, const char *uid, bool yes)
{
    if (controller->leading && yes)
        string_set_add(&controller->leading->verified, uid);
    else if (controller->leading)
        string_set_remove(&controller->leading->verified, uid);
}

void attachment_set_accepted(struct controller *controller, const char *key, bool yes)
{
    if (controller->leading && yes)
        string_set_add(&controller->leading->accepted, key);
    else if (controller->leading)
        string_set_remove(&controller->leading->accepted, key);
}

bool attachment_has_come(const struct controller *controller, const struct kube_object *object)
{
    return strcmp(attachment_state(as_attachment(object)), STATE_ATTACHED) == 0 ||
           (controller->leading && string_set_has(&controller->leading->accepted, object->key));
}

void attachment_forget_learned(struct controller *controller)
{
    string_set_clear(&controller->leading->verified);
    string_set_clear(&controller->leading->failed_attaches);
    string_set_clear(&controller->leading->accepted);
}

/* ---- gather ---- */

void attachment_work_forget_neighbours(struct attachment_work *work)
{
    for (size_t i = 0; i < work->n_neighbours; i++)
        kube_object_unref(work->neighbour_objects[i]);
    free(TAKE_PTR(work->neighbour_objects));
    free(TAKE_PTR(work->neighbours));
    work->n_neighbours = 0;
    work->in.neighbours = NULL;
    work->in.n_neighbours = 0;
}

void attachment_work_fini(struct attachment_work *work)
{
    kube_object_unref(work->object);
    kube_object_unref(work->volume_object);
    attachment_work_forget_neighbours(work);
    cloud_instance_fini(&work->instance);
    free(work->instance_id);
    free(work->boot_id);
}

typedef bool has_role_fn(const Api__AzVolumeAttachment *attachment, const char *role);

/* The role that it is to have (attachment_wants), or has on record (attachment_is). */
static enum attachment_role role_by(has_role_fn *has_role,
                                    const Api__AzVolumeAttachment *attachment)
{
    if (has_role(attachment, ROLE_PRIMARY))
        return ROLE_IS_PRIMARY;
    return has_role(attachment, ROLE_REPLICA) ? ROLE_IS_REPLICA : ROLE_NONE;
}

/* What upstream's driver recorded as attached lacks what the node plug-in has to know: it is looked
 * at anew, and recorded whole. */
static enum attachment_state state_of(const Api__AzVolumeAttachment *attachment)
{
    static const struct {
        const char *word;
        enum attachment_state state;
    } words[] = {{STATE_ATTACHING, ATTACHMENT_ATTACHING},
                 {STATE_ATTACHMENT_FAILED, ATTACHMENT_ATTACHING},
                 {STATE_ATTACHED, ATTACHMENT_ATTACHED},
                 {STATE_DETACHING, ATTACHMENT_DETACHING},
                 {STATE_DETACHMENT_FAILED, ATTACHMENT_DETACHING}};
    const char *word = attachment_state(attachment);

    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (strcmp(words[i].word, word) == 0)
            return words[i].state == ATTACHMENT_ATTACHED && !attachment_disk_size(attachment)
                       ? ATTACHMENT_NEW
                       : words[i].state;
    return ATTACHMENT_NEW;
}

/* 0 where there is no telling. */
static int64_t deleting_for_ms(const struct controller *controller,
                               const struct kube_object *object)
{
    int64_t since_us = timestamp_noted(object->metadata->deletion_timestamp);

    return since_us ? (loop_wall_us(controller->loop) - since_us) / 1000 : 0;
}

/* What the object says of itself. */
static void gather_own(const struct controller *controller, const struct kube_object *object,
                       struct attachment_snapshot *in)
{
    const Api__AzVolumeAttachment *attachment = as_attachment(object);
    const Api__AzVolumeAttachmentSpec *spec = attachment->spec;

    in->deleting = kube_is_deleting(object->metadata);
    in->deleting_for_ms = deleting_for_ms(controller, object);
    in->has_finalizer = kube_has_finalizer(object->metadata, FINALIZER_ATTACHMENT);
    in->wanted = role_by(attachment_wants, attachment);
    in->role = role_by(attachment_is, attachment);
    in->published = kubernetes_has_replica(controller, attachment);
    in->state = state_of(attachment);
    in->lun = attachment_lun(attachment);
    in->detach_requested = attachment_annotation(attachment, ANNOTATION_DETACH_REQUEST) != NULL;
    in->node_exists = spec->node_name && store_get(controller->nodes, spec->node_name) != NULL;
    in->verified = controller->leading &&
                   string_set_has(&controller->leading->verified, object->metadata->uid);
    in->failed_attach = failed_attach_is_known(controller, object->metadata->uid);
    in->disk_id = spec->volume__id;
}

enum attachment_phase attachment_phase_of(const struct controller *controller,
                                          const struct kube_object *object)
{
    struct attachment_snapshot in = {0};

    if (!object || !as_attachment(object)->spec)
        return PHASE_ABSENT;
    gather_own(controller, object, &in);
    return attachment_phase(&in);
}

struct publish_standing attachment_standing_of(const struct controller *controller,
                                               const struct kube_object *object)
{
    return (struct publish_standing){
        .phase = attachment_phase_of(controller, object),
        .on_record = object && attachment_is(as_attachment(object), ROLE_PRIMARY),
    };
}

static const char *provider_id_of(const struct controller *controller, const char *node)
{
    const struct kube_object *object = store_get(controller->nodes, node);

    return object ? node_provider_id(KUBE_AS(Api__Node, object)) : NULL;
}

struct err *attachment_work_find_vm(const struct attachment_work *work, char **ret_id)
{
    const struct controller *controller = work->controller;
    const char *node = work->attachment->spec->node_name;

    return controller->cloud->ops->instance_id(controller->cloud, node,
                                               provider_id_of(controller, node), ret_id);
}

static void gather_vm(struct attachment_work *work)
{
    const char *recorded = attachment_annotation(work->attachment, ANNOTATION_VM);
    const char *node = work->attachment->spec->node_name;
    bool told = provider_id_of(work->controller, node) != NULL;
    CLEANUP(freep) char *id = NULL;

    if (told && recorded)
        err_free(attachment_work_find_vm(work, &id));
    work->in.vm_recorded = recorded != NULL;
    work->in.vm_moved = id && strcasecmp(id, recorded) != 0;
    work->in.vm_guessed = !recorded && !told;
}

bool attachment_work_is_out_of_service(const struct attachment_work *work)
{
    const struct kube_object *object =
        store_get(work->controller->nodes, work->attachment->spec->node_name);
    const Api__Node *node = object ? KUBE_AS(Api__Node, object) : NULL;

    return node && node_is_out_of_service(node) && !node_is_ready(node) && !work->in.vm_moved &&
           !work->in.vm_guessed;
}

/* A reboot may be that of another VM of the same name, to which nothing is attached. */
static void gather_boot(struct attachment_work *work)
{
    const struct controller *controller = work->controller;
    CLEANUP(freep)
    char *key = kube_key(controller->settings.namespace_, work->attachment->spec->node_name);
    const struct kube_object *plugin = store_get(controller->driver_nodes, key);
    const char *boot = plugin ? driver_node_boot_id(KUBE_AS(Api__AzDriverNode, plugin)) : NULL;
    const char *seen = attachment_annotation(work->attachment, ANNOTATION_BOOT);

    work->boot_id = mem_strdup(boot);
    work->in.since_boot = !boot || (seen && strcmp(seen, boot) == 0);
}

static void gather_volume(struct attachment_work *work)
{
    CLEANUP(freep)
    char *key =
        kube_key(work->controller->settings.namespace_, work->attachment->spec->volume_name);
    struct kube_object *object = store_get(work->controller->volumes, key);

    work->in.volume_goes = !object || kube_is_deleting(object->metadata) ||
                           volume_annotation(as_volume(object), ANNOTATION_DELETE_REQUEST) != NULL;
    if (!object)
        return;
    work->volume_object = kube_object_ref(object);
    work->volume = as_volume(object);
    work->in.size_differs = volume_is_created(work->volume) &&
                            attachment_disk_size(work->attachment) !=
                                (uint64_t)work->volume->status->detail->capacity__bytes;
    work->in.volume_ready = !kube_is_deleting(object->metadata) && volume_is_created(work->volume);
}

/* One that waits for its turn holds none yet; nor does one that failed before it had a LUN, for
 * nothing was asked of the cloud. */
static bool holds_share(const Api__AzVolumeAttachment *attachment)
{
    enum attachment_state state = state_of(attachment);

    return state == ATTACHMENT_ATTACHED || state == ATTACHMENT_DETACHING ||
           attachment_lun(attachment) != NO_LUN;
}

/* Its LUN is being recorded, and counts among what is taken, and so does its share. */
static bool has_reserved_lun(const struct controller *controller,
                             const Api__AzVolumeAttachmentSpec *spec)
{
    LIST_FOREACH(&controller->leading->reservations, link) {
        const struct reservation *reservation = CONTAINER_OF(link, struct reservation, link);

        if (reservation->lun != NO_LUN && strcmp(reservation->node, spec->node_name) == 0 &&
            spec->volume_name && strcmp(reservation->volume, spec->volume_name) == 0)
            return true;
    }
    return false;
}

/* The other attachments of the same volume. */
static void gather_siblings(struct attachment_work *work)
{
    size_t n;
    struct kube_object *const *objects =
        attachments_of_volume(work->controller, work->attachment->spec->volume_name, &n);

    bool single_writer = work->volume && !volume_is_multi_node(work->volume);

    for (size_t i = 0; i < n; i++) {
        const Api__AzVolumeAttachment *other = as_attachment(objects[i]);

        if (objects[i] == work->object || strcmp(objects[i]->key, work->object->key) == 0)
            continue;
        work->in.other_shares +=
            holds_share(other) && !has_reserved_lun(work->controller, other->spec);
        work->in.role_taken |= single_writer && attachment_is(other, ROLE_PRIMARY);
        if (!attachment_wants(other, ROLE_PRIMARY) || kube_is_deleting(objects[i]->metadata))
            continue;
        if (attachment_has_come(work->controller, objects[i]))
            work->in.primary_attached = true;
        else
            work->in.primary_waits = true;
    }
    LIST_FOREACH(&work->controller->leading->reservations, link) {
        const struct reservation *reservation = CONTAINER_OF(link, struct reservation, link);

        if (strcmp(reservation->volume, work->attachment->spec->volume_name) != 0)
            continue;
        work->in.other_shares += reservation->lun != NO_LUN;
        work->in.role_taken |= single_writer && reservation->primary;
    }
}

/* What the volume of a replica on the node thinks of it. */
static void gather_need(const struct controller *controller, const char *volume_name,
                        struct neighbour *neighbour)
{
    const struct kube_object *volume = volume_of_name(controller, volume_name);
    unsigned wanted = 0, replicas = 0;
    bool published = false;
    size_t n;
    struct kube_object *const *objects = attachments_of_volume(controller, volume_name, &n);

    if (volume && !kube_is_deleting(volume->metadata))
        wanted = volume_replicas_requested(as_volume(volume));
    for (size_t i = 0; i < n; i++) {
        if (kube_is_deleting(objects[i]->metadata))
            continue;
        published |= attachment_wants(as_attachment(objects[i]), ROLE_PRIMARY);
        replicas += !attachment_wants(as_attachment(objects[i]), ROLE_PRIMARY);
    }
    neighbour->needed = published && replicas <= wanted;
    neighbour->priority = pod_priority_of_volume(controller, volume_name);
    neighbour->other_replicas = replicas ? replicas - 1 : 0;
}

/* A primary that has no place yet, or has one on record and is on its way there. */
static bool is_arriving(const struct kube_object *object)
{
    const Api__AzVolumeAttachment *attachment = as_attachment(object);

    return attachment_wants(attachment, ROLE_PRIMARY) && !kube_is_deleting(object->metadata) &&
           state_of(attachment) != ATTACHMENT_ATTACHED &&
           strcmp(attachment_state(attachment), STATE_ATTACHMENT_FAILED) != 0;
}

static void add_neighbour(struct attachment_work *work, struct kube_object *object)
{
    const Api__AzVolumeAttachment *attachment = as_attachment(object);
    const char *since = object->metadata->creation_timestamp;
    size_t n = work->n_neighbours;
    bool primary = attachment_wants(attachment, ROLE_PRIMARY);
    struct neighbour neighbour = {
        .name = object->metadata->name,
        .disk_id = attachment->spec->volume__id ? attachment->spec->volume__id : "",
        .lun = attachment_lun(attachment),
        .published = primary || kubernetes_has_replica(work->controller, attachment),
        .unready = attachment_unready_reason(attachment) != NULL,
        .since = since ? since : "",
    };

    neighbour.waits = primary && !kube_is_deleting(object->metadata) && neighbour.lun == NO_LUN &&
                      !has_reserved_lun(work->controller, attachment->spec);
    bool may_go = !neighbour.published ||
                  attachment_annotation(attachment, ANNOTATION_DETACH_REQUEST) != NULL;
    neighbour.keeps_fence = may_go && keeps_fence(work->controller, object);
    neighbour.leaving = may_go && !neighbour.keeps_fence && kube_is_deleting(object->metadata);
    if (neighbour.lun >= 0 && neighbour.lun < MAX_LUNS)
        work->in.luns_taken[neighbour.lun] = true;
    work->in.primary_arrives |= is_arriving(object);
    if (!primary && attachment->spec->volume_name)
        gather_need(work->controller, attachment->spec->volume_name, &neighbour);
    ARRAY_ADD(work->neighbours, work->n_neighbours) = neighbour;
    ARRAY_ADD(work->neighbour_objects, n) = kube_object_ref(object);
}

void attachment_work_gather_neighbours(struct attachment_work *work)
{
    const char *node = work->attachment->spec->node_name;
    size_t n;
    struct kube_object *const *objects =
        store_find(work->controller->attachments_by_node, node, &n);

    for (size_t i = 0; i < n; i++)
        if (strcmp(objects[i]->key, work->object->key) != 0)
            add_neighbour(work, objects[i]);
    LIST_FOREACH(&work->controller->leading->reservations, link) {
        const struct reservation *reservation = CONTAINER_OF(link, struct reservation, link);

        if (reservation->lun != NO_LUN && strcmp(reservation->node, node) == 0)
            work->in.luns_taken[reservation->lun] = true;
    }
    work->in.neighbours = work->neighbours;
    work->in.n_neighbours = work->n_neighbours;
}

bool attachment_work_gather(struct controller *controller, const char *key,
                            struct attachment_work *ret)
{
    struct kube_object *object = store_get(controller->attachments, key);

    if (!object)
        return false;
    *ret = (struct attachment_work){.controller = controller};
    ret->object = kube_object_ref(object);
    ret->attachment = as_attachment(object);

    const Api__AzVolumeAttachmentSpec *spec = ret->attachment->spec;
    struct attachment_snapshot *in = &ret->in;
    if (!spec || !spec->volume_name || !spec->node_name || !spec->volume__id || !spec->role)
        return false;
    gather_own(controller, object, in);
    gather_vm(ret);
    gather_boot(ret);
    gather_volume(ret);
    in->reserved_slots = (int)controller->settings.reserved_slots;
    in->keeps_fence = keeps_fence(controller, object);
    in->max_shares = ret->volume ? volume_max_shares(ret->volume) : 1;
    gather_siblings(ret);
    return true;
}
