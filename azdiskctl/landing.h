/* landing.h - to which node a pod could move so that its volumes follow at once.
 *
 * That is a node where each of the pod's volumes of this driver has a replica that is attached and
 * ready, and that would take the pod. Pure; borrows from the cluster.
 */
#pragma once

#include "azdiskctl/dependency_chain.h"

enum landing_state {
    LANDING_READY,
    LANDING_COMING,     /* a replica is on its way, or is not ready at the moment */
    LANDING_NO_REPLICA, /* of some volume: it would wait for Azure */
    LANDING_UNFIT,      /* the node would not take the pod, or the volume cannot be there */
};

struct landing {
    enum landing_state state;
    char *why; /* NULL: ready; free() it */
};

/* `chains` are the pod's (dependency_chains_of_pod), of which there is at least one. */
struct landing landing_on(const struct cluster *cluster, const struct dependency_chains *chains,
                          const char *node);

/* The best node beside `from`, of the best state that there is, and the state; UNFIT and NULL if no
 * node is fit. Among equals the one with the fewest primaries, then the first by name. */
const char *landing_best(const struct cluster *cluster, const struct dependency_chains *chains,
                         const char *from, enum landing_state *ret_state);

/* The attachment of a volume to a node that is not being deleted; NULL if there is none. */
const struct kube_object *attachment_on(const struct cluster *cluster,
                                        const struct kube_object *volume, const char *node);

/* Whether a link of the pod's chains is to a volume of this driver. */
bool chain_is_ours(const struct dependency_chain *chain);
