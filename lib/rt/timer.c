#include "lib/rt/timer.h"

#include <stdlib.h>

#include "lib/base/alloc.h"

void timers_fini(struct timers *timers)
{
    free(timers->heap);
    *timers = (struct timers){0};
}

static bool before(const struct timer *a, const struct timer *b)
{
    return a->due != b->due ? a->due < b->due : a->order < b->order;
}

/* Positions count from 1, so that the parent of i is i / 2. */
static void place(struct timers *timers, size_t position, struct timer *timer)
{
    timers->heap[position - 1] = timer;
    timer->index = position;
}

static void sift_up(struct timers *timers, size_t position, struct timer *timer)
{
    for (; position > 1 && before(timer, timers->heap[position / 2 - 1]); position /= 2)
        place(timers, position, timers->heap[position / 2 - 1]);
    place(timers, position, timer);
}

static void sift_down(struct timers *timers, size_t position, struct timer *timer)
{
    for (size_t child; (child = 2 * position) <= timers->n; position = child) {
        if (child < timers->n && before(timers->heap[child], timers->heap[child - 1]))
            child++;
        if (!before(timers->heap[child - 1], timer))
            break;
        place(timers, position, timers->heap[child - 1]);
    }
    place(timers, position, timer);
}

void timers_start(struct timers *timers, struct timer *timer, uint64_t due, void (*fire)(void *),
                  void *ctx)
{
    timers_stop(timers, timer);
    timer->due = due;
    timer->order = timers->started++;
    timer->fire = fire;
    timer->ctx = ctx;
    if (timers->n == timers->capacity) {
        timers->capacity = timers->capacity ? 2 * timers->capacity : 16;
        timers->heap = mem_grow(timers->heap, timers->capacity * sizeof *timers->heap);
    }
    timers->n++;
    sift_up(timers, timers->n, timer);
}

void timers_stop(struct timers *timers, struct timer *timer)
{
    size_t position = timer->index;

    if (!position)
        return;
    timer->index = 0;

    struct timer *last = timers->heap[--timers->n];
    if (last == timer)
        return;
    sift_up(timers, position, last);
    sift_down(timers, last->index, last);
}

uint64_t timers_next(const struct timers *timers)
{
    return timers->n ? timers->heap[0]->due : TIMER_NEVER;
}

static void fire_first(struct timers *timers)
{
    struct timer *timer = timers->heap[0];

    timers_stop(timers, timer);
    timer->fire(timer->ctx);
}

bool timers_fire(struct timers *timers, uint64_t now)
{
    bool fired = false;

    for (; timers->n && timers_next(timers) <= now; fired = true)
        fire_first(timers);
    return fired;
}

void timers_fire_round(struct timers *timers, uint64_t now, bool (*goes_on)(void *ctx), void *ctx)
{
    uint64_t started = timers->started;
    bool on = true;

    while (on && timers->n && timers_next(timers) <= now && timers->heap[0]->order < started) {
        fire_first(timers);
        on = goes_on(ctx);
    }
}
