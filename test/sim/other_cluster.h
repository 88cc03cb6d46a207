/* other_cluster.h - another cluster that has its disks in the same resource group, made by the same
 * driver or by an earlier version of it.
 *
 * Volumes that people name themselves ("of-data-0") may have one name in both clusters. The other
 * cluster has made its disk first, and deletes it some minutes later, or keeps it where the volume
 * here is not wanted any more: as long as it has it, nobody is to touch it from here.
 */
#pragma once

#include <stdbool.h>

struct volume;
struct world;

/* For a volume whose name is taken (its wish), before CreateVolume is called. */
void other_cluster_takes_name(struct volume *volume);
/* Whether the disk with this key is the other cluster's now. */
bool other_cluster_has(const struct world *world, const char *disk);
