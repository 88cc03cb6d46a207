#include "controller/placement/pick.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/cleanup.h"

static const char *const words[N_PICK_RESULTS] = {
    [PICK_NODE] = "Nominated",          [PICK_NO_VOLUME] = "NoVolume",
    [PICK_NO_ATTACHMENT] = "NoReplica", [PICK_UNHEALTHY] = "NodesNotReady",
    [PICK_REFUSED] = "NodesRefused",    [PICK_NO_PLACE] = "NodesFull",
    [PICK_HELD] = "OtherGates",
};

const char *pick_result_word(enum pick_result result)
{
    return words[result];
}

/* How far a node comes on the way to being picked: the reason why it is not. */
static enum pick_result judge(const struct pick_node *node, unsigned score)
{
    if (score == 0)
        return PICK_UNHEALTHY;
    if (node->refusal)
        return PICK_REFUSED;
    return node->joining > node->places ? PICK_NO_PLACE : PICK_NODE;
}

/* Above 0: `a` is better. */
static int compare(const struct pick_node *a, unsigned score_a, const struct pick_node *b,
                   unsigned score_b)
{
    if (score_a != score_b)
        return score_a > score_b ? 1 : -1;
    if (a->preference != b->preference)
        return a->preference > b->preference ? 1 : -1;
    if (a->joining != b->joining)
        return a->joining < b->joining ? 1 : -1;
    if (a->places != b->places)
        return a->places > b->places ? 1 : -1;
    return strcmp(b->name, a->name);
}

/* Of those that are left out the one that came furthest says why: had it been different in that,
 * there would be a pick. */
static enum pick_result further(enum pick_result a, enum pick_result b)
{
    return a > b ? a : b;
}

struct pick pick_node(const struct pick_node *nodes, size_t n_nodes, unsigned n_disks)
{
    CLEANUP(freep) struct score_node *disks = mem_alloc(n_nodes * sizeof *disks);
    CLEANUP(freep) unsigned *scores = mem_alloc(n_nodes * sizeof *scores);
    struct pick pick = {.result = n_disks ? PICK_NO_ATTACHMENT : PICK_NO_VOLUME};

    for (size_t i = 0; i < n_nodes; i++)
        disks[i] = nodes[i].disks;
    score_nodes(disks, n_nodes, n_disks, scores);
    for (size_t i = 0; i < n_nodes; i++) {
        enum pick_result result = judge(&nodes[i], scores[i]);

        if (pick.result == PICK_NODE) {
            if (result == PICK_NODE &&
                compare(&nodes[i], scores[i], &nodes[pick.node], scores[pick.node]) > 0)
                pick.node = i;
        } else {
            pick = (struct pick){result == PICK_NODE ? PICK_NODE : further(pick.result, result), i};
        }
    }
    return pick;
}
