/* node_lease.h - the Leases of a simulated machine where nodes are failed over (docs/failover.md):
 * that of its plug-in, while it has a volume mounted that wants automatic failover, and kubelet's.
 * Both are renewed by the machine's own clock, which may be wrong.
 */
#pragma once

#include "test/sim/machine.h"

struct sim;

/* It runs from now on. */
void node_lease_start(struct machine *machine);
void node_lease_stop(struct machine *machine); /* its power is gone */
/* A volume was mounted. */
void node_lease_wanted(struct machine *machine);
/* An attachment of the machine's has changed. */
void node_lease_heard(struct machine *machine);
/* The plug-in ends in good order. */
void node_lease_give_up(struct machine *machine);
/* Kubelet reaches the API server again. */
void node_lease_connected(struct machine *machine);
/* How far apart renewals of the plug-in's Lease are. */
uint64_t node_lease_renewal_ms(const struct sim *sim);
/* The Lease of the plug-in says so: somebody expects to hear of the machine. */
bool node_lease_is_held(const struct machine *machine);
