/* timeline.h - `azdiskctl timeline`: what has happened to a volume, in order, and of what the gap
 * of an automatic failover consisted.
 *
 * From the times in its objects and from their Events, which Kubernetes keeps for an hour. Pure.
 */
#pragma once

#include "azdiskctl/cluster.h"
#include "lib/base/buffer.h"

/* The claim of a PersistentVolume or AzVolume, whose pods belong to the story; NULL if there is
 * none.
 */
const struct kube_object *timeline_claim(const struct cluster *cluster, const char *name);

/* `name` is that of a PersistentVolume or an AzVolume. NOT_FOUND if it is neither. */
struct err *timeline_json(const struct cluster *cluster, const char *name, json_t **ret)
    __attribute__((warn_unused_result));
void timeline_text(const json_t *timeline, struct buffer *out);
