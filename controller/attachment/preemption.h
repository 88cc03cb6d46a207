/* preemption.h - which replica on a full node gives way to a primary.
 *
 * A pure function over the attachments on one node. A primary never waits for a replica: if a VM
 * has no free slot for a primary's disk, one replica on it gives way, and the replica plan finds
 * another node for it. Each call names one victim; if more are needed, it is called again with the
 * new state.
 *
 * Guarantees, for any input:
 *   - a published attachment never gives way, nor does one that holds no slot, keeps a fence or
 *     is leaving already;
 *   - a replica that is not ready gives way before one that is; then one that is not needed; then
 *     one whose pods have a lower priority; then one whose volume keeps another replica before the
 *     last replica of its volume;
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
    int lun;          /* on record; NO_LUN: it holds no slot */
    bool published;   /* its wanted role is Primary, or Kubernetes has the volume there */
    bool waits;       /* its wanted role is Primary, and it neither has a LUN nor is about to */
    bool leaving;     /* it will be detached, and nothing prevents this */
    bool keeps_fence; /* deleted or not, it must not be detached yet; kept_fence.h */

    bool unready;            /* by its node's word: nobody could use it */
    bool needed;             /* its volume is published and has no more replicas than wanted */
    int32_t priority;        /* of the pods that use it; the highest counts */
    unsigned other_replicas; /* of its volume, without leaving ones */
    const char *since;       /* creationTimestamp */
};

/* The index of the replica that gives way; `n` if there is none. */
size_t preemption_victim(const struct neighbour *neighbours, size_t n);
