#include "provisioner-lib/placement/score.h"

/* Half disks that are on the node. */
static unsigned points(const struct score_node *node)
{
    return 2 * node->attached + node->attaching;
}

/* Rounded, but the ends of the scale are for those who have all and nothing. */
static unsigned share(const struct score_node *node, unsigned n_disks)
{
    unsigned most = 2 * n_disks, have = points(node);

    if (have == 0 || have >= most)
        return have ? SCORE_MOST : 0;
    unsigned rounded = (SCORE_MOST * have + most / 2) / most;
    if (rounded == 0)
        return 1;
    return rounded < SCORE_MOST ? rounded : SCORE_MOST - 1;
}

/* Nobody asks for more than one. */
static void prefer(size_t asked_for, size_t n_nodes, unsigned *scores)
{
    for (size_t i = 0; i < n_nodes; i++)
        if (i != asked_for)
            scores[i] = (SCORE_ASIDE * scores[i] + SCORE_MOST - 1) / SCORE_MOST;
}

void score_nodes(const struct score_node *nodes, size_t n_nodes, unsigned n_disks,
                 unsigned *ret_scores)
{
    bool any_disk = false, any_ill = false;

    for (size_t i = 0; i < n_nodes; i++) {
        any_disk |= points(&nodes[i]) > 0;
        any_ill |= !nodes[i].healthy;
    }
    unsigned least = any_disk && any_ill ? 1 : 0;

    for (size_t i = 0; i < n_nodes; i++) {
        unsigned score = nodes[i].healthy ? share(&nodes[i], n_disks) : 0;

        ret_scores[i] = nodes[i].healthy && score < least ? least : score;
    }
    for (size_t i = 0; i < n_nodes; i++)
        if (nodes[i].asked_for && ret_scores[i] == SCORE_MOST)
            prefer(i, n_nodes, ret_scores);
}
