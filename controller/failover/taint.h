/* taint.h - the taints of a silent node, as this driver sets them: the one by which it is given up
 * as a whole, and the one that keeps new pods from it while only some are moved away.
 *
 * Their values name the boot that was silent, so that nobody needs to remember when they may go,
 * and what somebody else has set is left alone. Pure.
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
/* The boot from which only some pods were moved, at first; NULL: none. Borrowed. */
const char *failover_taint_moved_boot_id(const Api__Node *node);

/* JSON patches of a Node that has a boot id: give it up, keep new pods away, and take both back.
 * The first is for one without that taint. They apply only while the Node is as it is here. */
json_t *failover_taint_patch(const struct kube_object *object);
json_t *failover_moved_patch(const struct kube_object *object);
json_t *failover_untaint_patch(const struct kube_object *object);
