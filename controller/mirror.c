#include "controller/mirror.h"

#include <string.h>

#include "controller/attachment_view.h"
#include "controller/indexes.h"
#include "controller/kubernetes_view.h"
#include "controller/metrics.h"
#include "controller/names.h"
#include "controller/news.h"
#include "controller/recovery.h"
#include "controller/replan.h"
#include "controller/volume_view.h"
#include "lib/api/azdisk.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/kube/pv_source.h"
#include "lib/kube/reflector.h"

/* ---- whom a change concerns ---- */

static void volume_changed(void *ctx, struct kube_object *before, struct kube_object *after)
{
    struct controller *controller = ctx;
    const struct kube_object *object = after ? after : before;
    size_t n;
    struct kube_object *const *attachments =
        attachments_of_volume(controller, object->metadata->name, &n);

    if (!volume_has_news(before, after))
        return;
    enqueue(controller, controller->volume_queue, object->metadata->name);
    enqueue(controller, controller->replica_queue, object->metadata->name);
    enqueue(controller, controller->recovery_queue, object->metadata->name);
    for (size_t i = 0; i < n; i++)
        enqueue(controller, controller->attachment_queue, attachments[i]->metadata->name);
}

/* Whose record says so, whatever disk the PersistentVolume of that name is about now. */
static void volumes_of_pv_changed(struct controller *controller, const char *pv)
{
    size_t n;
    struct kube_object *const *volumes = store_find(controller->volumes_by_pv, pv, &n);

    for (size_t i = 0; i < n; i++)
        enqueue(controller, controller->volume_queue, volumes[i]->metadata->name);
}

static void pv_changed(void *ctx, struct kube_object *before, struct kube_object *after)
{
    struct controller *controller = ctx;
    const struct kube_object *pv = after ? after : before;
    CLEANUP(freep) char *name = volume_name_of_pv(KUBE_AS(Api__PersistentVolume, pv)->spec);

    recovery_of_pv(controller, pv);
    volumes_of_pv_changed(controller, pv->metadata->name);
    if (name) /* it says which claim has it */
        enqueue(controller, controller->volume_queue, name);
}

static void volume_attachment_changed(void *ctx, struct kube_object *before,
                                      struct kube_object *after)
{
    struct controller *controller = ctx;
    const char *node = as_volume_attachment(after ? after : before)->spec->node_name;

    const Api__VolumeAttachmentSource *source =
        as_volume_attachment(after ? after : before)->spec->source;

    recovery_of_volume_attachment(controller, after ? after : before);
    if (!after && source && source->persistent_volume_name)
        volumes_of_pv_changed(controller, source->persistent_volume_name);
    if (!after && node && !store_get(controller->nodes, node)) /* what it held back may go */
        enqueue(controller, controller->node_queue, node);
}

static void enqueue_attachment(struct controller *controller, const struct kube_object *object)
{
    enqueue(controller, controller->role_queue, object->metadata->name);
    enqueue(controller, controller->attachment_queue, object->metadata->name);
}

/* On a VM that was full a primary may have waited for it. */
static void place_is_free(struct controller *controller, const char *node)
{
    size_t n;
    struct kube_object *const *objects = store_find(controller->attachments_by_node, node, &n);

    for (size_t i = 0; i < n; i++)
        if (is_primary(as_attachment(objects[i])) &&
            strcmp(attachment_word(as_attachment(objects[i])), STATE_ATTACHED) != 0)
            enqueue(controller, controller->attachment_queue, objects[i]->metadata->name);
}

/* The other attachments of its volume may have waited for it. */
static void attachment_changed(void *ctx, struct kube_object *before, struct kube_object *after)
{
    struct controller *controller = ctx;
    const struct kube_object *object = after ? after : before;
    const Api__AzVolumeAttachmentSpec *spec = as_attachment(object)->spec;
    size_t n = 0;
    struct kube_object *const *siblings = NULL;

    if (!attachment_has_news(before, after))
        return;
    enqueue_attachment(controller, object);
    if (!spec || !spec->volume_name)
        return;
    if (spec->volume__id)
        controller->cloud->ops->reconsider(controller->cloud, spec->volume__id);
    enqueue(controller, controller->volume_queue, spec->volume_name);
    enqueue(controller, controller->replica_queue, spec->volume_name);
    if (!after)
        enqueue(controller, controller->recovery_queue, spec->volume_name);
    if (!after && spec->node_name)
        place_is_free(controller, spec->node_name);
    siblings = attachments_of_volume(controller, spec->volume_name, &n);
    for (size_t i = 0; i < n; i++)
        enqueue_attachment(controller, siblings[i]);
}

/* A heartbeat alone concerns nobody. */
static void driver_node_changed(void *ctx, struct kube_object *before, struct kube_object *after)
{
    struct controller *controller = ctx;

    if (!before || !after)
        enqueue(controller, controller->node_queue, (after ? after : before)->metadata->name);
}

static bool node_facts_changed(const struct controller *controller,
                               const struct kube_object *before, const struct kube_object *after)
{
    CLEANUP(freep) char *key = mem_printf(ZONE_OF_DRIVER, controller->settings.driver_name);

    if (!before || !after)
        return true;
    const Api__Node *was = KUBE_AS(Api__Node, before), *is = KUBE_AS(Api__Node, after);
    const char *old_zone = kube_label(before->metadata, key);
    const char *zone = kube_label(after->metadata, key);
    return node_is_ready(was) != node_is_ready(is) ||
           node_is_schedulable(was) != node_is_schedulable(is) ||
           strcmp(old_zone ? old_zone : "", zone ? zone : "") != 0;
}

static const char *boot_of(const struct kube_object *object)
{
    const Api__NodeStatus *status = KUBE_AS(Api__Node, object)->status;

    return status && status->node_info ? status->node_info->boot_id : NULL;
}

static bool node_booted(const struct kube_object *before, const struct kube_object *after)
{
    const char *was = before ? boot_of(before) : NULL, *is = after ? boot_of(after) : NULL;

    return is && (!was || strcmp(was, is) != 0);
}

/* It may have booted as another VM of the same name, to which nothing is attached. */
static void doubt_attachments(struct controller *controller, const struct kube_object *node)
{
    const struct cloud_ops *ops = controller->cloud->ops;
    const Api__NodeSpec *spec = KUBE_AS(Api__Node, node)->spec;
    CLEANUP(freep) char *id = NULL;
    CLEANUP(err_freep)
    struct err *err = ops->instance_id(controller->cloud, node->metadata->name,
                                       spec ? spec->provider_id : NULL, &id);
    size_t n;
    struct kube_object *const *attachments =
        store_find(controller->attachments_by_node, node->metadata->name, &n);

    if (!err)
        ops->instance_forget(controller->cloud, id);
    for (size_t i = 0; i < n; i++)
        attachment_set_verified(controller, attachments[i]->metadata->uid, false);
}

static void node_changed(void *ctx, struct kube_object *before, struct kube_object *after)
{
    struct controller *controller = ctx;
    const char *name = (after ? after : before)->metadata->name;
    size_t n;
    struct kube_object *const *attachments = store_find(controller->attachments_by_node, name, &n);

    bool booted = node_booted(before, after);
    if (!booted && !node_facts_changed(controller, before, after))
        return;
    if (booted) {
        doubt_attachments(controller, after);
        enqueue(controller, controller->limit_queue, name);
    }
    enqueue(controller, controller->node_queue, name);
    for (size_t i = 0; i < n; i++)
        enqueue(controller, controller->attachment_queue, attachments[i]->metadata->name);
    recovery_of_node(controller, name);
}

/* ---- the stores ---- */

#define STORES_OF_VOLUMES(c)                                                                       \
    (c)->volumes, (c)->attachments, (c)->driver_nodes, (c)->nodes, (c)->persistent_volumes,        \
        (c)->volume_attachments

/* What is kept of objects that others fill with much that does not concern us. */
static const char *const kept_of_pvs[] = {"metadata.name",
                                          "metadata.resourceVersion",
                                          "metadata.uid",
                                          "metadata.deletionTimestamp",
                                          "metadata.annotations",
                                          PV_SOURCE_MEMBERS,
                                          "spec.csi.volumeAttributes",
                                          "spec.azureDisk.cachingMode",
                                          "spec.azureDisk.fsType",
                                          "spec.accessModes",
                                          "spec.volumeMode",
                                          "spec.claimRef",
                                          "spec.nodeAffinity",
                                          "status.phase",
                                          NULL};
static const char *const kept_of_volume_attachments[] = {"metadata.name",
                                                         "metadata.resourceVersion",
                                                         "metadata.uid",
                                                         "metadata.deletionTimestamp",
                                                         "spec",
                                                         "status.attached",
                                                         NULL};

static const char *const kept_of_namespaces[] = {"metadata.name", "metadata.resourceVersion",
                                                 "metadata.labels", NULL};
static const char *const kept_of_pods[] = {"metadata.name",
                                           "metadata.namespace",
                                           "metadata.resourceVersion",
                                           "metadata.labels",
                                           "metadata.deletionTimestamp",
                                           "spec.nodeName",
                                           "spec.nodeSelector",
                                           "spec.tolerations",
                                           "spec.affinity",
                                           "spec.priority",
                                           "spec.volumes",
                                           "status.phase",
                                           NULL};

/* Pods that have ended count for nothing (pod_is_live()). */
static const char live_pods[] = "status.phase!=Succeeded,status.phase!=Failed";

static void watch_failed(void *ctx, const struct api_resource *resource, const struct err *err)
{
    (void)ctx;
    log_warning("watch of %s: %s", resource->plural, err_message(err));
    metric_add(&METRIC_WATCH_FAILURES, 1, resource->plural);
}

/* Pods are everywhere; our own objects in one namespace. */
static const char *namespace_of(const struct controller *controller,
                                const struct api_resource *resource)
{
    return resource->namespaced && resource != &PODS ? controller->settings.namespace_ : NULL;
}

void mirror_start(struct controller *controller, struct task_group *group)
{
    const struct {
        const struct api_resource *resource;
        struct store **store;
        store_observer_fn *observer;
        const char *const *keep;
        const char *field_selector;
        bool metadata_only;
    } kinds[] = {
        {&AZ_VOLUMES, &controller->volumes, .observer = volume_changed},
        {&AZ_VOLUME_ATTACHMENTS, &controller->attachments, .observer = attachment_changed},
        {&AZ_DRIVER_NODES, &controller->driver_nodes, .observer = driver_node_changed},
        {&NODES, &controller->nodes, .observer = node_changed},
        {&PERSISTENT_VOLUMES, &controller->persistent_volumes, .observer = pv_changed,
         .keep = kept_of_pvs},
        {&VOLUME_ATTACHMENTS, &controller->volume_attachments,
         .observer = volume_attachment_changed, .keep = kept_of_volume_attachments},
        {&NAMESPACES, &controller->namespaces, .keep = kept_of_namespaces, .metadata_only = true},
        {&PODS, &controller->pods, .keep = kept_of_pods, .field_selector = live_pods},
    };

    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        *kinds[i].store = store_new();
        if (kinds[i].observer)
            store_observe(*kinds[i].store, kinds[i].observer, controller);
    }
    indexes_add(controller);
    replan_start(controller);
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        reflector_start(group, &(struct reflector_config){
                                   .kube = controller->kube,
                                   .resource = kinds[i].resource,
                                   .namespace_ = namespace_of(controller, kinds[i].resource),
                                   .field_selector = kinds[i].field_selector,
                                   .metadata_only = kinds[i].metadata_only,
                                   .keep = kinds[i].keep,
                                   .store = *kinds[i].store,
                                   .failed = watch_failed,
                               });
}

struct err *mirror_wait_synced(struct task *self, struct controller *controller)
{
    struct store *const stores[] = {STORES_OF_VOLUMES(controller)};

    for (size_t i = 0; i < COUNT_OF(stores); i++)
        TRY(store_wait_synced(self, stores[i], TIMER_NEVER));
    return NULL;
}

struct err *mirror_wait_pods(struct task *self, struct controller *controller)
{
    TRY(store_wait_synced(self, controller->namespaces, TIMER_NEVER));
    return store_wait_synced(self, controller->pods, TIMER_NEVER);
}

bool mirror_has_pods(const struct controller *controller)
{
    return store_is_synced(controller->namespaces) && store_is_synced(controller->pods);
}

struct err *mirror_catch_up(struct task *self, struct controller *controller)
{
    const struct {
        const struct api_resource *resource;
        struct store *store;
    } written[] = {{&AZ_VOLUMES, controller->volumes},
                   {&AZ_VOLUME_ATTACHMENTS, controller->attachments}};

    for (size_t i = 0; i < COUNT_OF(written); i++)
        TRY(reflector_catch_up(self, &(struct reflector_config){
                                         .kube = controller->kube,
                                         .resource = written[i].resource,
                                         .namespace_ = controller->settings.namespace_,
                                         .store = written[i].store,
                                     }));
    return NULL;
}

struct err *mirror_catch_up_publications(struct task *self, struct controller *controller)
{
    return reflector_catch_up(self, &(struct reflector_config){
                                        .kube = controller->kube,
                                        .resource = &VOLUME_ATTACHMENTS,
                                        .keep = kept_of_volume_attachments,
                                        .store = controller->volume_attachments,
                                    });
}

struct err *mirror_catch_up_persistent_volumes(struct task *self, struct controller *controller)
{
    return reflector_catch_up(self, &(struct reflector_config){
                                        .kube = controller->kube,
                                        .resource = &PERSISTENT_VOLUMES,
                                        .keep = kept_of_pvs,
                                        .store = controller->persistent_volumes,
                                    });
}

void mirror_free(struct controller *controller)
{
    struct store *const stores[] = {STORES_OF_VOLUMES(controller), controller->namespaces,
                                    controller->pods};

    replan_stop(controller);
    for (size_t i = 0; i < COUNT_OF(stores); i++)
        store_free(stores[i]);
}

void mirror_enqueue_all(struct controller *controller)
{
    STORE_FOREACH(controller->volumes, object) {
        enqueue(controller, controller->volume_queue, object->metadata->name);
        enqueue(controller, controller->replica_queue, object->metadata->name);
    }
    STORE_FOREACH(controller->attachments, object) {
        const Api__AzVolumeAttachmentSpec *spec = as_attachment(object)->spec;

        enqueue_attachment(controller, object);
        if (spec && spec->node_name) /* which may be gone since */
            enqueue(controller, controller->node_queue, spec->node_name);
    }
    STORE_FOREACH(controller->driver_nodes, object)
        enqueue(controller, controller->node_queue, object->metadata->name);
    recovery_of_all(controller);
}
