#include "lib/kube/pv_source.h"

#include <string.h>

#define MIGRATED_TO "disk.csi.azure.com"

const char *pv_handle(const Api__PersistentVolumeSpec *spec)
{
    if (spec && spec->csi)
        return spec->csi->volume_handle;
    return spec && spec->azure_disk ? spec->azure_disk->disk_uri : NULL;
}

bool pv_is_read_only(const Api__PersistentVolumeSpec *spec)
{
    if (spec && spec->csi)
        return spec->csi->read_only;
    return spec && spec->azure_disk && spec->azure_disk->read_only;
}

bool pv_is_of_driver(const Api__PersistentVolumeSpec *spec, const char *driver_name)
{
    const char *driver = spec && spec->csi ? spec->csi->driver : NULL;

    if (spec && !spec->csi && spec->azure_disk)
        driver = MIGRATED_TO;
    return driver && pv_handle(spec) && strcmp(driver, driver_name) == 0;
}
