/* snapshot.h - what pick.h is asked about a pod: its volumes, and the nodes that have any of them.
 *
 * By the cache, whose the nodes' names are: good until the next yield. The volumes' are its own.
 */
#pragma once

#include "controller/controller.h"
#include "controller/placement/pick.h"

struct placement_work {
    char **volumes; /* AzVolumes' names: those that count, each once */
    size_t n_volumes;
    struct pick_node *nodes;
    size_t n_nodes;
};

/* `asked_for`: the node that a switchover asks for (records/switchover.h); NULL
 * if there is none. Only while this process leads. */
void placement_work_gather(const struct controller *controller, const Api__Pod *pod,
                           const char *asked_for, struct placement_work *ret);
void placement_work_fini(struct placement_work *work);
