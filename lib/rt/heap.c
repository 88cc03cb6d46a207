#include "lib/rt/heap.h"

#include <malloc.h>

enum { TRIM_INTERVAL_MS = 60 * 1000 };

void heap_setup(void)
{
    mallopt(M_ARENA_MAX, 1);
}

static void trim(void *ctx)
{
    struct heap_trimmer *trimmer = ctx;

    malloc_trim(0);
    heap_trim_regularly(trimmer->loop, trimmer);
}

void heap_trim_regularly(struct loop *loop, struct heap_trimmer *trimmer)
{
    trimmer->loop = loop;
    loop_start_timer(loop, &trimmer->timer, loop_now(loop) + TRIM_INTERVAL_MS, trim, trimmer);
}
