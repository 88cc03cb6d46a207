/* zone.h - the zone that this node's VM is in, as topology segments spell it: "eastus-1", or "" if
 * it is in none.
 *
 * From the instance metadata service, which every Azure VM has at a fixed address; where that does
 * not answer, from the labels that the cloud controller manager has put on the Node. What the
 * service has said is kept, as it stays the same for as long as the VM runs; labels come and go.
 */
#pragma once

#include "lib/base/err.h"
#include "node/node.h"

struct err *zone_find(struct task *self, struct node *node, uint64_t deadline, char **ret_zone)
    __attribute__((warn_unused_result));

/* ---- the two sources, as they are read ---- */

/* The zone in what the metadata service answered. */
struct err *zone_of_metadata(const json_t *instance, char **ret_zone)
    __attribute__((warn_unused_result));
/* Outside of zones the label has a number that is no zone: only "<region>-..." is one. */
char *zone_of_labels(const Api__ObjectMeta *node) __attribute__((warn_unused_result));
