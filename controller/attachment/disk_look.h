/* disk_look.h - a disk that may not be what its record says: people resize and convert disks in
 * Azure, and how a disk is attached follows from its size and kind.
 *
 * The reconciler of the volume (volume/reconcile.c) reads the disk and corrects the record.
 */
#pragma once

#include "controller/attachment/snapshot.h"

/* Another disk, or larger, of another kind, or shared by another number of VMs. */
bool disk_differs(const Api__AzVolume *volume, const struct cloud_disk *disk);

/* Requests that the volume's reconciler reads the disk. */
struct err *disk_look_request(struct task *self, struct controller *controller,
                              const struct kube_object *volume) __attribute__((warn_unused_result));
