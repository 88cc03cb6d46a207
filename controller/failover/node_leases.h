/* node_leases.h - reads the Leases of the node plug-ins while this process leads, and has the nodes
 * that have fallen silent reconciled (failover/reconcile.c).
 *
 * They are read, not watched: thousands of renewals a second would come in of which none matters,
 * and a read says what a watch cannot, that the API server answers.
 */
#pragma once

#include "controller/controller.h"
#include "lib/rt/group.h"

enum { MOST_FAILOVERS_A_MINUTE = 10 };

struct node_leases;

/* NULL without --node-grace-period: no node is ever silent. Part of controller->leading. */
struct node_leases *node_leases_start(struct controller *controller, struct task_group *group);
void node_leases_free(struct node_leases *leases); /* after the group was closed; NULL is fine */

/* What is said of a node that is silent; 0 and NULL of any other. */
struct node_silence {
    const char *since;   /* its last renewal, in the words of its Lease; borrowed */
    const char *boot_id; /* of the node that has renewed it, by the plug-in's word; borrowed */
    uint64_t ms;         /* nothing was heard for */
};
struct node_silence node_silence_of(const struct controller *controller, const char *node);
/* Whether the plug-in was last heard of in that boot of the node (silence.h). */
bool node_silence_is_of_boot(const struct controller *controller, const char *node,
                             const char *boot_id);
/* Kubelet's Lease of a silent node was read: whether kubelet is silent, too (silence.h). */
bool node_leases_note_kubelet(const struct controller *controller, const char *node,
                              const Api__Lease *lease);
/* Nodes that were silent with this one at the last read, or about to be (silence.h), and not given
 * up before, by anybody. */
unsigned node_leases_overdue_with(const struct controller *controller, const char *node);

/* ---- failovers of this leader ---- */

/* Since when the silent node is being given up; 0: it is not. Forgotten when it is heard of. */
uint64_t failover_begun(const struct controller *controller, const char *node);
void failover_begin(struct controller *controller, const char *node);
/* It has ended, or is none any more. */
void failover_end(struct controller *controller, const char *node);
unsigned failovers_begun_recently(const struct controller *controller);
/* NULL while this process does not lead, or gives up no nodes. */
struct machine_looks *failover_machine_looks(const struct controller *controller);
/* True if this was not said of the node before: for what is to be said once. */
bool failover_is_news(struct controller *controller, const char *node, const char *text);
