/* failover_phases.h - of what the gap of an automatic failover consisted (docs/failover.md).
 *
 * By the controller's Event on the AzVolume, the promotion's on an AzVolumeAttachment, and the pod
 * that uses the volume since. Pure.
 */
#pragma once

#include "azdiskctl/cluster.h"

/* One failover of a volume. */
struct failover_gap {
    int64_t end_us; /* of the last phase that is known */
    char *text;     /* "from node a: 14.2 s (detect 8.1 s, fence 0.2 s, ...)" */
};

struct failover_gaps {
    struct failover_gap *items; /* in no order */
    size_t n;
};

/* `pod` uses the volume now; NULL: none does. */
struct failover_gaps failover_gaps_of(const struct cluster *cluster,
                                      const struct kube_object *volume,
                                      const struct kube_object *pod);
void failover_gaps_fini(struct failover_gaps *gaps);
