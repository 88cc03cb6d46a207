/* timer.h - calls at points in time.
 *
 * A timer is a member of its owner's struct; stopping it is immediate, and an owner stops it before
 * it goes. Timers due at the same time fire in the order in which they were started. They belong to
 * a loop and fire on its thread, on the loop's own stack. Times are the loop's milliseconds.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIMER_NEVER UINT64_MAX

struct timer {
    uint64_t due, order;
    size_t index; /* in the heap, from 1; 0: not started */
    void (*fire)(void *ctx);
    void *ctx;
};

/* A heap of timers, the earliest first. */
struct timers {
    struct timer **heap;
    size_t n, capacity;
    uint64_t started;
};

void timers_fini(struct timers *timers);

/* Starts, or moves, a timer. */
void timers_start(struct timers *timers, struct timer *timer, uint64_t due, void (*fire)(void *),
                  void *ctx);
void timers_stop(struct timers *timers, struct timer *timer); /* harmless if not started */
uint64_t timers_next(const struct timers *timers);            /* TIMER_NEVER if none */
/* Fires what is due at `now`, and what is started meanwhile and due then; whether anything was. */
bool timers_fire(struct timers *timers, uint64_t now);
/* Fires what is due at `now` and has been started already, until `goes_on(ctx)` is false after one.
 */
void timers_fire_round(struct timers *timers, uint64_t now, bool (*goes_on)(void *ctx), void *ctx);
