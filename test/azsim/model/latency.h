/* latency.h - how long Azure takes for each kind of thing.
 *
 * Each kind has a range of which a time is drawn evenly, from the loop's random source, so that a
 * seed repeats it. Ranges are set by text: "30s", or "4s-12s".
 */
#pragma once

#include <jansson.h>

#include "lib/base/err.h"
#include "lib/rt/random.h"

/*   kind      least and most ms    what is meant
 * The first five are the time from acceptance to the end of an operation, the others the time from
 * a request to its answer. */
#define LATENCY_KINDS(ROW)                                                                         \
    ROW(CREATE, "create", 1000, 3000, "creation of a disk")                                        \
    ROW(UPDATE, "update", 1000, 3000, "change of a disk, or of a VM with its disks left alone")    \
    ROW(DELETE, "delete", 1000, 3000, "deletion of a disk")                                        \
    ROW(ATTACH, "attach", 8000, 12000, "change of a VM that attaches disks")                       \
    ROW(DETACH, "detach", 6000, 10000, "change of a VM that only detaches disks")                  \
    ROW(GET, "get", 50, 150, "answer to a read")                                                   \
    ROW(ACCEPT, "accept", 100, 300, "answer to a write, before its operation begins")              \
    ROW(TOKEN, "token", 100, 300, "answer of the token end point")                                 \
    ROW(IMDS, "imds", 5, 20, "answer of the instance metadata service")

enum latency_kind {
#define LATENCY_ENUM(kind, name, least, most, what) LATENCY_##kind,
    LATENCY_KINDS(LATENCY_ENUM)
#undef LATENCY_ENUM
        LATENCY_KIND_COUNT
};

struct latencies {
    struct {
        uint64_t least_ms, most_ms;
    } of[LATENCY_KIND_COUNT];
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

/* {"attach": "30s", ...} */
json_t *latencies_json(const struct latencies *latencies);
