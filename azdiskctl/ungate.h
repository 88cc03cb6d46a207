/* ungate.h - `azdiskctl ungate`: takes the placement gate away from pods, whoever should have done
 * it and does not run any more.
 *
 * Only this gate goes; the pod is scheduled then as if it had not been there.
 */
#pragma once

#include <jansson.h>

#include "lib/base/buffer.h"
#include "lib/kube/client.h"

struct ungate_config {
    struct kube *kube;
    const char *pod;        /* "NAMESPACE/NAME", or a name alone; NULL: all pods */
    const char *namespace_; /* of a name alone; of all pods, NULL: any */
    bool dry_run;
};

/* NOT_FOUND if there is no such pod. A gate that could not be removed is in the answer. */
struct err *ungate_json(struct task *self, const struct ungate_config *config, json_t **ret)
    __attribute__((warn_unused_result));
/* No gate was left that should have gone. */
bool ungate_is_complete(const json_t *ungated);
void ungate_text(const json_t *ungated, struct buffer *out);
