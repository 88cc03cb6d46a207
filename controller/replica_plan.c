#include "controller/replica_plan.h"

#include <assert.h>
#include <string.h>

static const struct replica_attachment *attachment_on(const struct replica_snapshot *in,
                                                      size_t node)
{
    for (size_t i = 0; i < in->n_attachments; i++)
        if (in->attachments[i].node == node)
            return &in->attachments[i];
    return NULL;
}

/* A replica on this node could be promoted to run the pod. */
static bool is_useful(const struct replica_snapshot *in, size_t node)
{
    const struct replica_node *n = &in->nodes[node];
    bool zone_fits = in->zone[0] == '\0' || strcmp(in->zone, n->zone) == 0;

    return n->ready && n->schedulable && zone_fits;
}

/* Is node a the better place for a replica than node b? All disks of a pod belong together, or none
 * of them helps it. */
static bool is_better(const struct replica_snapshot *in, size_t a, size_t b)
{
    const struct replica_node *x = &in->nodes[a], *y = &in->nodes[b];

    if (x->sibling_disks != y->sibling_disks)
        return x->sibling_disks > y->sibling_disks;
    if (x->free_slots != y->free_slots)
        return x->free_slots > y->free_slots;
    return strcmp(x->name, y->name) < 0;
}

/* The best useful node without an attachment and not in the plan yet, or n_nodes. */
static size_t best_candidate(const struct replica_snapshot *in, const struct replica_plan *plan)
{
    size_t best = in->n_nodes;

    for (size_t node = 0; node < in->n_nodes; node++) {
        bool planned = false;

        for (size_t i = 0; i < plan->n_attach; i++)
            planned |= plan->attach[i] == node;
        if (planned || in->nodes[node].free_slots == 0 || attachment_on(in, node) ||
            !is_useful(in, node))
            continue;
        if (best == in->n_nodes || is_better(in, node, best))
            best = node;
    }
    return best;
}

/* The replica to give up first among those that stay: a useless one, else the worst. n_nodes when
 * there is none. */
static size_t most_dispensable(const struct replica_snapshot *in, const struct replica_plan *plan)
{
    size_t worst = in->n_nodes;

    for (size_t i = 0; i < in->n_attachments; i++) {
        const struct replica_attachment *a = &in->attachments[i];
        bool planned = false;

        for (size_t k = 0; k < plan->n_release; k++)
            planned |= plan->release[k] == a->node;
        if (a->primary || a->leaving || planned)
            continue;
        if (worst == in->n_nodes || is_useful(in, worst) > is_useful(in, a->node) ||
            (is_useful(in, worst) == is_useful(in, a->node) && is_better(in, worst, a->node)))
            worst = a->node;
    }
    return worst;
}

/* Nodes that could take a replica and have none. */
static unsigned count_candidates(const struct replica_snapshot *in)
{
    unsigned n = 0;

    for (size_t node = 0; node < in->n_nodes; node++)
        n += in->nodes[node].free_slots > 0 && !attachment_on(in, node) && is_useful(in, node);
    return n;
}

void replica_decide(const struct replica_snapshot *in, struct replica_plan *plan)
{
    unsigned shares = (unsigned)in->n_attachments; /* in use, the leaving ones included */
    unsigned staying = 0, useful = 0;
    unsigned replaceable = in->may_attach ? count_candidates(in) : 0;

    assert(in->max_shares <= MAX_SHARES_LIMIT && in->n_attachments <= MAX_ATTACHMENTS);
    *plan = (struct replica_plan){.shortfall = REPLICAS_COMPLETE};

    for (size_t i = 0; i < in->n_attachments; i++) {
        const struct replica_attachment *a = &in->attachments[i];

        if (a->primary || a->leaving)
            continue;
        staying++;
        useful += is_useful(in, a->node);
    }

    /* Surplus goes, useless ones first; beyond that, useless ones whose place can be filled. */
    while (staying > in->wanted || (staying > useful && replaceable > 0)) {
        size_t node = most_dispensable(in, plan);

        if (staying <= in->wanted)
            replaceable--;
        useful -= is_useful(in, node);
        staying--;
        plan->release[plan->n_release++] = node;
    }

    for (; in->may_attach && staying < in->wanted; staying++) {
        size_t node = best_candidate(in, plan);

        if (node == in->n_nodes) {
            plan->shortfall = REPLICAS_NO_NODE;
            return;
        }
        if (shares >= in->max_shares) {
            plan->shortfall = REPLICAS_WAIT_RELEASE;
            return;
        }
        plan->attach[plan->n_attach++] = node;
        shares++;
    }
    if (useful < staying && in->may_attach && plan->n_attach == 0)
        plan->shortfall = REPLICAS_NO_NODE;
}
