/* notices.h - what users are told of a node that is given up, or is not: log, Events, metrics.
 *
 * For failover/reconcile.c.
 */
#pragma once

#include "controller/failover/work.h"

/* Why it is not; once. */
void failover_tell_held_back(const struct failover_work *work, const struct failover_plan *plan);
/* It is about to be, unless that was said before: from now on it counts as a failover. */
void failover_tell_begun(const struct failover_work *work);
/* It was; `proven_us`: since when it has been known that it writes no more. */
void failover_tell_given_up(const struct failover_work *work, int64_t proven_us);
/* It was not, and pods of it were moved; likewise. */
void failover_tell_moved(const struct failover_work *work, int64_t proven_us);
