/* successor.h - the pod that takes the place of one that was evicted.
 *
 * It has the same controller, was not there before the eviction and, of a StatefulSet, has the same
 * name. Pure.
 */
#pragma once

#include "lib/base/string_set.h"
#include "provisioner-lib/audit/cluster_view.h"

struct succession {
    bool former_is_there;                /* it has not ended yet */
    const struct kube_object *successor; /* borrowed from the list; NULL: none yet */
};

/* `known` are the uids of the pods that were there before the eviction. */
struct succession succession_of(const struct object_list *pods, const Api__Pod *former,
                                const struct string_set *known);

/* It runs, and says that it is ready. */
bool pod_is_ready(const Api__Pod *pod);
