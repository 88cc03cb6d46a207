/* silent_count.h - how many machines fell silent at once, as far as that may be the network: not
 * those of a zone that is lost (docs/failover.md). For the invariants of failover.
 *
 * Who is told of what when is up to the driver: where a zone is nearly lost, it may see it as lost,
 * or not.
 */
#pragma once

#include "test/sim/machine.h"

/* Somebody expects to hear of it, and does not. */
bool silent_count_expects(const struct machine *machine);
/* With the machine: at most so many, by zones that are surely lost. What the machine itself cannot
 * be said to have outlived. */
unsigned silent_count_with(const struct machine *machine);
/* Cut off at the same moment as the machine, after each had renewed its Lease in time: at least so
 * many, by zones that may be lost. */
unsigned silent_count_cut_with(const struct machine *machine);
