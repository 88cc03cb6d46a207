/* pod_filter.h - what Kubernetes would say to a pod on each node, by what the cache knows of the
 * pod's volumes and of other pods: scheduling/node_filter.h with all that it compares with.
 *
 * It points into the cache: good until the next yield.
 */
#pragma once

#include "controller/controller.h"
#include "controller/scheduling/node_filter.h"

struct pod_filter {
    struct node_filter *filter;
    const Api__NodeSelector **volumes; /* where each of its volumes can be used */
    size_t n_volumes;
};

/* `pod` NULL: only what applies to every pod is checked. */
void pod_filter_find(const struct controller *controller, const Api__Pod *pod,
                     struct pod_filter *ret);
void pod_filter_fini(struct pod_filter *filter);
