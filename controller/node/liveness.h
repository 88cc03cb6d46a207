/* liveness.h - nodes that are not heard of, and what people are told about the volumes there.
 *
 * Nothing is done to a volume that is published on a silent node: its pod may run and write. It is
 * promoted elsewhere when Kubernetes has released it, and not before; an event on the AzVolume and
 * one on the Node say so, and what Kubernetes waits for. Replicas there are replaced by the replica
 * plan.
 *
 * A node is silent when kubelet and the node plug-in both are. Kubelet's own Lease is not read: the
 * node lifecycle controller makes a stale one the condition Ready=Unknown, the Nodes are in the
 * cache already, and the Leases would be an update of every node every ten seconds for the same
 * fact.
 */
#pragma once

#include "controller/controller.h"

struct node_liveness_snapshot {
    bool node_ready;
    int64_t heard_us; /* the plug-in's last heartbeat; 0: none */
    int64_t now_us;
    uint64_t limit_ms;
};

struct node_liveness_plan {
    bool silent;
    uint64_t again_ms; /* look again after that time; 0: not before something changes */
};

struct node_liveness_plan node_liveness_decide(const struct node_liveness_snapshot *in);

/* Tells of the node if it is silent; when to look again, as above. */
uint64_t node_liveness_report(const struct controller *controller, const struct kube_object *node,
                              const struct kube_object *driver_node);
