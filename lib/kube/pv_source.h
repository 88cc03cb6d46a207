/* pv_source.h - which disk a PersistentVolume is about, and which CSI driver serves it.
 *
 * An in-tree one of Azure (spec.azureDisk) is disk.csi.azure.com's: Kubernetes has no code for it
 * any more and hands it to that driver (CSI migration), with the disk's id as the handle.
 */
#pragma once

#include <stdbool.h>

#include "lib/api/kubernetes.pb-c.h"

/* The volume's handle; NULL if it is of no CSI driver. */
const char *pv_handle(const Api__PersistentVolumeSpec *spec);
/* What csi-attacher puts into ControllerPublishVolume as `readonly`. */
bool pv_is_read_only(const Api__PersistentVolumeSpec *spec);
bool pv_is_of_driver(const Api__PersistentVolumeSpec *spec, const char *driver_name);

/* The members of a PersistentVolume that these read, for a store that keeps only some. */
#define PV_SOURCE_MEMBERS "spec.csi.driver", "spec.csi.volumeHandle", "spec.azureDisk.diskURI"
