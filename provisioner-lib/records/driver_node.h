/* driver_node.h - an AzDriverNode: when its plug-in was last heard of, and in which boot.
 *
 * For all programs. Pure.
 */
#pragma once

#include <stdbool.h>

#include "lib/api/azdisk.pb-c.h"

/* The last heartbeat, in microseconds since 1970; 0 if there is none that can be read. */
int64_t driver_node_heard_us(const Api__AzDriverNode *node);

/* Which boot of the machine it is; NULL: plug-ins of earlier releases do not say. */
const char *driver_node_boot_id(const Api__AzDriverNode *node);

/* The plug-in has been silent for so long that it counts as not ready. One of the future, by a
 * clock that is wrong, is not. */
bool heartbeat_is_stale(int64_t heard_us, int64_t now_us, uint64_t limit_ms);
