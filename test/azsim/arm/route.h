/* route.h - which handler a request goes to: one table of all routes.
 *
 * Words of a path match whatever their case, as ARM does it. A route's pattern names what it takes
 * from the path: /subscriptions/{subscription}/resourceGroups/{group}/...
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "test/azsim/model/latency.h"
#include "test/azsim/model/throttle.h"

struct exchange;

struct route {
    const char *method;
    const char *path;
    const char *kind; /* for the journal */
    enum latency_kind latency;
    enum throttle_policy throttle; /* which of Compute's buckets it is charged to */
    void (*handle)(struct exchange *exchange);
};

/* Whether it is one of Resource Manager, which wants a token; the others are of Entra ID, or tell
 * where that is. */
bool route_is_of_resource_manager(const struct route *route);

/* What was taken from a path; members that its route does not name are NULL. */
struct route_match {
    const char *tenant, *subscription, *group, *name, *instance, *location, *operation;
    char *path;            /* what they point into */
    const char *parts[16]; /* the words of the path */
    size_t n_parts;
};

/* NULL if no route fits; `ret_path_known` tells whether another method would have. The match must
 * be released in any case. */
const struct route *route_find(const char *method, const char *path, struct route_match *ret_match,
                               bool *ret_path_known);
void route_match_fini(struct route_match *match);
