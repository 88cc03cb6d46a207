/* fault.h - answers of the simulated API server that go wrong.
 *
 * A rule picks requests by verb and resource, and of these some by chance or by number. The first
 * rule that hits decides. The owner of the list adds and clears rules at any time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/api/resources.h"
#include "lib/rt/random.h"

struct fault_rule {
    /* "get", "list", "watch", "create", "update", "patch" or "delete"; NULL: any */
    const char *verb;
    const struct api_resource *resource; /* NULL: any */
    unsigned chance;                     /* in 10,000; 0: every one */
    unsigned skip;                       /* so many that match go well first */
    unsigned most;                       /* then so many go wrong; 0: without end */

    int status;             /* of the answer; 0: none comes before the request's deadline */
    unsigned retry_after_s; /* for 429 and 503; 0: none */
    bool after_effect;      /* the request is carried out nevertheless */
};

enum { MOST_FAULT_RULES = 16 };

struct fault_list {
    struct fault_rule rules[MOST_FAULT_RULES];
    unsigned n;
    unsigned hits[MOST_FAULT_RULES]; /* how often each has struck */
};

/* More than MOST_FAULT_RULES are a bug and abort. */
void fault_add(struct fault_list *list, const struct fault_rule *rule);
void fault_clear(struct fault_list *list);

/* The rule that this request meets; NULL: none. Counts, and draws where a rule has a chance. */
const struct fault_rule *fault_draw(struct fault_list *list, const char *verb,
                                    const struct api_resource *resource, struct random *random);
