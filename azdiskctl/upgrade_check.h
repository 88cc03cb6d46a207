/* upgrade_check.h - `azdiskctl upgrade-check`: what would stop the chart half-way, or should stop
 * it.
 *
 * Helm changes one object after the other, and what the API server refuses leaves a release half
 * upgraded. The chart asks before: it has a plan, of what it is going to have (made by
 * templates/upgrade-check.yaml):
 *
 *   {"release": "NAMESPACE/NAME", "version": "0.1.0", "driver": "disk.csi.azure.com",
 *    "objects": [...]}
 *
 * An object has kind, metadata, and those of its members that are compared. A
 * CustomResourceDefinition has "versions" in the place of its spec, and "storage", one of them, if
 * the driver needs it. A MutatingWebhookConfiguration has "service". "left": true has what the
 * chart does not: if it is of the release, as Microsoft's charts have it, Helm or Argo CD deletes
 * it. Pure.
 */
#pragma once

#include <jansson.h>

#include "lib/api/resources.h"
#include "lib/base/buffer.h"
#include "provisioner-lib/audit/cluster_view.h"

/* NULL: there is no such kind in a plan. */
const struct api_resource *upgrade_check_resource(const char *kind);

/* Another driver serves the plan's volumes, or has served them: not this one, by `found`. */
bool upgrade_check_is_move(const json_t *plan, const json_t *found);
/* {"release", "version", "compared": how many objects, "obstacles": [{"object", "wrong", "todo"}]};
 * `found` has what the cluster has of each object of the plan, null where there is none, and `pvs`
 * PersistentVolumes, if it is a move. */
json_t *upgrade_check_document(const json_t *plan, const json_t *found,
                               const struct object_list *pvs) __attribute__((warn_unused_result));
/* Nothing is in the way. */
bool upgrade_check_is_clean(const json_t *document);
void upgrade_check_text(const json_t *document, struct buffer *out);
