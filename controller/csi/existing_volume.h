/* existing_volume.h - finds the volume of a ControllerPublishVolume, ControllerExpandVolume or
 * ControllerModifyVolume; its disk exists.
 *
 * A volume without an AzVolume is adopted. The disk of an adopted volume is read again if the
 * volume is published while the disk is not attached anywhere, or if the last read failed: people
 * create, change and replace such disks without informing the driver. The leader reads the disk; an
 * annotation in the AzVolume's status requests it.
 */
#pragma once

#include "controller/controller.h"
#include "lib/api/csi.pb-c.h"
#include "lib/rpc/server.h"

/* Referenced. NOT_FOUND if there is no such disk; PRECONDITION if the AzVolume of that name belongs
 * to another disk. */
struct err *csi_volume_to_publish(struct task *self, struct rpc_call *call,
                                  const Csi__V1__ControllerPublishVolumeRequest *request,
                                  struct kube_object **ret) __attribute__((warn_unused_result));

/* Of a ControllerExpandVolume or ControllerModifyVolume, once its disk is on record; otherwise the
 * same. */
struct err *csi_volume_to_change(struct task *self, struct rpc_call *call, const char *volume_id,
                                 struct kube_object **ret) __attribute__((warn_unused_result));
