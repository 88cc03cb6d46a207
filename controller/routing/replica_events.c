#include "controller/routing/replica_events.h"

#include <string.h>

#include "controller/cache/colocation.h"
#include "controller/cache/volume_name.h"
#include "controller/replica/unschedulable.h"
#include "controller/scheduling/interpod_affinity.h"
#include "controller/scheduling/node_info.h"
#include "lib/base/alloc.h"
#include "lib/base/text.h"
#include "lib/kube/pod.h"
#include "provisioner-lib/audit/cluster_view.h"

enum { SILENCE_LOOK_MS = 1000 };

static void replan(struct controller *controller, const char *volume)
{
    enqueue(controller, REPLICA_QUEUE, volume);
}

static void replan_of_pod(void *ctx, const char *volume)
{
    replan(ctx, volume);
}

static void replan_on_node(struct controller *controller, const char *node)
{
    size_t n;
    struct kube_object *const *objects = store_find(controller->attachments_by_node, node, &n);

    for (size_t i = 0; i < n; i++) {
        const Api__AzVolumeAttachmentSpec *spec = as_attachment(objects[i])->spec;

        if (spec && spec->volume_name)
            replan(controller, spec->volume_name);
    }
}

/* ---- nodes ---- */

static bool same_map(Api__ObjectMeta__LabelsEntry *const *a, size_t n_a,
                     Api__ObjectMeta__LabelsEntry *const *b, size_t n_b)
{
    if (n_a != n_b)
        return false;
    for (size_t i = 0; i < n_a; i++)
        if (strcmp(a[i]->key, b[i]->key) != 0 || strcmp(a[i]->value, b[i]->value) != 0)
            return false;
    return true;
}

static bool same_spec(const Api__NodeSpec *a, const Api__NodeSpec *b)
{
    if (!a || !b)
        return a == b;
    if (a->unschedulable != b->unschedulable || a->n_taints != b->n_taints)
        return false;
    for (size_t i = 0; i < a->n_taints; i++)
        if (!same_text(a->taints[i]->key, b->taints[i]->key) ||
            !same_text(a->taints[i]->value, b->taints[i]->value) ||
            !same_text(a->taints[i]->effect, b->taints[i]->effect))
            return false;
    return true;
}

/* Whether anything but the status is the same. */
static bool same_node(const struct kube_object *before, const struct kube_object *after)
{
    if (!before || !after)
        return false;
    return same_spec(KUBE_AS(Api__Node, before)->spec, KUBE_AS(Api__Node, after)->spec) &&
           same_map(before->metadata->labels, before->metadata->n_labels, after->metadata->labels,
                    after->metadata->n_labels);
}

/* What the row was, to see whether anything has come of a change. */
struct health {
    bool well, lost;
};

static struct health health_of(const struct controller *controller, const char *name)
{
    const struct node_info *row = node_infos_find(controller->node_infos, name);

    if (!row)
        return (struct health){false, true};
    return (struct health){node_info_is_ready(controller->node_infos, row),
                           node_info_is_unreachable(controller->node_infos, row)};
}

static void follow_health(struct controller *controller, const char *name, struct health before)
{
    struct health after = health_of(controller, name);

    if (after.lost != before.lost)
        replan_on_node(controller, name);
    if (after.well && !before.well)
        unschedulable_requeue(controller, UNSCHEDULABLE_ALL);
}

/* Where kubelet had it mounted there was no place for a replica. */
static void follow_unmounts(struct controller *controller, const struct kube_object *before,
                            const struct kube_object *after)
{
    const char *driver_name = controller->settings.driver_name;
    const Api__Node *was = before ? KUBE_AS(Api__Node, before) : NULL;
    const Api__Node *is = after ? KUBE_AS(Api__Node, after) : NULL;

    for (size_t i = 0; was && is && i < node_count_in_use(was); i++) {
        const char *handle = node_volume_in_use(was, driver_name, i);
        CLEANUP(freep) char *volume = NULL;

        if (!handle || node_uses_volume(is, driver_name, handle))
            continue;
        CLEANUP(err_freep) struct err *err = volume_name_of_disk(controller, handle, &volume);
        if (err)
            continue; /* it has no AzVolume either */
        replan(controller, volume);
        colocation_requeue(controller, volume);
    }
}

static void node_changed(void *ctx, struct kube_object *before, struct kube_object *after)
{
    struct controller *controller = ctx;
    const char *name = (after ? after : before)->metadata->name;
    struct health health = health_of(controller, name);

    node_infos_node_changed(controller->node_infos, before, after);
    follow_health(controller, name, health);
    follow_unmounts(controller, before, after);
    if (same_node(before, after))
        return;
    replan_on_node(controller, name);
    unschedulable_requeue(controller, UNSCHEDULABLE_ALL);
}

static unsigned slots_of(const struct controller *controller, const char *name)
{
    const struct node_info *row = node_infos_find(controller->node_infos, name);

    return row ? row->slots : 0;
}

static void plugin_changed(void *ctx, struct kube_object *before, struct kube_object *after)
{
    struct controller *controller = ctx;
    const char *name = (after ? after : before)->metadata->name;
    struct health health = health_of(controller, name);
    unsigned slots = slots_of(controller, name);

    node_infos_plugin_changed(controller->node_infos, before, after);
    follow_health(controller, name, health);
    if (slots_of(controller, name) > slots)
        unschedulable_requeue(controller, UNSCHEDULABLE_ALL);
}

static void look_for_silence(void *ctx)
{
    struct controller *controller = ctx;
    const struct node_info *row;

    while ((row = node_infos_newly_unreachable(controller->node_infos)))
        replan_on_node(controller, row->name);
    loop_start_timer(controller->loop, &controller->liveness,
                     loop_deadline(controller->loop, SILENCE_LOOK_MS), look_for_silence,
                     controller);
}

/* ---- attachments ---- */

static bool is_staying_replica(const struct kube_object *object)
{
    return object && !kube_is_deleting(object->metadata) &&
           !attachment_wants(as_attachment(object), ROLE_PRIMARY);
}

/* A replica that comes or goes draws the pod's other volumes with it. */
static void attachment_changed(void *ctx, struct kube_object *before, struct kube_object *after)
{
    struct controller *controller = ctx;
    const Api__AzVolumeAttachmentSpec *spec = as_attachment(after ? after : before)->spec;

    node_infos_attachment_changed(controller->node_infos, before, after);
    if (is_staying_replica(before) != is_staying_replica(after) && spec && spec->volume_name)
        colocation_requeue(controller, spec->volume_name);
    if (!after)
        unschedulable_requeue(controller, UNSCHEDULABLE_FEW);
}

/* ---- pods and their volumes ---- */

static const char *node_of(const struct kube_object *object)
{
    const Api__Pod *pod = object ? KUBE_AS(Api__Pod, object) : NULL;

    return pod && pod->spec && pod->spec->node_name && pod_is_live(pod) ? pod->spec->node_name : "";
}

/* Wherever it comes to, replicas of pods that must not be with it are of no use any more; where it
 * has left, they are again. */
static void pod_changed(void *ctx, struct kube_object *before, struct kube_object *after)
{
    struct controller *controller = ctx;
    const Api__Pod *pod = KUBE_AS(Api__Pod, after ? after : before);

    if (!controller->leading)
        return;
    pod_each_volume(controller, pod, replan_of_pod, controller);
    if (strcmp(node_of(before), node_of(after)) == 0)
        return;
    if (*node_of(after))
        replan_on_node(controller, node_of(after));
    else
        unschedulable_requeue(controller, UNSCHEDULABLE_FEW);
}

static void persistent_volume_changed(void *ctx, struct kube_object *before,
                                      struct kube_object *after)
{
    struct controller *controller = ctx;
    const Api__PersistentVolumeSpec *spec =
        KUBE_AS(Api__PersistentVolume, after ? after : before)->spec;
    const Api__ObjectReference *claim = spec ? spec->claim_ref : NULL;
    size_t n;

    if (!claim || !claim->name || !controller->leading)
        return;
    CLEANUP(freep) char *key = kube_key(claim->namespace_, claim->name);
    struct kube_object *const *pods = store_find(controller->pods_by_claim, key, &n);
    for (size_t i = 0; i < n; i++)
        pod_each_volume(controller, KUBE_AS(Api__Pod, pods[i]), replan_of_pod, controller);
}

/* ---- the life of it ---- */

void replica_events_start(struct controller *controller)
{
    controller->node_infos = node_infos_new(controller->loop, controller->settings.driver_name,
                                            controller->settings.heartbeat_limit_ms);
    store_observe(controller->nodes, node_changed, controller);
    store_observe(controller->driver_nodes, plugin_changed, controller);
    store_observe(controller->attachments, attachment_changed, controller);
    store_observe(controller->pods, pod_changed, controller);
    store_observe(controller->persistent_volumes, persistent_volume_changed, controller);
    look_for_silence(controller);
}

void replica_events_stop(struct controller *controller)
{
    if (!controller->node_infos)
        return;
    loop_stop_timer(controller->loop, &controller->liveness);
    node_infos_free(controller->node_infos);
    controller->node_infos = NULL;
}
