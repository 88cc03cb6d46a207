/* latency.h - how long Azure takes for each kind of thing.
 *
 * A time is drawn from the loop's random source, so that a seed repeats it. Each kind has a text
 * that says of what: "30s" is always 30 s; "4s-12s" evenly from a range; "10s/30s/90s" of a
 * distribution with that median, 95th and 99th percentile, which is lognormal between them and
 * ends at one in a thousand.
 */
#pragma once

#include <jansson.h>

#include "lib/base/err.h"
#include "lib/rt/random.h"

/*   kind      default              what is meant
 * Up to "power" it is the time from acceptance to the end of an operation; from "get" on, the time
 * from a request to its answer. */
#define LATENCY_KINDS(ROW)                                                                         \
    ROW(CREATE, "create", "1s/4s/8s", "creation of a disk")                                        \
    ROW(UPDATE, "update", "1s-3s", "change of a disk, or of a VM with its disks left alone")       \
    ROW(DELETE, "delete", "1s-3s", "deletion of a disk, a snapshot or a VM")                       \
    ROW(SNAPSHOT, "snapshot", "1s-5s", "creation of a snapshot")                                   \
    ROW(ATTACH, "attach", "10s/30s/90s", "change of a VM that attaches disks")                     \
    ROW(DETACH, "detach", "8s/25s/120s", "change of a VM that only detaches disks")                \
    ROW(POWER, "power", "10s-30s", "start, stop or deallocation of a VM")                          \
    ROW(COPY, "copy", "10s-60s", "copy of data behind what is made from a snapshot or a disk")     \
    ROW(OWNERSHIP, "ownership", "0", "until a disk says what VMs have it")                         \
    ROW(ORPHAN, "orphan", "10s-40s", "until a disk no longer names a VM that was deleted")         \
    ROW(GET, "get", "50ms-150ms", "answer to a read")                                              \
    ROW(ACCEPT, "accept", "100ms-300ms", "answer to a write, before its operation begins")         \
    ROW(TOKEN, "token", "100ms-300ms", "answer of the token end point")                            \
    ROW(IMDS, "imds", "5ms-20ms", "answer of the instance metadata service")

enum latency_kind {
#define LATENCY_ENUM(kind, name, text, what) LATENCY_##kind,
    LATENCY_KINDS(LATENCY_ENUM)
#undef LATENCY_ENUM
        LATENCY_KIND_COUNT
};

/* One time, the ends of a range, or a median and its percentiles. */
struct latency {
    unsigned n;
    uint64_t ms[3];
};

struct latencies {
    struct latency of[LATENCY_KIND_COUNT];
    double time_factor; /* what is drawn is multiplied by it */
};

void latencies_init(struct latencies *latencies);
uint64_t latency_draw(const struct latencies *latencies, enum latency_kind kind,
                      struct random *random);

/* The kind of that name; INVALID names the kinds there are, or what a value looks like. */
struct err *latency_set(struct latencies *latencies, const char *name, const char *value)
    __attribute__((warn_unused_result));
/* A list: "attach=30s,detach=4s-6s". Nothing is changed if any of it is wrong. */
struct err *latencies_set(struct latencies *latencies, const char *list)
    __attribute__((warn_unused_result));
/* 0.001 to 1000, as text. */
struct err *latencies_set_time_factor(struct latencies *latencies, const char *text)
    __attribute__((warn_unused_result));

/* {"attach": "30s", ...} */
json_t *latencies_json(const struct latencies *latencies);
