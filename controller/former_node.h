/* former_node.h - whether a node that a volume is or was unpublished from may write to it still.
 *
 * Kubernetes unpublishes a volume from a node that it has not heard of for a while, whether or not
 * that node lives on. While it may, its attachment must not become a replica: another node would
 * become the primary, and there would be two writers. For the same reason none is placed there.
 */
#pragma once

#include "controller/controller.h"

enum former_node {
    FORMER_NODE_DONE, /* it does not have the volume mounted, or somebody vouches for it */
    FORMER_NODE_USES, /* by its own last word */
    FORMER_NODE_GONE, /* there is no Node; of its VM nothing is known */
};

/* A pure function. `node` NULL: there is none. */
enum former_node former_node_of(const struct kube_object *node, const char *driver_name,
                                const char *volume_id);

/* Asks the API server, never the mirror. UNAVAILABLE if it does not say. */
struct err *former_node_ask(struct task *self, struct controller *controller, const char *node,
                            const char *volume_id, enum former_node *ret)
    __attribute__((warn_unused_result));
