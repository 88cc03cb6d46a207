/* liveness.h - what must have come true after the quiet end of a scenario: all wishes are met, and
 * nothing is left over.
 */
#pragma once

#include <stdbool.h>

struct sim;

/* Whether it has; what is missing goes into sim->verdict as "L1 all wishes met" and so on. */
bool liveness_holds(struct sim *sim);

/* Whether a disk is on its way to a VM or from it: what is missing may come yet. */
bool liveness_is_moving(const struct sim *sim);
