/* taint.h - the taint by which a node is given up, as this driver sets it.
 *
 * Its value names the boot that was given up, so that nobody needs to remember when it may go, and
 * one that somebody else has set is left alone. Pure.
 */
#pragma once

#include <jansson.h>

#include "lib/kube/object.h"

#define FAILOVER_TAINT_VALUE "azuredisk-"                             /* then a boot id */
#define FAILOVER_TAINT_STAND_IN_VALUE FAILOVER_TAINT_VALUE "deleted-" /* likewise: stand_in.h */

/* The boot that this driver has given up; NULL if it has not. Borrowed. */
const char *failover_taint_boot_id(const Api__Node *node);
/* Whether the Node is there only in place of one that was deleted. */
bool failover_taint_is_stand_in(const Api__Node *node);
/* JSON patches of a Node; the first must have a boot id and not have the taint. They apply only
 * while the Node is as it is here. */
json_t *failover_taint_patch(const struct kube_object *object);
json_t *failover_untaint_patch(const struct kube_object *object);
