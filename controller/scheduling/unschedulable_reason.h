/* unschedulable_reason.h - why a node cannot take a replica of a volume.
 */
#pragma once

#include <stddef.h>

/* In order of precedence: of several reasons, the first one is reported. */
enum unschedulable_reason {
    UNSCHEDULABLE_NONE,
    UNSCHEDULABLE_HAS_ATTACHMENT, /* an attachment of the volume is there, or its pod runs there */
    UNSCHEDULABLE_NOT_READY,      /* the node or its plug-in */
    UNSCHEDULABLE_REPLICA_SELECTOR, /* a volume's replicaNodeSelector */
    UNSCHEDULABLE_CORDONED,
    UNSCHEDULABLE_TAINT,
    UNSCHEDULABLE_SELECTOR, /* the pod's node selector or node affinity */
    UNSCHEDULABLE_ARCH,     /* another architecture or operating system than the pod's node */
    UNSCHEDULABLE_VOLUMES,  /* another volume of the pod cannot be used there */
    UNSCHEDULABLE_AFFINITY,
    UNSCHEDULABLE_ANTI_AFFINITY,
    UNSCHEDULABLE_IN_USE, /* kubelet still has a volume of the pod mounted, which is published
                             elsewhere */
    UNSCHEDULABLE_ZONE,   /* the disk's */
    UNSCHEDULABLE_NO_SLOT,
    N_UNSCHEDULABLE_REASONS,
};

/* The number of nodes for each reason. */
struct unschedulable_reasons {
    unsigned n[N_UNSCHEDULABLE_REASONS];
};

/* "0/5 nodes: 2 have no free place for a disk, 3 are cordoned", as kube-scheduler has it. free()
 * it. */
char *unschedulable_reasons_text(const struct unschedulable_reasons *reasons)
    __attribute__((warn_unused_result));
