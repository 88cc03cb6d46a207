/* existing_volume.h - the volume of a ControllerPublishVolume, whose disk exists.
 *
 * A volume that the driver has not seen is adopted. The disk of one that was adopted is looked at
 * again when it is published while it is attached nowhere, and when the last look failed: people
 * make such disks, change and replace them without a word to the driver. Looking is the leader's; a
 * note in the AzVolume's status asks for it.
 */
#pragma once

#include "controller/controller.h"
#include "lib/api/csi.pb-c.h"
#include "lib/rpc/server.h"

/* Referenced. NOT_FOUND if there is no such disk, PRECONDITION if the AzVolume of that name is
 * another disk. */
struct err *csi_volume_to_publish(struct task *self, struct rpc_call *call,
                                  const Csi__V1__ControllerPublishVolumeRequest *request,
                                  struct kube_object **ret) __attribute__((warn_unused_result));
