#include "azdiskctl/facts.h"

#include <string.h>

#include "azdiskctl/event.h"
#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "provisioner-lib/records/driver_node.h"
#include "provisioner-lib/records/fence_note.h"

enum { US_IN_S = 1000000 };

/* A text, and how long ago it was; neither if it is no time. */
static void add_time(json_t *facts, const struct cluster *cluster, const char *name,
                     const char *seconds_name, const char *time)
{
    int64_t us = time_of_text(time);

    if (!us)
        return;
    json_object_set_new(facts, name, json_string(time));
    json_object_set_new(facts, seconds_name, json_integer((cluster->now_us - us) / US_IN_S));
}

/* ---- volumes ---- */

/* What the disk has; before there is one, what is asked for. */
static int64_t size_on_record(const Api__AzVolume *volume)
{
    const Api__AzVolumeDetail *detail = volume->status ? volume->status->detail : NULL;
    const Api__AzCapacityRange *range = volume->spec ? volume->spec->capacity_range : NULL;

    return detail ? detail->capacity__bytes : range ? range->required__bytes : 0;
}

static json_t *volume_facts(const struct overview *overview, const struct kube_object *object)
{
    const Api__AzVolume *volume = as_volume(object);
    const char *disk = volume_disk_id(object);
    const struct kube_object *pv = overview_pv(overview, disk);
    const char *primary = volume->status ? volume->status->primary_node : NULL;
    CLEANUP(freep) char *claim = claim_of_pv(pv);
    CLEANUP(freep) char *zones = volume_zones(overview->cluster, object);
    int64_t size = size_on_record(volume);
    json_t *facts = json_pack(
        "{s:s, s:s*, s:s*, s:s*, s:i, s:i, s:s, s:i, s:s, s:s*, s:i, s:s*}", "name",
        object->metadata->name, "claim", claim, "persistentVolume", pv ? pv->metadata->name : NULL,
        "primaryNode", primary && *primary ? primary : NULL, "readyReplicas",
        volume->status ? volume->status->ready_replicas : 0, "replicas",
        (int)volume_replicas_requested(volume), "state", volume_stage(object), "percent",
        volume_percent(volume), "zone", zones, "sku", volume_disk(volume).sku, "maxShares",
        (int)volume_max_shares(volume), "disk", disk);

    if (size)
        json_object_set_new(facts, "sizeBytes", json_integer(size));
    return facts;
}

/* ---- attachments ---- */

static const char *fence_of(const Api__AzVolumeAttachment *attachment)
{
    return fence_note_is_lost(attachment)          ? "lost"
           : fence_note_is_unsupported(attachment) ? "unsupported"
           : fence_note_key(attachment)            ? "held"
                                                   : NULL;
}

static json_t *attachment_facts(const struct overview *overview, const struct kube_object *object)
{
    const Api__AzVolumeAttachment *attachment = as_attachment(object);
    const char *stage = attachment_stage(object);
    const char *unready = attachment_unready_reason(attachment);
    int lun = attachment_lun(attachment);
    json_t *facts = json_pack("{s:s, s:s*, s:s*, s:s, s:s, s:b, s:s*, s:s*}", "name",
                              object->metadata->name, "volume", attachment_volume(object), "node",
                              attachment_node(object), "role", attachment_role(object), "state",
                              stage, "ready", strcmp(stage, "attached") == 0 && !unready,
                              "notReady", unready, "fence", fence_of(attachment));

    (void)overview;
    if (lun != NO_LUN)
        json_object_set_new(facts, "lun", json_integer(lun));
    return facts;
}

/* ---- nodes ---- */

struct node {
    const struct cluster *cluster;
    const struct kube_object *plugin;
    const Api__AzDriverNodeStatus *status; /* of the plug-in; NULL: none */
    const Api__Node *node;                 /* NULL: there is none */
};

static bool is_gone(const struct node *node)
{
    return !node->node;
}

static bool is_out_of_service(const struct node *node)
{
    return node_is_out_of_service(node->node);
}

static bool is_unready(const struct node *node)
{
    return !node_is_ready(node->node);
}

static bool is_silent(const struct node *node)
{
    return heartbeat_is_stale(driver_node_heard_us(KUBE_AS(Api__AzDriverNode, node->plugin)),
                              node->cluster->now_us, node->cluster->heartbeat_limit_ms);
}

static bool has_unready_plugin(const struct node *node)
{
    return !node->status->ready_for_volume_allocation;
}

static bool is_cordoned(const struct node *node)
{
    return node->node->spec && node->node->spec->unschedulable;
}

/* The first that applies. */
static const struct {
    const char *state;
    bool (*applies)(const struct node *node);
} node_states[] = {
    {"NodeGone", is_gone},
    {"OutOfService", is_out_of_service},
    {"NodeNotReady", is_unready},
    {"PluginSilent", is_silent},
    {"PluginNotReady", has_unready_plugin},
    {"Ready,SchedulingDisabled", is_cordoned},
};

static const char *node_state(const struct node *node)
{
    for (size_t i = 0; i < COUNT_OF(node_states); i++)
        if (node_states[i].applies(node))
            return node_states[i].state;
    return "Ready";
}

static json_t *node_facts(const struct overview *overview, const struct kube_object *object)
{
    const struct cluster *cluster = overview->cluster;
    const char *name = object->metadata->name;
    const Api__AzDriverNodeStatus *status = KUBE_AS(Api__AzDriverNode, object)->status;
    const Api__AzDriverNodeSlots *slots = status ? status->slots : NULL;
    const struct kube_object *found = find_by(&cluster->view.nodes, key_name, name);
    const struct node node = {cluster, object, status, found ? KUBE_AS(Api__Node, found) : NULL};
    struct object_list attachments = object_index_find(&overview->by_node, name);
    int primaries = 0;

    for (size_t i = 0; i < attachments.n; i++)
        primaries += attachment_wants(as_attachment(attachments.items[i]), ROLE_PRIMARY);
    json_t *facts = json_pack("{s:s, s:s*, s:i, s:i, s:s, s:s*}", "name", name, "zone",
                              node_zone(cluster, found), "primaries", primaries, "replicas",
                              (int)attachments.n - primaries, "state", node_state(&node), "message",
                              status ? status->status_message : NULL);
    if (slots && slots->has_limit)
        json_object_set_new(facts, "places", json_integer(slots->limit));
    if (slots && slots->has_limit && slots->has_free)
        json_object_set_new(facts, "used", json_integer((json_int_t)slots->limit - slots->free));
    add_time(facts, cluster, "heartbeat", "heartbeatSeconds",
             status ? status->last_heartbeat_time : NULL);
    return facts;
}

json_t *facts_json(const struct overview *overview, enum kind_id kind,
                   const struct kube_object *object)
{
    static json_t *(*const facts_of[KINDS])(const struct overview *, const struct kube_object *) = {
        [KIND_VOLUMES] = volume_facts,
        [KIND_ATTACHMENTS] = attachment_facts,
        [KIND_REPLICAS] = attachment_facts,
        [KIND_NODES] = node_facts,
    };
    json_t *facts = facts_of[kind](overview, object);

    add_time(facts, overview->cluster, "created", "ageSeconds",
             object->metadata->creation_timestamp);
    return facts;
}
