/* map.h - `azdiskctl map`: volumes by nodes, and nodes by their places for disks.
 *
 * Pure: a cluster that was read becomes a JSON document, and that becomes text.
 */
#pragma once

#include "azdiskctl/cluster.h"
#include "lib/base/buffer.h"

json_t *map_json(const struct cluster *cluster);
void map_text(const json_t *map, struct buffer *out);
