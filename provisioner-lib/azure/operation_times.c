#include "provisioner-lib/azure/operation_times.h"

#include <stdlib.h>

enum {
    KNOWN = 4, /* fewer say nothing of the next one */
    LEAST_MS = 1000,
    MOST_MS = 10 * 1000,
    SOON_MS = 250,   /* if an end is expected so early, or earlier */
    MARGIN_MS = 100, /* by which an answer is behind what it tells of */
    /* An end is expected when so large a part of those that took longer had ended. */
    SHARE = 8,
};

void operation_times_add(struct operation_times *times, uint64_t ms)
{
    times->ms[times->n++ % OPERATION_TIMES] = ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX;
}

static int by_length(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

    return (left > right) - (left < right);
}

static uint64_t within(uint64_t ms)
{
    ms = ms > LEAST_MS ? ms : LEAST_MS;
    return ms < MOST_MS ? ms : MOST_MS;
}

uint64_t operation_times_pause(const struct operation_times *times, uint64_t elapsed)
{
    size_t known = times->n < OPERATION_TIMES ? times->n : OPERATION_TIMES, n = 0;
    uint32_t longer[OPERATION_TIMES];

    for (size_t i = 0; i < known; i++)
        if (times->ms[i] > elapsed)
            longer[n++] = times->ms[i];
    if (known < KNOWN || n == 0)
        return within(elapsed / 5);
    qsort(longer, n, sizeof *longer, by_length);
    uint64_t pause = within(n == known ? elapsed / 2 : elapsed / 5);
    uint64_t expected = longer[(n - 1) / SHARE] + MARGIN_MS - elapsed;
    if (expected > pause + pause / 2) /* one look more before that */
        return pause;
    return expected > SOON_MS ? expected : SOON_MS;
}
