/* install_check.h - `azdiskctl install-check`: whether the driver works: a controller leads, and
 * node plug-ins answer on the nodes that are ready.
 *
 * `helm test` asks. Pure.
 */
#pragma once

#include <jansson.h>

#include "azdiskctl/cluster.h"
#include "lib/base/buffer.h"

/* Of the leader. */
struct install_check_lease {
    const char *namespace_, *name;
    struct kube_object *object; /* referenced; NULL: there is none */
};

/* {"lease": {"namespace", "name", "exists"}, "leader": who holds it, null if nobody does or it is
 * not renewed any more, "nodes": [facts.h], "check": the comparison of the records (check.h), which
 * is taken}. */
json_t *install_check_document(const struct cluster *cluster,
                               const struct install_check_lease *lease, json_t *check)
    __attribute__((warn_unused_result));
/* All of it works, and is as it should be. */
bool install_check_is_clean(const json_t *document);
void install_check_text(const json_t *document, struct buffer *out);
