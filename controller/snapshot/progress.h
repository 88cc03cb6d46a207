/* progress.h - snapshots whose data is copied (controller/progress.h), in the background or to
 * another region: what is recorded of them.
 */
#pragma once

#include "controller/controller.h"

/* What a record says of a snapshot that exists: a status, for a merge patch. */
json_t *snapshot_status_json(const struct cloud_snapshot *snapshot);

/* How much of the data of a local one has been copied: 100 when it can be copied further. */
int snapshot_local_percent(const struct cloud_snapshot *local);

/* Looks at the snapshot's group before long, if not all of its data has been copied. */
void snapshot_progress_enqueue(struct controller *controller, const struct kube_object *snapshot);
