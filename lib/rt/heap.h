/* heap.h - keeps a long-lived program's memory small.
 *
 * One arena for all threads, because those beside the loop's allocate little; and what bursts of
 * work have left free goes back to the system once a minute.
 */
#pragma once

#include "lib/rt/loop.h"

/* First thing in main. */
void heap_setup(void);

struct heap_trimmer {
    struct loop *loop;
    struct timer timer;
};

/* `trimmer` must live as long as the loop. */
void heap_trim_regularly(struct loop *loop, struct heap_trimmer *trimmer);
