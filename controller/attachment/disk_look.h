/* disk_look.h - a disk that may not be what its record says: people resize and convert disks in
 * Azure, and how a disk is attached follows from its size and kind.
 *
 * The reconciler of the volume (volume/reconcile.c) reads the disk and corrects the record.
 */
#pragma once

#include "controller/attachment/snapshot.h"

/* Larger, of another kind, or shared by another number of VMs. */
bool disk_differs(const Api__AzVolume *volume, const struct cloud_disk *disk);

/* Requests that the volume's reconciler reads the disk. */
struct err *disk_look_request(struct task *self, struct controller *controller,
                              const struct kube_object *volume) __attribute__((warn_unused_result));

/* After Azure has refused to attach the disk: requests that, if it is not what its record says.
 * `ret_passes`: so the refusal will pass, or because Azure has not found a disk that is there: what
 * attaches disks learns of a new one a moment after it was created. NOT_FOUND: there is none. */
struct err *disk_look_after_refusal(struct task *self, const struct attachment_work *work,
                                    const struct err *refusal, bool *ret_passes)
    __attribute__((warn_unused_result));
