/* machine_loss.h - machines that incidents strike: which, who sees to them, how they come back. For
 * node_incidents.c and vm_incidents.c.
 */
#pragma once

#include "lib/rt/random.h"
#include "test/sim/incident.h"
#include "test/sim/machine.h"

/* Nothing is wrong with it. */
bool machine_is_whole(const struct machine *machine);
/* One of those, drawn; NULL if there is none. */
struct machine *machine_any_whole(const struct world *world, struct random *random);
/* The same by the incident's own choices, which go on in `ret_random`; it is the incident's from
 * then on. */
struct machine *machine_strike(struct sim *sim, const struct incident *incident,
                               struct random *ret_random);

/* After so long a person or a program makes sure that the stricken machine is off, and taints its
 * Node: its pods may go elsewhere. Only if it is still down then. */
void machine_send_for_care(struct machine *machine, uint64_t after_ms);
/* It has its power again, and its Node no taint. */
void machine_bring_back(struct machine *machine);
