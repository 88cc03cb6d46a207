#include "lib/rt/malloc_tuning.h"

#include <malloc.h>

enum { TRIM_INTERVAL_MS = 60 * 1000 };

void malloc_use_one_arena(void)
{
    mallopt(M_ARENA_MAX, 1);
}

static void trim(void *ctx)
{
    struct malloc_trimmer *trimmer = ctx;

    malloc_trim(0);
    malloc_trim_regularly(trimmer->loop, trimmer);
}

void malloc_trim_regularly(struct loop *loop, struct malloc_trimmer *trimmer)
{
    trimmer->loop = loop;
    loop_start_timer(loop, &trimmer->timer, loop_now(loop) + TRIM_INTERVAL_MS, trim, trimmer);
}
