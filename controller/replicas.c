/* The replica reconciler: keeps the replicas of a volume as replica_plan.h wants them, and collects
 * them some time after the last unpublish. The key is the AzVolume's. */

#include <stdlib.h>
#include <string.h>

#include "controller/controller.h"
#include "controller/names.h"
#include "controller/replica_plan.h"
#include "controller/volume_view.h"
#include "lib/api/azdisk.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/base/timestamp.h"

/* ---- gather ---- */

struct view {
    struct replica_node *nodes;
    size_t n_nodes;
    struct replica_attachment *attachments;
    struct kube_object **objects; /* referenced; beside the attachments */
    size_t n_attachments;
    bool has_primary, primary_attached;
    char *zone;
};

static void view_fini(struct view *view)
{
    for (size_t i = 0; i < view->n_attachments; i++)
        kube_object_unref(view->objects[i]);
    for (size_t i = 0; i < view->n_nodes; i++) {
        free((char *)(uintptr_t)view->nodes[i].name);
        free((char *)(uintptr_t)view->nodes[i].zone);
    }
    free(view->nodes);
    free(view->attachments);
    free(view->objects);
    free(view->zone);
}

static const Api__AzDriverNode *driver_node_of(const struct controller *controller,
                                               const char *node)
{
    CLEANUP(freep) char *key = kube_key(controller->settings.namespace_, node);
    struct kube_object *object = store_get(controller->driver_nodes, key);

    return object ? KUBE_AS(Api__AzDriverNode, object) : NULL;
}

/* The plug-in says that it is well, and said so lately. */
static bool is_plugin_ready(const struct controller *controller, const Api__AzDriverNode *node)
{
    const Api__AzDriverNodeStatus *status = node ? node->status : NULL;
    int64_t heard = 0;

    if (!status || !status->ready_for_volume_allocation || !status->last_heartbeat_time)
        return false;
    CLEANUP(err_freep) struct err *err = timestamp_parse(status->last_heartbeat_time, &heard);
    int64_t silence = loop_wall_us(controller->loop) - heard;
    return !err && silence < (int64_t)controller->settings.heartbeat_limit_ms * 1000;
}

static unsigned free_slots_of(const struct controller *controller, const char *node,
                              const Api__AzDriverNode *driver_node)
{
    const Api__AzDriverNodeStatus *status = driver_node ? driver_node->status : NULL;
    int limit = status && status->slots ? status->slots->limit : 0;
    size_t n;

    store_find(controller->attachments_by_node, node, &n);
    return limit > (int)n ? (unsigned)limit - (unsigned)n : 0;
}

static void add_node(const struct controller *controller, struct view *view,
                     const struct kube_object *object)
{
    const Api__Node *node = KUBE_AS(Api__Node, object);
    const char *name = object->metadata->name;
    const Api__AzDriverNode *driver_node = driver_node_of(controller, name);
    CLEANUP(freep)
    char *zone_key = mem_printf(ZONE_OF_DRIVER, controller->settings.driver_name);
    const char *zone = kube_label(object->metadata, zone_key);

    if (!driver_node)
        return;
    ARRAY_ADD(view->nodes, view->n_nodes) = (struct replica_node){
        .name = mem_strdup(name),
        .zone = mem_strdup(zone ? zone : ""),
        .ready = node_is_ready(node) && is_plugin_ready(controller, driver_node),
        .schedulable = node_is_schedulable(node),
        .free_slots = free_slots_of(controller, name, driver_node),
    };
}

static size_t index_of(const struct view *view, const char *node)
{
    size_t i = 0;

    while (i < view->n_nodes && strcmp(view->nodes[i].name, node) != 0)
        i++;
    return i;
}

/* A node that is gone still has its attachment for a while; it is of no use, like a silent one. */
static size_t index_or_gone(struct view *view, const char *node)
{
    size_t i = index_of(view, node);

    if (i == view->n_nodes)
        ARRAY_ADD(view->nodes, view->n_nodes) =
            (struct replica_node){.name = mem_strdup(node), .zone = mem_strdup("")};
    return i;
}

static void add_attachment(struct view *view, struct kube_object *object)
{
    const Api__AzVolumeAttachment *attachment = as_attachment(object);
    bool leaving = is_deleting(object);

    if (!attachment->spec || !attachment->spec->node_name || view->n_attachments == MAX_ATTACHMENTS)
        return;
    size_t n = view->n_attachments;
    ARRAY_ADD(view->objects, n) = kube_object_ref(object);
    ARRAY_ADD(view->attachments, view->n_attachments) = (struct replica_attachment){
        .node = index_or_gone(view, attachment->spec->node_name),
        .primary = is_primary(attachment) && !leaving,
        .leaving = leaving,
    };
    if (!is_primary(attachment) || leaving)
        return;
    view->has_primary = true;
    view->primary_attached |= attachment->status && attachment->status->state &&
                              strcmp(attachment->status->state, STATE_ATTACHED) == 0;
}

static void gather(const struct controller *controller, const Api__AzVolume *volume,
                   struct view *ret)
{
    size_t n;
    struct kube_object *const *objects =
        attachments_of_volume(controller, volume->metadata->name, &n);

    *ret = (struct view){.zone = volume_zone(controller, volume)};
    STORE_FOREACH(controller->nodes, object)
        add_node(controller, ret, object);
    for (size_t i = 0; i < n; i++)
        add_attachment(ret, objects[i]);
}

/* ---- carry out ---- */

static struct err *create_replica(struct task *self, struct controller *controller,
                                  const Api__AzVolume *volume, const char *node)
{
    CLEANUP(kube_object_unrefp) struct kube_object *created = NULL;
    CLEANUP(json_decrefp) json_t *json = attachment_json(volume, node, ROLE_REPLICA);

    TRY(kube_create(self, controller->leader_kube, &AZ_VOLUME_ATTACHMENTS,
                    controller->settings.namespace_, json, &created));
    store_note(controller->attachments, created);
    return NULL;
}

/* Not if it was promoted meanwhile. */
static struct err *release(struct task *self, struct controller *controller,
                           const struct view *view, size_t node)
{
    for (size_t i = 0; i < view->n_attachments; i++) {
        const struct kube_object *object = view->objects[i];

        if (view->attachments[i].node == node && !view->attachments[i].leaving)
            return kube_delete_unchanged(self, controller->leader_kube, &AZ_VOLUME_ATTACHMENTS,
                                         object);
    }
    return NULL;
}

static struct err *carry_out(struct task *self, struct controller *controller,
                             const Api__AzVolume *volume, const struct view *view,
                             const struct replica_plan *plan)
{
    for (size_t i = 0; i < plan->n_release; i++) {
        struct err *err = release(self, controller, view, plan->release[i]);

        if (err && err_kind(err) != ERR_NOT_FOUND)
            return err;
        err_free(err);
    }
    for (size_t i = 0; i < plan->n_attach; i++) {
        struct err *err =
            create_replica(self, controller, volume, view->nodes[plan->attach[i]].name);

        if (err && err_kind(err) != ERR_EXISTS)
            return err;
        err_free(err);
    }
    return NULL;
}

/* ---- the deadline of collection ---- */

/* `time` NULL takes the note away. */
static struct err *write_deadline(struct task *self, struct controller *controller,
                                  const struct kube_object *object, const char *time)
{
    CLEANUP(kube_object_unrefp) struct kube_object *written = NULL;
    CLEANUP(json_decrefp)
    json_t *patch = json_pack("{s:{s:s}, s:{s:{s:s?}}}", "metadata", "resourceVersion",
                              object->metadata->resource_version, "status", "annotation",
                              NOTE_COLLECT_AFTER, time);

    TRY(kube_patch(self, controller->leader_kube, &AZ_VOLUMES, controller->settings.namespace_,
                   object->metadata->name, "status", patch, &written));
    store_note(controller->volumes, written);
    return NULL;
}

/* While nobody has the volume published, its replicas stay until the deadline, which is in the
 * object so that the next leader keeps it. */
static struct err *check_deadline(struct task *self, struct controller *controller,
                                  const struct kube_object *object, const struct view *view,
                                  bool *ret_collect)
{
    const char *note = volume_note(as_volume(object), NOTE_COLLECT_AFTER);
    int64_t now = loop_wall_us(controller->loop), deadline = 0;
    char text[TIMESTAMP_SIZE];

    *ret_collect = false;
    if (view->has_primary || view->n_attachments == 0)
        return note ? write_deadline(self, controller, object, NULL) : NULL;

    CLEANUP(err_freep) struct err *err = note ? timestamp_parse(note, &deadline) : NULL;
    if (!note || err) {
        timestamp_format_micro(now + (int64_t)controller->settings.replica_gc_delay_ms * 1000,
                               text);
        return write_deadline(self, controller, object, text);
    }
    *ret_collect = now >= deadline;
    if (!*ret_collect)
        queue_add_at(controller->replica_queue, object->key,
                     loop_now(controller->loop) + (uint64_t)(deadline - now) / 1000 + 1);
    return NULL;
}

struct err *reconcile_replicas(struct task *self, void *ctx, const char *key)
{
    struct controller *controller = ctx;
    struct kube_object *found = store_get(controller->volumes, key);
    CLEANUP(view_fini) struct view view = {0};
    struct replica_plan plan;
    bool collect;

    if (!found || is_deleting(found) || !volume_is_created(as_volume(found)))
        return NULL; /* the volume's own reconciler takes care of its attachments */
    CLEANUP(kube_object_unrefp) struct kube_object *object = kube_object_ref(found);
    const Api__AzVolume *volume = as_volume(object);

    gather(controller, volume, &view);
    TRY(check_deadline(self, controller, object, &view, &collect));
    if (!view.has_primary && !collect)
        return NULL;
    replica_decide(
        &(struct replica_snapshot){
            .nodes = view.nodes,
            .n_nodes = view.n_nodes,
            .attachments = view.attachments,
            .n_attachments = view.n_attachments,
            .wanted = collect ? 0 : (unsigned)volume->spec->max_mount_replica_count,
            .may_attach = view.primary_attached,
            .max_shares = volume_max_shares(volume),
            .zone = view.zone,
        },
        &plan);
    return carry_out(self, controller, volume, &view, &plan);
}
