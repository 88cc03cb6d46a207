/* target.h - what a request's URL is about.
 */
#pragma once

#include "lib/http/message.h"
#include "test/azsim/arm/form.h"
#include "test/sim/kube/kinds.h"
#include "test/sim/kube/version.h"

enum { LONGEST_PATH = 1024 };

struct target {
    const struct kind *kind;
    /* "" where the path has none; they point into `path`. */
    const char *namespace_, *name, *subresource;
    bool
        is_builtin; /* of a group that the server itself has, whether there is such a kind or not */
    char path[LONGEST_PATH];
    struct form query;
};

/* False if the server knows no such path. The target is to be released either way. */
bool target_read(const char *url, struct target *ret);
void target_fini(struct target *target);

/* "get", "list", "watch", "create", "update", "patch" or "delete"; NULL if the method does not go
 * with the path. */
const char *target_verb(const struct target *target, const char *method);
