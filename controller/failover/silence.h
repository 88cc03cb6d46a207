/* silence.h - for how long nothing was heard of each node that has promised to be heard of.
 *
 * A node plug-in with a primary that wants automatic failover renews a Lease. The leader reads all
 * of them again and again and notes here what it has read. Only the time between two reads that the
 * API server has answered counts, as far as they are not further apart than reads are meant to be:
 * while the API server does not answer, the nodes cannot be heard either. The clocks of the nodes
 * play no part in how long that was, but for a leader that has just begun they alone say which of
 * two nodes fell silent long before the other. Owner: node_leases.c. Pure; loop's thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/api/kubernetes.pb-c.h"

/* All zero but for the first two: nothing was read yet. */
struct silence {
    uint64_t grace_ms;  /* how long a node may be silent */
    uint64_t period_ms; /* between two reads */
    struct silent_node *nodes;
    uint64_t read_at;    /* loop_now() time of the answer to the last read; 0: it failed, or none */
    uint64_t counted_ms; /* surely without a renewal, where a Lease is as it was at the last read */
    unsigned reads;
};

/* A read begins; the Leases that it finds follow, and then its end, or its failure. */
void silence_begin(struct silence *silence, uint64_t begun);
/* `boot_id` is the Node's as of now; NULL: not known. */
void silence_note(struct silence *silence, const Api__Lease *lease, const char *boot_id);
/* Leases that did not come are forgotten. */
void silence_end(struct silence *silence, uint64_t now);
/* A read was not answered, or not as a whole. */
void silence_failed(struct silence *silence);
void silence_clear(struct silence *silence);

/* What a read of kubelet's Lease of a silent node has found. Whether kubelet is silent, too: it has
 * not renewed it since the plug-in fell silent, or not for as long as it has promised to
 * (leaseDurationSeconds), counted like the plug-in's silence; a cut may end between the renewals of
 * the two, and begin again. */
bool silence_note_kubelet(struct silence *silence, const char *node, const Api__Lease *lease);

/* When the plug-in of a silent node renewed its Lease last, in its words; NULL if the node is not
 * silent. Borrowed until the next note. */
const char *silence_since(const struct silence *silence, const char *node);
/* Which boot of the node has renewed it, by the plug-in's word; NULL: it has none. Borrowed
 * likewise. */
const char *silence_boot_id(const struct silence *silence, const char *node);
/* Whether the boot that kubelet reports is the one that has renewed it: by the plug-in's word, or
 * because it was the Node's when the Lease was seen to be renewed, for machines where the plug-in
 * and kubelet do not agree on what boot it is. */
bool silence_is_of_boot(const struct silence *silence, const char *node, const char *boot_id);
/* How long it has been silent; 0: it has no Lease. */
uint64_t silence_ms(const struct silence *silence, const char *node);

/* Calls fn(ctx, node, changed) for each that is silent, and for each whose silence has begun or
 * ended since the last call: `changed`. */
void silence_each_news(struct silence *silence,
                       void (*fn)(void *ctx, const char *node, bool changed), void *ctx);

/* Notes which are silent, or will be before a renewal and a read have passed: whoever was cut off
 * with a node that is silent by now, whenever its own renewals were due. `zone_of` returns the
 * node's zone, "" if it has none, NULL if the node is out of service and does not count. */
void silence_note_overdue(struct silence *silence,
                          const char *(*zone_of)(void *ctx, const char *node), void *ctx);
/* How many of those fell silent with the node, itself included, or after it, but for those of zones
 * that are lost (silent_zones.h). What fell silent more than 10 minutes before had a reason of its
 * own: a node that nobody removes when its machine is deallocated would count for ever. Of a node
 * without a Lease: all. */
unsigned silence_overdue_with(const struct silence *silence, const char *node);
