/* upgrade_volumes.h - the volumes of another driver that this one could not mount, which
 * upgrade-check looks for before that driver is replaced.
 *
 * Microsoft's drivers mount btrfs as well, and NTFS on Windows. Pods that have such a volume run
 * on, and cannot start anew. Pure.
 */
#pragma once

#include <jansson.h>

#include "provisioner-lib/audit/cluster_view.h"

/* Adds an obstacle, as upgrade_check.h has them, for each file system, with the first names of the
 * volumes. Of `pvs`, PersistentVolumes, those of the driver of that name. */
void upgrade_volumes_judge(const struct object_list *pvs, const char *driver_name,
                           json_t *obstacles);
