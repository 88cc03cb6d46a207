/* preemption.h - whose place on a node a primary takes when all are taken.
 *
 * A pure function over the attachments on one node. A primary never waits for a replica: when a VM
 * has no place left for a primary's disk, one replica on it gives way, and the replica plan finds
 * it another node. Asked again with what is then seen, it names as many as are needed, one by one.
 *
 * Guarantees, for any input:
 *   - what is published never gives way, nor does what holds no place or is leaving already;
 *   - a replica that nobody needs goes before one that somebody needs, then one of less important
 *     pods before one of more important ones, then one whose volume keeps another replica before
 *     the last one of its volume;
 *   - equal neighbours give equal answers, whatever their order.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "provisioner-lib/records/attachment.h"

/* An attachment on the same node. */
struct neighbour {
    const char *name;
    const char *disk_id;
    int lun;        /* on record; NO_LUN: it holds no place */
    bool published; /* it is to be the primary, or Kubernetes has the volume there all the same */
    bool waits;     /* it is to be the primary, and has no place on record */
    bool leaving;   /* to be detached, and nothing keeps it from that */

    bool needed;             /* its volume is published and has no more replicas than wanted */
    int32_t priority;        /* of the pods that use it; the highest counts */
    unsigned other_replicas; /* of its volume, that stay */
    const char *since;       /* when it was made, as Kubernetes writes it */
};

/* The index of the replica that gives way; `n` if there is none. */
size_t preemption_victim(const struct neighbour *neighbours, size_t n);
