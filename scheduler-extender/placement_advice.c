#include "scheduler-extender/placement_advice.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/placement/score.h"
#include "scheduler-extender/digest.h"
#include "scheduler-extender/pod_disks.h"
#include "scheduler-extender/verbs.h"

enum { WEIGHT_OF_A_POINT = 10 };

/* ---- preferred nodes ---- */

struct nodes {
    struct named *items;
    size_t n;
};

/* The name is in the digest of the node's plug-in. */
static void add_node(const struct extender *extender, uint64_t hash, struct name_table *seen,
                     struct nodes *nodes)
{
    size_t n;
    struct kube_object *const *plugins =
        store_find(extender->driver_nodes_by_node, node_key_of(hash).text, &n);

    if (n == 0 || name_table_find(seen, hash))
        return;
    name_table_put(seen, hash, 0);
    const struct node_digest *node = KUBE_DIGEST(struct node_digest, plugins[0]);
    ARRAY_ADD(nodes->items, nodes->n) =
        (struct named){node->name, (uint32_t)strlen(node->name), hash};
}

/* Those that have some of the disks. */
static void find_nodes(const struct extender *extender, const struct pod_disks *disks,
                       struct nodes *ret)
{
    CLEANUP(name_table_fini) struct name_table seen = {0};

    for (size_t i = 0; i < disks->n; i++) {
        size_t n;
        struct kube_object *const *found =
            store_find(extender->attachments_by_disk, disks->items[i].id, &n);

        for (size_t k = 0; k < n && !disks->items[i].shared; k++)
            add_node(extender, KUBE_DIGEST(struct attachment_digest, found[k])->node, &seen, ret);
    }
}

/* The best first. */
static size_t pick_best(const struct nodes *nodes, const unsigned *scores,
                        struct preferred_node best[PREFERRED_NODES])
{
    size_t n = 0;

    for (unsigned score = SCORE_MOST; score > 0; score--)
        for (size_t i = 0; i < nodes->n && n < PREFERRED_NODES; i++)
            if (scores[i] == score)
                best[n++] =
                    (struct preferred_node){nodes->items[i].text, score * WEIGHT_OF_A_POINT};
    return n;
}

static json_t *prefer(const struct extender *extender, const struct pod_disks *disks,
                      const struct admission_review *review)
{
    struct preferred_node best[PREFERRED_NODES];
    struct nodes nodes = {0};

    find_nodes(extender, disks, &nodes);
    CLEANUP(freep) struct named *items = nodes.items;
    CLEANUP(freep) unsigned *scores = mem_alloc(nodes.n * sizeof *scores);

    extender_prioritize(extender, disks, items, nodes.n, scores);
    return placement_preference_patch(review, best, pick_best(&nodes, scores, best));
}

/* ---- the advice ---- */

json_t *placement_advise(const struct extender *extender, const struct placement_rules *rules,
                         bool may_gate, const struct admission_review *review)
{
    CLEANUP(pod_disks_fini) struct pod_disks disks = {0};

    if (!placement_concerns(rules, review) || (rules->mode == PLACEMENT_NOMINATE && !may_gate))
        return NULL;
    pod_disks_find(extender, review->pod, &disks);
    if (!extender_may_prefer(extender, &disks))
        return NULL;
    return rules->mode == PLACEMENT_NOMINATE ? placement_gate_patch()
                                             : prefer(extender, &disks, review);
}
