/* impersonation.h - whom the API server shall take us for, if not for who our credentials say.
 *
 * It is said by the members as, as-uid, as-groups and as-user-extra of a kubeconfig's user, or by a
 * person beside it, who wins member by member, as with kubectl. It becomes headers of every
 * request. The server passes over a header without a value, and would then take us for ourselves,
 * so no value is let through that is empty for it or might end a header. Owned by the kube_config.
 */
#pragma once

#include <jansson.h>

#include "lib/base/err.h"
#include "lib/http/message.h"

struct impersonation {
    struct http_header *headers; /* name and value are owned */
    size_t n;
};

/* What a person says; all zero: nothing. */
struct impersonation_choice {
    const char *user, *uid; /* NULL or "": not said */
    const char *const *groups;
    size_t n_groups;
};

/* Begin with this one. INVALID names the flag: --as, --as-uid, --as-group. */
struct err *impersonation_choose(const struct impersonation_choice *choice,
                                 struct impersonation *impersonation)
    __attribute__((warn_unused_result));
/* Adds what a kubeconfig's user says of what was not chosen. INVALID names the member. */
struct err *impersonation_add(const json_t *user, struct impersonation *impersonation)
    __attribute__((warn_unused_result));
/* When all is added: INVALID if there are, say, groups, but no user. */
struct err *impersonation_check(const struct impersonation *impersonation)
    __attribute__((warn_unused_result));
void impersonation_fini(struct impersonation *impersonation);
