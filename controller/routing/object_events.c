/* Whom a change of an object concerns: the queues of the reconcilers that go by it. */
#include "controller/routing/object_events.h"

#include <string.h>

#include "controller/attachment/attacher_calls.h"
#include "controller/attachment/snapshot.h"
#include "controller/attachment/unfenced.h"
#include "controller/cache/colocation.h"
#include "controller/cache/published.h"
#include "controller/cache/volume_name.h"
#include "controller/failover/deleted_nodes.h"
#include "controller/failover/reconcile.h"
#include "controller/placement/reconcile.h"
#include "controller/recovery/reconcile.h"
#include "controller/routing/change_filter.h"
#include "controller/snapshot/progress.h"
#include "controller/snapshot/turn.h"
#include "controller/volume/attachment_summary.h"
#include "controller/volume/disk_progress.h"
#include "lib/base/alloc.h"
#include "lib/kube/node.h"
#include "lib/kube/pod.h"
#include "provisioner-lib/records/driver_node.h"
#include "provisioner-lib/records/snapshot.h"

static bool is_new(const struct kube_object *before, const struct kube_object *after)
{
    return after && !before;
}

static void volume_changed(void *ctx, struct kube_object *before, struct kube_object *after)
{
    struct controller *controller = ctx;
    const struct kube_object *object = after ? after : before;
    size_t n;
    struct kube_object *const *attachments =
        attachments_of_volume(controller, object->metadata->name, &n);

    if (after)
        disk_progress_enqueue(controller, after);
    if (is_new(before, after))
        failover_of_volume(controller, after->metadata->name);
    if (!volume_needs_reconcile(before, after))
        return;
    enqueue(controller, VOLUME_QUEUE, object->metadata->name);
    enqueue(controller, REPLICA_QUEUE, object->metadata->name);
    enqueue(controller, RECOVERY_QUEUE, object->metadata->name);
    recovery_of_name(controller, object->metadata->name);
    for (size_t i = 0; i < n; i++)
        enqueue(controller, ATTACHMENT_QUEUE, attachments[i]->metadata->name);
}

/* Whose record says so, whatever disk the PersistentVolume of that name is about now. */
static void volumes_of_pv_changed(struct controller *controller, const char *pv)
{
    size_t n;
    struct kube_object *const *volumes = store_find(controller->volumes_by_pv, pv, &n);

    for (size_t i = 0; i < n; i++)
        enqueue(controller, VOLUME_QUEUE, volumes[i]->metadata->name);
}

static void pv_changed(void *ctx, struct kube_object *before, struct kube_object *after)
{
    struct controller *controller = ctx;
    const struct kube_object *pv = after ? after : before;
    CLEANUP(freep)
    char *name = volume_name_of_pv(controller, KUBE_AS(Api__PersistentVolume, pv)->spec);

    recovery_of_pv(controller, pv);
    volumes_of_pv_changed(controller, pv->metadata->name);
    if (name) { /* it says which claim has it */
        enqueue(controller, VOLUME_QUEUE, name);
        failover_of_volume(controller, name);
    }
}

static void volume_attachment_changed(void *ctx, struct kube_object *before,
                                      struct kube_object *after)
{
    struct controller *controller = ctx;
    const char *node = as_volume_attachment(after ? after : before)->spec->node_name;

    const Api__VolumeAttachmentSource *source =
        as_volume_attachment(after ? after : before)->spec->source;

    recovery_of_volume_attachment(controller, after ? after : before);
    if (node)
        attacher_calls_changed(controller, node);
    if (!after && source && source->persistent_volume_name)
        volumes_of_pv_changed(controller, source->persistent_volume_name);
    if (after || !node)
        return;
    failover_of_node(controller, node);
    if (!store_get(controller->nodes, node)) /* what it held back may go */
        enqueue(controller, NODE_QUEUE, node);
}

static void enqueue_attachment(struct controller *controller, const struct kube_object *object)
{
    enqueue(controller, ROLE_QUEUE, object->metadata->name);
    enqueue(controller, ATTACHMENT_QUEUE, object->metadata->name);
}

/* On a VM that was full a primary may have waited for it. */
static void place_is_free(struct controller *controller, const char *node)
{
    size_t n;
    struct kube_object *const *objects = store_find(controller->attachments_by_node, node, &n);

    for (size_t i = 0; i < n; i++)
        if (attachment_wants(as_attachment(objects[i]), ROLE_PRIMARY) &&
            strcmp(attachment_state(as_attachment(objects[i])), STATE_ATTACHED) != 0)
            enqueue(controller, ATTACHMENT_QUEUE, objects[i]->metadata->name);
}

/* The other attachments of its volume may have waited for it. */
static void attachment_changed(void *ctx, struct kube_object *before, struct kube_object *after)
{
    struct controller *controller = ctx;
    const struct kube_object *object = after ? after : before;
    const Api__AzVolumeAttachmentSpec *spec = as_attachment(object)->spec;
    size_t n = 0;
    struct kube_object *const *siblings = NULL;

    if (spec && spec->node_name)
        attacher_calls_changed(controller, spec->node_name);
    failover_of_attachment(controller, before, after);
    unfenced_consider(controller, before, after);
    if (!attachment_needs_reconcile(before, after))
        return;
    enqueue_attachment(controller, object);
    if (!spec || !spec->volume_name)
        return;
    if (spec->volume__id)
        controller->cloud->ops->reconsider(controller->cloud, spec->volume__id);
    enqueue(controller, VOLUME_QUEUE, spec->volume_name);
    enqueue(controller, REPLICA_QUEUE, spec->volume_name);
    attachment_summary_enqueue(controller, spec->volume_name);
    if (!after)
        enqueue(controller, RECOVERY_QUEUE, spec->volume_name);
    if (!after && spec->node_name)
        place_is_free(controller, spec->node_name);
    siblings = attachments_of_volume(controller, spec->volume_name, &n);
    for (size_t i = 0; i < n; i++)
        enqueue_attachment(controller, siblings[i]);
}

/* A disk may have waited for its snapshot to be copied, to grow. */
static void snapshot_is_over(const struct controller *controller, const Api__AzSnapshot *snapshot)
{
    size_t n;
    struct kube_object *const *volumes =
        volumes_of_disk(controller, snapshot->spec->source_volume_id, &n);

    for (size_t i = 0; i < n; i++)
        if (strcmp(volume_state(as_volume(volumes[i])), STATE_UPDATING) == 0)
            enqueue(controller, VOLUME_QUEUE, volumes[i]->metadata->name);
}

static bool is_pending(const struct kube_object *snapshot)
{
    const Api__AzSnapshotSpec *spec = snapshot ? as_snapshot(snapshot)->spec : NULL;

    return spec && spec->source_volume_id && snapshot_is_pending(as_snapshot(snapshot));
}

static void snapshot_changed(void *ctx, struct kube_object *before, struct kube_object *after)
{
    struct controller *controller = ctx;

    if (is_pending(before) && !is_pending(after))
        snapshot_is_over(controller, as_snapshot(before));
    if (!snapshot_needs_reconcile(before, after))
        return;
    snapshot_enqueue_turns(controller, after ? after : before);
    if (!after)
        return;
    enqueue(controller, SNAPSHOT_QUEUE, after->metadata->name);
    snapshot_progress_enqueue(controller, after);
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
           node_is_out_of_service(was) != node_is_out_of_service(is) ||
           strcmp(old_zone ? old_zone : "", zone ? zone : "") != 0;
}

static bool is_another_boot(const char *was, const char *is)
{
    return is && (!was || strcmp(was, is) != 0);
}

static const char *boot_of_node(const struct kube_object *object)
{
    return object ? node_boot_id(KUBE_AS(Api__Node, object)) : NULL;
}

/* It may have booted as another VM of the same name, to which nothing is attached. */
static void doubt_attachments(struct controller *controller, const char *node)
{
    const struct cloud_ops *ops = controller->cloud->ops;
    const struct kube_object *object = store_get(controller->nodes, node);
    CLEANUP(freep) char *id = NULL;
    CLEANUP(err_freep)
    struct err *err = ops->instance_id(
        controller->cloud, node, object ? node_provider_id(KUBE_AS(Api__Node, object)) : NULL, &id);
    size_t n;
    struct kube_object *const *attachments = store_find(controller->attachments_by_node, node, &n);

    if (!err)
        ops->instance_forget(controller->cloud, id);
    for (size_t i = 0; i < n; i++) {
        attachment_set_verified(controller, attachments[i]->metadata->uid, false);
        enqueue(controller, ATTACHMENT_QUEUE, attachments[i]->metadata->name);
    }
}

static const char *boot_of_plugin(const struct kube_object *object)
{
    return object ? driver_node_boot_id(KUBE_AS(Api__AzDriverNode, object)) : NULL;
}

/* A heartbeat alone concerns nobody. */
static void driver_node_changed(void *ctx, struct kube_object *before, struct kube_object *after)
{
    struct controller *controller = ctx;

    if (!before || !after)
        enqueue(controller, NODE_QUEUE, (after ? after : before)->metadata->name);
    if (after && is_another_boot(boot_of_plugin(before), boot_of_plugin(after)))
        doubt_attachments(controller, after->metadata->name);
}

static void node_changed(void *ctx, struct kube_object *before, struct kube_object *after)
{
    struct controller *controller = ctx;
    const char *name = (after ? after : before)->metadata->name;
    size_t n;
    struct kube_object *const *attachments = store_find(controller->attachments_by_node, name, &n);

    deleted_nodes_note(controller, before, after);
    bool booted = is_another_boot(boot_of_node(before), boot_of_node(after));
    if (!booted && !node_facts_changed(controller, before, after))
        return;
    if (booted) {
        doubt_attachments(controller, name);
        enqueue(controller, LIMIT_QUEUE, name);
    }
    enqueue(controller, NODE_QUEUE, name);
    failover_of_node(controller, name);
    for (size_t i = 0; i < n; i++)
        enqueue(controller, ATTACHMENT_QUEUE, attachments[i]->metadata->name);
    recovery_of_node(controller, name);
}

/* ---- pods ---- */

/* A change that a disk cannot go through while it is attached waits for the last pod that uses its
 * volume. */
static void wake_changing(void *ctx, const char *volume)
{
    const struct controller *controller = ctx;
    const struct kube_object *object = volume_of_name(controller, volume);

    if (object && (strcmp(volume_state(as_volume(object)), STATE_UPDATING) == 0 ||
                   volume_is_modifying(as_volume(object))))
        enqueue(controller, VOLUME_QUEUE, volume);
}

static void pod_changed(void *ctx, struct kube_object *before, struct kube_object *after)
{
    struct controller *controller = ctx;

    if (after) {
        failover_of_pod(controller, after);
        placement_of_pod(controller, after);
    }
    if (controller->leading && before && pod_is_live(KUBE_AS(Api__Pod, before)) &&
        !(after && pod_is_live(KUBE_AS(Api__Pod, after))))
        pod_each_volume(controller, KUBE_AS(Api__Pod, before), wake_changing, controller);
}

/* ---- all of them ---- */

void object_events_start(struct controller *controller)
{
    store_observe(controller->volumes, volume_changed, controller);
    store_observe(controller->attachments, attachment_changed, controller);
    store_observe(controller->driver_nodes, driver_node_changed, controller);
    store_observe(controller->snapshots, snapshot_changed, controller);
    store_observe(controller->nodes, node_changed, controller);
    store_observe(controller->persistent_volumes, pv_changed, controller);
    store_observe(controller->volume_attachments, volume_attachment_changed, controller);
    store_observe(controller->pods, pod_changed, controller);
}

void object_events_of_all(struct controller *controller)
{
    STORE_FOREACH(controller->volumes, object) {
        enqueue(controller, VOLUME_QUEUE, object->metadata->name);
        enqueue(controller, REPLICA_QUEUE, object->metadata->name);
        attachment_summary_enqueue(controller, object->metadata->name);
        disk_progress_enqueue(controller, object);
    }
    STORE_FOREACH(controller->attachments, object) {
        const Api__AzVolumeAttachmentSpec *spec = as_attachment(object)->spec;

        enqueue_attachment(controller, object);
        if (!spec || !spec->node_name)
            continue;
        enqueue(controller, NODE_QUEUE, spec->node_name); /* which may be gone since */
        failover_of_node(controller, spec->node_name);
    }
    STORE_FOREACH(controller->driver_nodes, object)
        enqueue(controller, NODE_QUEUE, object->metadata->name);
    STORE_FOREACH(controller->nodes, object)
        failover_of_node(controller, object->metadata->name);
    STORE_FOREACH(controller->snapshots, object) {
        enqueue(controller, SNAPSHOT_QUEUE, object->metadata->name);
        snapshot_progress_enqueue(controller, object);
    }
    recovery_of_all(controller);
    placement_of_all(controller);
}
