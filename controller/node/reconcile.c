/* The AzDriverNode reconciler: writes how many disks a node's VM can have, and clears away what
 * belonged to a node that is gone. The key is the AzDriverNode's, whose name is the node's. */

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "controller/attachment/snapshot.h"
#include "controller/cache/informers.h"
#include "controller/cache/published.h"
#include "controller/node/liveness.h"
#include "lib/api/azdisk.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/base/hash.h"
#include "lib/base/timestamp.h"
#include "lib/kube/cached_client.h"
#include "lib/kube/node.h"
#include "provisioner-lib/records/names.h"

enum {
    REFRESH_MS = 10 * 60 * 1000, /* other people's disks come and go without a word to us */
    RETRY_MS = 30 * 1000,        /* a VM that Azure does not know may be known soon */
    MODEL_AGE_MS = 60 * 1000,
};

/* ---- a node that is gone ---- */

/* What is published there is Kubernetes' to release: its VM may be running, with the pod. */
static enum attachment_answer answer_of(const struct controller *controller,
                                        const struct kube_object *attachment)
{
    const Api__AzVolumeAttachmentSpec *spec = as_attachment(attachment)->spec;
    enum attachment_phase phase = attachment_phase_of(controller, attachment);
    bool published = spec && spec->volume_name &&
                     kubernetes_is_to_unpublish(controller, spec->volume_name, spec->node_name);

    return attachment_transition(published ? ON_NODE_GONE : ON_NODE_GONE_UNPUBLISHED, phase)
        ->answer;
}

/* A Node of that name may be back before the disk is detached. Without the request, what was a
 * primary would count as published there and stay. */
static struct err *request_detach(struct task *self, struct controller *controller,
                                  struct kube_object **io)
{
    CLEANUP(kube_object_unrefp) struct kube_object *written = NULL;

    TRY(cached_patch_status(self, controller->leader_kube, controller->attachments, *io,
                            if_unchanged(*io, attachment_detach_request_json(as_attachment(*io))),
                            &written));
    kube_object_unref(*io);
    *io = TAKE_PTR(written);
    return NULL;
}

/* Its VM may be there still, with our disks: they are detached like any other. */
static struct err *delete_attachment(struct task *self, struct controller *controller,
                                     struct kube_object **io)
{
    struct err *err = NULL;

    if (answer_of(controller, *io) == ANSWER_DETACH)
        err = request_detach(self, controller, io);
    if (!err)
        err = cached_delete(self, controller->leader_kube, controller->attachments, *io);
    return err_unless(err, ERR_NOT_FOUND);
}

/* Referenced; NULL if there is none that is to go. */
static struct kube_object *next_attachment(const struct controller *controller, const char *node)
{
    size_t n;
    struct kube_object *const *found = store_find(controller->attachments_by_node, node, &n);

    for (size_t i = 0; i < n; i++)
        if (answer_of(controller, found[i]) != ANSWER_NOTHING)
            return kube_object_ref(found[i]);
    return NULL;
}

static bool has_primary(const struct controller *controller, const char *node)
{
    size_t n;
    struct kube_object *const *found = store_find(controller->attachments_by_node, node, &n);

    for (size_t i = 0; i < n; i++)
        if (attachment_wants(as_attachment(found[i]), ROLE_PRIMARY))
            return true;
    return false;
}

/* The cache may be behind: only the API server itself is believed that a node is gone. */
static struct err *is_gone(struct task *self, struct controller *controller, const char *node,
                           bool *ret_gone)
{
    struct err *err = kube_get(self, controller->leader_kube, &NODES, NULL, node, NULL);

    *ret_gone = err && err_kind(err) == ERR_NOT_FOUND;
    if (!*ret_gone)
        return err;
    err_free(err);
    return NULL;
}

/* Before each of its attachments the node is looked for again: meanwhile one of that name may have
 * come back, and what is published there stays. */
static struct err *clear_away(struct task *self, struct controller *controller, const char *node,
                              const struct kube_object *object)
{
    if (has_primary(controller, node))
        TRY(informers_catch_up_volume_attachments(self, controller));
    for (;;) {
        CLEANUP(kube_object_unrefp) struct kube_object *attachment = NULL;
        bool gone;

        TRY(is_gone(self, controller, node, &gone));
        if (!gone)
            return NULL;
        attachment = next_attachment(controller, node);
        if (!attachment)
            break;
        TRY(delete_attachment(self, controller, &attachment));
    }
    if (!object)
        return NULL;
    struct err *err = kube_delete(self, controller->leader_kube, &AZ_DRIVER_NODES,
                                  controller->settings.namespace_, node, object->metadata->uid);
    return err_unless(err, ERR_NOT_FOUND);
}

/* ---- a node that is there ---- */

static bool is_ours(const struct controller *controller, const char *node, const char *disk_id)
{
    size_t n;
    struct kube_object *const *objects = store_find(controller->attachments_by_node, node, &n);

    for (size_t i = 0; i < n; i++) {
        const Api__AzVolumeAttachmentSpec *spec = as_attachment(objects[i])->spec;

        if (spec && spec->volume__id && strcasecmp(spec->volume__id, disk_id) == 0)
            return true;
    }
    return false;
}

/* How many disks of ours the VM can have, and who says so. */
struct limit {
    int disks;
    enum cloud_source source;
};

/* Places on the VM that are neither taken by disks of others nor reserved for them. */
static struct err *read_limit(struct task *self, struct controller *controller,
                              const struct kube_object *node, enum cloud_urgency urgency,
                              struct limit *ret)
{
    const char *name = node->metadata->name;
    const struct cloud_ops *ops = controller->cloud->ops;
    CLEANUP(cloud_instance_fini) struct cloud_instance instance = {0};
    CLEANUP(freep) char *id = NULL;

    TRY(ops->instance_id(controller->cloud, name, node_provider_id(KUBE_AS(Api__Node, node)), &id));
    TRY(ops->instance_get(self, controller->cloud, id, MODEL_AGE_MS, urgency, &instance));
    int theirs = 0, reserved = (int)controller->settings.reserved_slots;
    for (size_t i = 0; i < instance.n_slots; i++)
        theirs += !is_ours(controller, name, instance.slots[i].disk_id);
    int disks = instance.max_disks - (theirs > reserved ? theirs : reserved);
    *ret = (struct limit){disks > 0 ? disks : 0, instance.max_disks_from};
    return NULL;
}

#define CONDITION "IsLimitFromAzure"

static const struct {
    const char *status, *reason, *message;
} conditions[] = {
    [CLOUD_TOLD] = {"True", "SkuList", "The limit comes from Azure's list of VM sizes."},
    [CLOUD_KEPT] = {"True", "KeptSkuList",
                    "The limit comes from a saved copy of Azure's list of VM sizes."},
    [CLOUD_REFUSED] = {"True", "RefusedByAzure",
                       "The limit is known because Azure has refused to attach more data disks to "
                       "a VM of this size."},
    [CLOUD_BUILT_IN] =
        {"False", "BuiltInTable",
         "Azure's list of VM sizes could not be read or does not contain the VM's size. The limit "
         "comes from a built-in table; it applies to replicas and to the scheduler, but no volume "
         "that a pod uses is refused because of it."},
    [CLOUD_UNKNOWN] = {"False", "UnknownSize",
                       "Neither Azure's list of VM sizes nor the built-in table contains the VM's "
                       "size. The only limit that applies is the number of LUNs, 64."},
};

static const Api__AzDriverNodeSlotsCondition *find_condition(const Api__AzDriverNodeSlots *slots)
{
    for (size_t i = 0; slots && i < slots->n_conditions; i++)
        if (slots->conditions[i]->type && strcmp(slots->conditions[i]->type, CONDITION) == 0)
            return slots->conditions[i];
    return NULL;
}

static bool is_written(const Api__AzDriverNodeSlots *slots, const struct limit *limit)
{
    const Api__AzDriverNodeSlotsCondition *condition = find_condition(slots);

    return condition && condition->reason && slots->has_limit && slots->limit == limit->disks &&
           strcmp(condition->reason, conditions[limit->source].reason) == 0;
}

static json_t *condition_json(const Api__AzDriverNodeSlotsCondition *old, enum cloud_source source,
                              const char *now)
{
    const char *state = conditions[source].status;
    bool stays = old && old->status && old->last_transition_time && strcmp(old->status, state) == 0;

    return json_pack("{s:s, s:s, s:s, s:s, s:s}", "type", CONDITION, "status", state,
                     "lastTransitionTime", stays ? old->last_transition_time : now, "reason",
                     conditions[source].reason, "message", conditions[source].message);
}

static struct err *write_limit(struct task *self, struct controller *controller,
                               const struct kube_object *object, const struct limit *limit)
{
    const Api__AzDriverNodeStatus *status = KUBE_AS(Api__AzDriverNode, object)->status;
    const Api__AzDriverNodeSlots *slots = status ? status->slots : NULL;
    char now[TIMESTAMP_SIZE];

    if (is_written(slots, limit))
        return NULL;
    timestamp_format(loop_wall_us(controller->loop), now);
    json_t *changes =
        json_pack("{s:{s:{s:i, s:[o]}}}", "status", "slots", "limit", limit->disks, "conditions",
                  condition_json(find_condition(slots), limit->source, now));
    return cached_patch_status(self, controller->leader_kube, controller->driver_nodes, object,
                               changes, NULL);
}

/* ---- reconcilers ---- */

/* A node and its plug-in, held over yields; either may be NULL. */
struct pair {
    const char *name;
    struct kube_object *object, *node;
};

static void pair_fini(struct pair *pair)
{
    kube_object_unref(pair->object);
    kube_object_unref(pair->node);
}

static struct pair find_pair(const struct controller *controller, const char *key)
{
    const char *name = strchr(key, '/') + 1;
    struct kube_object *object = store_get(controller->driver_nodes, key);
    struct kube_object *node = store_get(controller->nodes, name);

    return (struct pair){name, object ? kube_object_ref(object) : NULL,
                         node ? kube_object_ref(node) : NULL};
}

static bool has_limit(const struct kube_object *object)
{
    const Api__AzDriverNodeStatus *status = KUBE_AS(Api__AzDriverNode, object)->status;

    return status && status->slots && status->slots->has_limit;
}

/* A node without a limit gets no disks, and its plug-in waits for it. */
static struct err *update_limit(struct task *self, struct controller *controller,
                                const struct pair *pair)
{
    enum cloud_urgency urgency = has_limit(pair->object) ? CLOUD_AUDIT : CLOUD_FOR_REPLICA;
    struct limit limit;

    TRY(read_limit(self, controller, pair->node, urgency, &limit));
    return write_limit(self, controller, pair->object, &limit);
}

/* Each node has a moment of its own in the interval: all at once would use up what Azure answers in
 * a minute. */
static uint64_t next_refresh(const struct controller *controller, const char *node)
{
    uint64_t now = loop_now(controller->loop);
    unsigned phase;

    HASH_VALUE(node, strlen(node), phase);
    return now + REFRESH_MS - (now + phase) % REFRESH_MS;
}

struct err *reconcile_limit(struct task *self, void *ctx, const char *key)
{
    struct controller *controller = ctx;
    CLEANUP(pair_fini) struct pair pair = find_pair(controller, key);

    if (!pair.object || !pair.node)
        return NULL;
    struct err *err = update_limit(self, controller, &pair);
    workqueue_add_at(controller->leading->queues[LIMIT_QUEUE], key,
                     next_refresh(controller, pair.name));
    return err;
}

struct err *reconcile_driver_node(struct task *self, void *ctx, const char *key)
{
    struct controller *controller = ctx;
    CLEANUP(pair_fini) struct pair pair = find_pair(controller, key);
    struct err *err = NULL;

    if (!pair.node)
        return clear_away(self, controller, pair.name, pair.object);
    if (!pair.object)
        return NULL; /* the plug-in will make it */
    if (!has_limit(pair.object))
        err = update_limit(self, controller, &pair);
    workqueue_add_at(controller->leading->queues[LIMIT_QUEUE], key,
                     next_refresh(controller, pair.name));

    uint64_t liveness_ms = node_liveness_report(controller, pair.node, pair.object);
    uint64_t again_ms = err ? RETRY_MS : TIMER_NEVER;
    if (liveness_ms && liveness_ms < again_ms)
        again_ms = liveness_ms;
    if (again_ms != TIMER_NEVER)
        workqueue_add_at(controller->leading->queues[NODE_QUEUE], key,
                         loop_now(controller->loop) + again_ms);
    return err;
}
