#include "scheduler-extender/verbs.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/hash.h"
#include "lib/base/text.h"
#include "lib/kube/pod_claim.h"
#include "lib/kube/pv_source.h"
#include "provisioner-lib/records/attachment.h"
#include "provisioner-lib/records/switchover.h"
#include "scheduler-extender/informers.h"
#include "scheduler-extender/node_health.h"
#include "scheduler-extender/score.h"

/* ---- from a pod to the disks of its volumes ---- */

struct disk {
    char *id;    /* in lower case */
    bool shared; /* several nodes may use it at once */
};

struct disks {
    struct disk *items;
    size_t n;
    char *asked_for; /* a node, by a claim of a switchover; NULL: none */
};

static void disks_fini(struct disks *disks)
{
    for (size_t i = 0; i < disks->n; i++)
        free(disks->items[i].id);
    free(disks->items);
    free(disks->asked_for);
}

static bool is_shared(const Api__PersistentVolumeClaimSpec *claim)
{
    for (size_t i = 0; i < claim->n_access_modes; i++)
        if (strcmp(claim->access_modes[i], "ReadWriteMany") == 0 ||
            strcmp(claim->access_modes[i], "ReadOnlyMany") == 0)
            return true;
    return false;
}

/* The disk of a claim's volume, if it is bound and the volume is ours. */
static const char *disk_of(const struct extender *extender,
                           const Api__PersistentVolumeClaimSpec *claim)
{
    const struct kube_object *object =
        claim->volume_name ? store_get(extender->volumes, claim->volume_name) : NULL;
    const Api__PersistentVolumeSpec *volume =
        object ? KUBE_AS(Api__PersistentVolume, object)->spec : NULL;

    return pv_is_of_driver(volume, extender->settings.driver_name) ? pv_handle(volume) : NULL;
}

static void add_disk(const struct extender *extender, const char *claim_key, struct disks *disks)
{
    const struct kube_object *object = store_get(extender->claims, claim_key);
    const Api__PersistentVolumeClaimSpec *claim =
        object ? KUBE_AS(Api__PersistentVolumeClaim, object)->spec : NULL;
    const char *disk = claim ? disk_of(extender, claim) : NULL;

    if (!disk)
        return;
    CLEANUP(freep) char *id = mem_lower(disk);
    for (size_t i = 0; i < disks->n; i++)
        if (strcmp(disks->items[i].id, id) == 0)
            return; /* a pod may name a claim twice */
    ARRAY_ADD(disks->items, disks->n) = (struct disk){TAKE_PTR(id), is_shared(claim)};
    if (!disks->asked_for && !is_shared(claim))
        disks->asked_for = switchover_node(object->metadata, loop_wall_us(extender->loop));
}

static void find_disks(const struct extender *extender, const Api__Pod *pod, struct disks *ret)
{
    if (!informers_is_synced(extender) || !pod->metadata || !pod->spec)
        return;
    for (size_t i = 0; i < pod->spec->n_volumes; i++) {
        CLEANUP(freep) char *key = pod_claim_key(pod, pod->spec->volumes[i]);

        if (key)
            add_disk(extender, key, ret);
    }
}

/* ---- what nodes have of them ---- */

enum presence attachment_presence(const Api__AzVolumeAttachment *attachment)
{
    const char *state = attachment_state(attachment);

    if (kube_is_deleting(attachment->metadata) || attachment_unready_reason(attachment))
        return PRESENCE_NONE;
    if (strcmp(state, STATE_ATTACHED) == 0)
        return PRESENCE_ATTACHED;
    if (strcmp(state, STATE_ATTACHING) == 0)
        return PRESENCE_ATTACHING;
    bool waiting = !state[0] || strcmp(state, "Pending") == 0;
    return waiting && attachment_lun(attachment) != NO_LUN ? PRESENCE_ATTACHING : PRESENCE_NONE;
}

/* A node that has some of the disks. */
struct holder {
    const char *node;
    unsigned attached, attaching;
    UT_hash_handle hh; /* by `node` */
};

static struct holder *find_holder(struct holder *holders, const char *node)
{
    struct holder *holder;

    HASH_FIND_STR(holders, node, holder);
    return holder;
}

static void free_holders(struct holder **holders)
{
    HASH_FOREACH(*holders, holder) {
        HASH_DEL(*holders, holder);
        free(holder);
    }
}

static void add_holder(struct holder **holders, const struct kube_object *object)
{
    const Api__AzVolumeAttachment *attachment = as_attachment(object);
    const char *node = attachment->spec->node_name;
    enum presence presence = attachment_presence(attachment);

    if (!node || presence == PRESENCE_NONE)
        return;
    struct holder *holder = find_holder(*holders, node);
    if (!holder) {
        holder = mem_alloc(sizeof *holder);
        holder->node = node;
        HASH_ADD_KEYPTR(hh, *holders, node, strlen(node), holder);
    }
    if (presence == PRESENCE_ATTACHED)
        holder->attached++;
    else
        holder->attaching++;
}

static enum node_health health_of(const struct extender *extender, const char *node, int64_t now_us)
{
    size_t n;
    struct kube_object *const *found = store_find(extender->driver_nodes_by_node, node, &n);

    return node_health_of(n ? KUBE_AS(Api__AzDriverNode, found[0]) : NULL, now_us,
                          extender->settings.heartbeat_limit_ms);
}

/* Returns how many of the disks count. */
static unsigned find_holders(const struct extender *extender, const struct disks *disks,
                             struct holder **holders)
{
    unsigned n_counted = 0;

    for (size_t i = 0; i < disks->n; i++) {
        size_t n;
        struct kube_object *const *attachments =
            store_find(extender->attachments_by_disk, disks->items[i].id, &n);

        if (disks->items[i].shared)
            continue;
        n_counted++;
        for (size_t k = 0; k < n; k++)
            add_holder(holders, attachments[k]);
    }
    return n_counted;
}

/* ---- the answers ---- */

void extender_prioritize(const struct extender *extender, const Api__Pod *pod,
                         const char *const *nodes, size_t n_nodes, unsigned *ret_scores)
{
    CLEANUP(disks_fini) struct disks disks = {0};
    CLEANUP(free_holders) struct holder *holders = NULL;
    CLEANUP(freep) struct score_node *facts = mem_alloc(n_nodes * sizeof *facts);
    int64_t now_us = loop_wall_us(extender->loop);

    find_disks(extender, pod, &disks);
    unsigned n_disks = find_holders(extender, &disks, &holders);
    for (size_t i = 0; holders && i < n_nodes; i++) {
        const struct holder *holder = find_holder(holders, nodes[i]);

        facts[i].healthy = health_of(extender, nodes[i], now_us) == NODE_HEALTHY;
        facts[i].attached = holder ? holder->attached : 0;
        facts[i].attaching = holder ? holder->attaching : 0;
        facts[i].asked_for = same_text(disks.asked_for, nodes[i]);
    }
    score_nodes(facts, n_nodes, n_disks, ret_scores);
}

void extender_filter(const struct extender *extender, const Api__Pod *pod, const char *const *nodes,
                     size_t n_nodes, bool *ret_allowed)
{
    CLEANUP(disks_fini) struct disks disks = {0};
    int64_t now_us = loop_wall_us(extender->loop);

    find_disks(extender, pod, &disks);
    for (size_t i = 0; i < n_nodes; i++)
        ret_allowed[i] = disks.n == 0 || health_of(extender, nodes[i], now_us) != NODE_NOT_READY;
}
