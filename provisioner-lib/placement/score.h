/* score.h - how well each node suits a pod, by where the disks of the pod's volumes are.
 *
 * A pure function. It guarantees, and the test checks one by one:
 *
 * - every node gets a score from 0 to SCORE_MOST, and what it gets does not depend on the order of
 *   the nodes;
 * - SCORE_MOST is for a healthy node that has all of the pod's disks attached, and for no other;
 * - a healthy node's score grows with its share of the disks; a disk that is being attached counts
 *   for half of one that is;
 * - another disk on a node never lowers that node's score;
 * - a node that is not healthy gets 0, and a healthy one more than that as soon as any of the nodes
 *   has a disk: a replica that nobody can use draws no pod;
 * - a node that is asked for, and that is healthy and has all of the disks, sets every other node
 * to SCORE_ASIDE at most, in the same order: 7 points of a weight of 20 exceed all that the
 * scheduler adds by itself (docs/scheduling.md). One that is not so changes nothing;
 * - all nodes get the same if none of them has any of the disks, or there are no disks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum {
    SCORE_MOST = 10, /* MaxExtenderPriority of k8s.io/kube-scheduler/extender/v1 */
    SCORE_ASIDE = 3,
};

struct score_node {
    bool healthy;
    unsigned attached, attaching; /* usable disks of the pod, each counted once at most */
    bool asked_for;               /* by a switchover */
};

void score_nodes(const struct score_node *nodes, size_t n_nodes, unsigned n_disks,
                 unsigned *ret_scores);
