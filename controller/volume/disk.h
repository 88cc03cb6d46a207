/* disk.h - the disk of an AzVolume: what is asked of the cloud, and how what is there goes
 * on record; for volume/reconcile.c.
 */
#pragma once

#include <jansson.h>

#include "controller/controller.h"
#include "provisioner-lib/parameters.h"

int64_t volume_disk_gib(const Api__AzVolume *volume); /* how large it is to be at least */
/* The disk that the volume is to have. `parameters` backs it. */
struct cloud_disk_spec volume_disk_spec(const struct controller *controller,
                                        const Api__AzVolume *volume,
                                        const struct volume_parameters *parameters,
                                        const struct disk_limits *limits);

/* Not the disk that was seen last under that name, but one that was made since: nothing that is on
 * record of the data counts for it. */
bool volume_disk_is_another(const Api__AzVolume *volume, const struct cloud_disk *disk);
/* A patch of the AzVolume's status: that this disk is its. */
json_t *volume_disk_json(const struct controller *controller, const Api__AzVolume *volume,
                         const struct cloud_disk *disk);
