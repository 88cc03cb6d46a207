/* progress.h - whether the data of snapshots has been copied.
 *
 * Azure copies that of PremiumV2 and Ultra disks in the background, for minutes or hours. All
 * snapshots of a resource group that are not complete are looked at with one list, every 15
 * seconds, as long as there are any: the queue's keys are snapshot_group_of() their ids.
 */
#pragma once

#include "controller/controller.h"

/* What a record says of a snapshot that exists: a status, for a merge patch. */
json_t *snapshot_status_json(const struct cloud_snapshot *snapshot);

/* Everything of an id but its name, in lower case; free() it. */
char *snapshot_group_of(const char *id) __attribute__((warn_unused_result));

/* Looks at the snapshot's group before long, if the snapshot is not complete. */
void snapshot_progress_enqueue(const struct controller *controller,
                               const struct kube_object *snapshot);
