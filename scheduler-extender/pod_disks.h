/* pod_disks.h - from a pod to the disks of its volumes, by what the stores have of claims and
 * volumes.
 *
 * What is not known yet (a cache that is not complete, a claim without a volume) is no disk. Nor is
 * the volume that a claim names and that is another claim's: whoever may write claims could learn
 * from the answers where it is attached. Loop's thread.
 */
#pragma once

#include "lib/api/kubernetes.pb-c.h"
#include "scheduler-extender/extender.h"

struct pod_disk {
    const char *id; /* in lower case; the volume's, good until the next yield */
    uint64_t hash;  /* of the id */
    bool shared;    /* several nodes may use it at once */
};

struct pod_disks {
    struct pod_disk *items; /* each disk once */
    size_t n;
    uint64_t asked_for; /* the hash of the node that a claim's switchover asks for; 0: none */
};

/* Of our volumes; `ret` is zeroed. */
void pod_disks_find(const struct extender *extender, const Api__Pod *pod, struct pod_disks *ret);
void pod_disks_fini(struct pod_disks *disks);
