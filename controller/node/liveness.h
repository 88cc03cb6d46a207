/* liveness.h - unreachable nodes, and the Events that report the volumes published there.
 *
 * A volume that is published on an unreachable node is left alone, because its pod may still be
 * running and writing. Another node gets the volume only after Kubernetes has released it; an Event
 * on the AzVolume and one on the Node say this, and what Kubernetes is waiting for. The replica
 * plan replaces the replicas on such a node.
 *
 * A node is unreachable if neither kubelet nor the node plug-in reports. Kubelet's Lease is not
 * read: the node lifecycle controller turns a stale Lease into the condition Ready=Unknown of the
 * Node, which is in the cache anyway, whereas the Leases would cause an update per node every ten
 * seconds.
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
    bool unreachable;
    uint64_t again_ms; /* decide again after this time; 0: when something changes */
};

struct node_liveness_plan node_liveness_decide(const struct node_liveness_snapshot *in);

/* Writes the Events if the node is unreachable. Returns `again_ms` of the plan. */
uint64_t node_liveness_report(const struct controller *controller, const struct kube_object *node,
                              const struct kube_object *driver_node);
