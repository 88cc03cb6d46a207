/* timeline.h - `azdiskctl timeline`: what has happened to a volume, in order.
 *
 * From the times in its objects and from their Events, which Kubernetes keeps for an hour. Pure.
 */
#pragma once

#include "azdiskctl/cluster.h"
#include "lib/base/buffer.h"

/* `name` is that of a PersistentVolume or an AzVolume. NOT_FOUND if it is neither. */
struct err *timeline_json(const struct cluster *cluster, const char *name, json_t **ret)
    __attribute__((warn_unused_result));
void timeline_text(const json_t *timeline, struct buffer *out);
