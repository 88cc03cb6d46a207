/* selector.h - labelSelector and fieldSelector of lists and watches.
 *
 * Both are requirements, all of which an object must meet. Labels: "a", "!a", "a=b", "a==b",
 * "a!=b", "a in (b,c)", "a notin (b,c)". Fields, of those that the kind can be selected by:
 * "a.b=c", "a.b==c", "a.b!=c".
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "lib/base/err.h"
#include "test/sim/kube/kinds.h"

struct selector {
    struct requirement *requirements;
    size_t n;
    char *labels, *fields; /* what the requirements point into */
};

/* NULL or "" selects all. INVALID with the code BadRequest; nothing is to be freed then. */
struct err *selector_read(const struct kind *kind, const char *labels, const char *fields,
                          struct selector *ret) __attribute__((warn_unused_result));
void selector_fini(struct selector *selector);

bool selector_matches(const struct selector *selector, const json_t *object);
