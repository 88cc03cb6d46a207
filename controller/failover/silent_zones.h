/* silent_zones.h - how many nodes that fell silent at once may have done so for the network's sake.
 *
 * That a zone is lost is no reason to hold back: it is what replicas in other zones are for. A zone
 * counts as lost when more of its nodes are silent than kube-controller-manager lets pass for the
 * fault of single ones (--unhealthy-zone-threshold, 55 %), and at most half of the zones are. For
 * silence.c. Pure.
 */
#pragma once

#include <stdbool.h>

struct silent_zone;

/* All zero: no node was added. */
struct silent_zones {
    struct silent_zone *zones;
    unsigned elsewhere; /* nodes in no zone that are silent */
};

/* A node, once; `name` "": it is in no zone. */
void silent_zones_add(struct silent_zones *zones, const char *name, bool silent);
/* Those that are silent, but for those of zones that are lost. */
unsigned silent_zones_count(const struct silent_zones *zones);
void silent_zones_fini(struct silent_zones *zones);
