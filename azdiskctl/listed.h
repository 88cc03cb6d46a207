/* listed.h - objects of one kind as the API server lists them, page by page. The caller owns them.
 */
#pragma once

#include "lib/kube/client.h"
#include "provisioner-lib/audit/cluster_view.h"

struct listed {
    struct object_list list; /* of these items, which are referenced */
    struct kube_object **items;
};

/* Those that the query's selectors choose; its limit is no matter. After an error, `ret` has what
 * was read until then: call listed_fini in any case. */
struct err *listed_read(struct task *self, struct kube *kube, const struct api_resource *resource,
                        const char *namespace_, const struct kube_query *query, struct listed *ret)
    __attribute__((warn_unused_result));
void listed_fini(struct listed *listed);
