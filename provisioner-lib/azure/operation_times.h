/* operation_times.h - how long operations of one kind took lately, and so when to look whether one
 * that is under way has ended. Owned by arm_client.c, used by arm_operation.c.
 *
 * Every look takes of what Azure allows, and a VM whose change is seen to end late begins its next
 * one late. So the looks come when ends are likely, and otherwise in step with how long the
 * operation has taken: the pause is a fifth of that, or a half while it is quicker than any lately,
 * and up to half as long again if an end is likely then. It never exceeds 15 s.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { OPERATION_TIMES = 32 };

/* Zeroed, it knows of none. */
struct operation_times {
    uint32_t ms[OPERATION_TIMES]; /* of the last ones */
    size_t n;                     /* that were ever added */
};

void operation_times_add(struct operation_times *times, uint64_t ms);
/* How long to wait until the next look at an operation that has taken `elapsed` ms. */
uint64_t operation_times_pause(const struct operation_times *times, uint64_t elapsed);
