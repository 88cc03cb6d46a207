/* filter.h - which objects `azdiskctl get` shows: those of a node, of a zone, of a pod.
 *
 * An object is of a node if its disk is attached there, or is to be, and of a pod if the pod uses
 * its volume. Pure; borrows from the command line and the cluster.
 */
#pragma once

#include "azdiskctl/kind.h"
#include "lib/base/string_set.h"

struct filter {
    const char *node, *zone, *pod; /* "": any */
    const char *pod_namespace;
    struct string_set pod_volumes; /* private */
};

/* `filter` has its first members, and with a pod the cluster has the pods of its namespace.
 * NOT_FOUND if it asks for what is not there. Call filter_fini whatever comes of it. */
struct err *filter_start(struct filter *filter, const struct cluster *cluster)
    __attribute__((warn_unused_result));
void filter_fini(struct filter *filter);

bool filter_passes(const struct filter *filter, const struct overview *overview, enum kind_id kind,
                   const struct kube_object *object);
