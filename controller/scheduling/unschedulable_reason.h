/* unschedulable_reason.h - why a node cannot take a replica of a volume.
 */
#pragma once

#include <stddef.h>

/* In the order in which they are told: of several causes the first one counts. */
enum refusal {
    REFUSAL_NONE,
    REFUSAL_TAKEN,            /* an attachment of the volume is there, or its pod runs there */
    REFUSAL_NOT_READY,        /* the node or its plug-in */
    REFUSAL_REPLICA_SELECTOR, /* a volume's replicaNodeSelector */
    REFUSAL_CORDONED,
    REFUSAL_TAINT,
    REFUSAL_SELECTOR, /* the pod's node selector or node affinity */
    REFUSAL_MACHINE,  /* another architecture or operating system than the pod's node */
    REFUSAL_VOLUMES,  /* another volume of the pod cannot be used there */
    REFUSAL_AFFINITY,
    REFUSAL_ANTI_AFFINITY,
    REFUSAL_IN_USE, /* kubelet has a volume of the pod there still, which is published elsewhere */
    REFUSAL_ZONE,   /* the disk's */
    REFUSAL_NO_SLOT,
    N_REFUSALS,
};

/* How many nodes refuse for each cause. */
struct refusals {
    unsigned n[N_REFUSALS];
};

/* "0/5 nodes: 2 have no free place for a disk, 3 are cordoned", as kube-scheduler has it. free()
 * it. */
char *refusals_text(const struct refusals *refusals) __attribute__((warn_unused_result));
