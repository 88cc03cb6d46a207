/* cluster.h - an extender whose cache has been filled from objects that a test writes as JSON, by
 * its own reflectors, over a transport that stands in for the API server. Virtual time.
 */
#pragma once

#include "scheduler-extender/extender.h"

/* The objects of each list, NULL at the end. A list that is NULL itself is never answered. */
struct cluster_objects {
    const char *const *claims, *const *volumes, *const *attachments, *const *driver_nodes;
};

struct cluster;

/* The cache is filled when this returns. */
struct cluster *cluster_new(const struct cluster_objects *objects);
void cluster_free(struct cluster *cluster);
DEFINE_CLEANUP(struct cluster, cluster_free)

const struct extender *cluster_extender(const struct cluster *cluster);
/* Lets time pass. */
void cluster_advance(struct cluster *cluster, uint64_t ms);
