#include "scheduler-extender/verbs.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/placement/score.h"
#include "scheduler-extender/digest.h"

/* ---- what nodes have of the disks ---- */

/* A disk's attachments, if it counts. */
struct attachments {
    struct kube_object *const *items;
    size_t n;
};

static struct attachments attachments_of(const struct extender *extender,
                                         const struct pod_disk *disk)
{
    struct attachments found = {0};

    if (!disk->shared)
        found.items = store_find(extender->attachments_by_disk, disk->id, &found.n);
    return found;
}

/* Nodes that have some of the disks. */
struct holders {
    struct name_table by_node; /* the numbers of the items */
    struct score_node *items;
    size_t n;
};

static void holders_fini(struct holders *holders)
{
    name_table_fini(&holders->by_node);
    free(holders->items);
}

static struct score_node *find_holder(const struct holders *holders, uint64_t node)
{
    const int64_t *number = name_table_find(&holders->by_node, node);

    return number ? &holders->items[*number] : NULL;
}

static void add_holder(struct holders *holders, const struct attachment_digest *attachment)
{
    struct score_node *holder = find_holder(holders, attachment->node);

    if (!holder) {
        name_table_put(&holders->by_node, attachment->node, (int64_t)holders->n);
        holder = &ARRAY_ADD(holders->items, holders->n);
        *holder = (struct score_node){0};
    }
    score_node_add(holder, attachment->presence);
}

/* Returns how many of the disks count. */
static unsigned find_holders(const struct extender *extender, const struct pod_disks *disks,
                             struct holders *ret)
{
    unsigned n_counted = 0;

    for (size_t i = 0; i < disks->n; i++) {
        const struct attachments found = attachments_of(extender, &disks->items[i]);

        n_counted += !disks->items[i].shared;
        for (size_t k = 0; k < found.n; k++)
            add_holder(ret, KUBE_DIGEST(struct attachment_digest, found.items[k]));
    }
    return n_counted;
}

/* ---- the answers ---- */

enum { AHEAD = 8 }; /* nodes, which takes about as long as memory does */

static bool has_health(const struct extender *extender, enum node_health health,
                       const struct named *node, int64_t now_us)
{
    const int64_t *heard_us = name_table_find(&extender->heard_us[health], node->hash);

    return heard_us &&
           node_report_is_current(*heard_us, now_us, extender->settings.heartbeat_limit_ms);
}

bool extender_may_prefer(const struct extender *extender, const struct pod_disks *disks)
{
    size_t n = 0;

    for (size_t i = 0; i < disks->n; i++)
        n += attachments_of(extender, &disks->items[i]).n;
    return n > 0;
}

void extender_prioritize(const struct extender *extender, const struct pod_disks *disks,
                         const struct named *nodes, size_t n_nodes, unsigned *ret_scores)
{
    CLEANUP(holders_fini) struct holders holders = {0};
    CLEANUP(freep) struct score_node *facts = mem_alloc(n_nodes * sizeof *facts);
    int64_t now_us = loop_wall_us(extender->loop);
    unsigned n_disks = find_holders(extender, disks, &holders);

    for (size_t i = 0; i < n_nodes; i++) {
        if (i + AHEAD < n_nodes)
            name_table_expect(&extender->heard_us[NODE_HEALTHY], nodes[i + AHEAD].hash);
        const struct score_node *holder = find_holder(&holders, nodes[i].hash);

        if (holder)
            facts[i] = *holder;
        facts[i].healthy = has_health(extender, NODE_HEALTHY, &nodes[i], now_us);
        facts[i].asked_for = disks->asked_for && nodes[i].hash == disks->asked_for;
    }
    score_nodes(facts, n_nodes, n_disks, ret_scores);
}

bool extender_may_refuse(const struct extender *extender, const struct pod_disks *disks)
{
    return disks->n > 0 && extender->heard_us[NODE_NOT_READY].n > 0;
}

void extender_filter(const struct extender *extender, const struct pod_disks *disks,
                     const struct named *nodes, size_t n_nodes, bool *ret_allowed)
{
    int64_t now_us = loop_wall_us(extender->loop);

    for (size_t i = 0; i < n_nodes; i++)
        ret_allowed[i] = disks->n == 0 || !has_health(extender, NODE_NOT_READY, &nodes[i], now_us);
}
