/* malloc_tuning.h - settings of malloc that keep a long-lived program's memory small.
 *
 * One arena for all threads, because those beside the loop's allocate little; and what bursts of
 * work have left free goes back to the system once a minute.
 */
#pragma once

#include "lib/rt/loop.h"

/* First thing in main. */
void malloc_use_one_arena(void);

struct malloc_trimmer {
    struct loop *loop;
    struct timer timer;
};

/* `trimmer` must live as long as the loop. */
void malloc_trim_regularly(struct loop *loop, struct malloc_trimmer *trimmer);
