/* disk_to_delete.h - the disk that goes with an AzVolume; for volume/reconcile.c.
 */
#pragma once

#include "controller/controller.h"

/* Its id, to be freed; NULL if there is none, or one that stays: somebody else's that made the
 * creation fail, or, though the record calls the creation failed, one that is in use, which an
 * Event tells. A volume whose creation was never recorded may have a disk nevertheless, unless its
 * parameters are invalid. */
struct err *volume_disk_to_delete(struct task *self, struct controller *controller,
                                  const struct kube_object *object, char **ret_id)
    __attribute__((warn_unused_result));
