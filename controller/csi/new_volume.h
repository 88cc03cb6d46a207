/* new_volume.h - the JSON of the AzVolume that CreateVolume writes, by its request.
 */
#pragma once

#include <jansson.h>

#include "lib/api/csi.pb-c.h"
#include "provisioner-lib/parameters.h"

/* `name` is the AzVolume's, `disk` the disk's. The JSON is the caller's. */
json_t *new_volume_json(const char *name, const char *disk,
                        const Csi__V1__CreateVolumeRequest *request,
                        const struct volume_parameters *parameters);
/* Its spec alone. */
json_t *new_volume_spec_json(const char *disk, const Csi__V1__CreateVolumeRequest *request,
                             const struct volume_parameters *parameters);
