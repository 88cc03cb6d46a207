/* disk_id.h - what a disk is called that the driver has not made, and which resource group it is
 * in.
 *
 * People call a copy of a disk like the disk, or nearly so: by the landscape.
 */
#pragma once

struct volume;

/* The id of the disk for a volume that is bound next, the caller's. No volume has had it before. */
char *disk_id_for(const struct volume *volume) __attribute__((warn_unused_result));
