/* disk_progress.h - disks to which data is copied (controller/progress.h): what is recorded of
 * them.
 *
 * They are copies of a snapshot or of another disk, or are converted. An AzVolume says how far that
 * is in status.completionPercent, as long as it lasts.
 */
#pragma once

#include "controller/controller.h"

/* Looks at the group of the volume's disk before long, if the disk has not all of its data. */
void disk_progress_enqueue(struct controller *controller, const struct kube_object *volume);
