#include "scheduler-extender/placement_advice.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "scheduler-extender/digest.h"
#include "scheduler-extender/pod_disks.h"
#include "scheduler-extender/verbs.h"

enum {
    WEIGHT_OF_A_POINT = 10,
    BEST_SCORE = 10,
    LEAST_SCORE = 2, /* a node may have 1 without any of the disks */
};

/* The nodes with a plug-in, by their names, which are in the store's digests. */
static struct named *list_nodes(const struct extender *extender, size_t *ret_n)
{
    struct named *nodes = NULL;
    size_t n = 0;

    STORE_FOREACH(extender->driver_nodes, object) {
        const struct node_digest *node = KUBE_DIGEST(struct node_digest, object);

        if (node->name[0])
            ARRAY_ADD(nodes, n) =
                (struct named){node->name, (uint32_t)strlen(node->name), node->node};
    }
    *ret_n = n;
    return nodes;
}

/* The best first. */
static size_t pick_best(const struct named *nodes, const unsigned *scores, size_t n,
                        struct preferred_node best[PREFERRED_NODES])
{
    size_t n_best = 0;

    for (unsigned score = BEST_SCORE; score >= LEAST_SCORE; score--)
        for (size_t i = 0; i < n && n_best < PREFERRED_NODES; i++)
            if (scores[i] == score)
                best[n_best++] = (struct preferred_node){nodes[i].text, score * WEIGHT_OF_A_POINT};
    return n_best;
}

static json_t *prefer(const struct extender *extender, const struct pod_disks *disks,
                      const struct admission_review *review)
{
    struct preferred_node best[PREFERRED_NODES];
    size_t n;
    CLEANUP(freep) struct named *nodes = list_nodes(extender, &n);
    CLEANUP(freep) unsigned *scores = mem_alloc(n * sizeof *scores);

    extender_prioritize(extender, disks, nodes, n, scores);
    return placement_preference_patch(review, best, pick_best(nodes, scores, n, best));
}

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
