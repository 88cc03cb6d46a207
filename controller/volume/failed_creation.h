/* failed_creation.h - an AzVolume whose creation failed for good.
 *
 * CSI's provisioner may ask again, or never any more: its claim is gone, and after an error that is
 * final it owes the driver no DeleteVolume. So the object stays for a while, for people to read and
 * for CreateVolume to begin anew, and then goes by itself, with what Azure may have of its disk.
 * The time is written before the error is answered. Who wrote an AzVolume by hand keeps it.
 */
#pragma once

#include "controller/controller.h"

bool creation_has_failed(const Api__AzVolume *volume);

/* By CreateVolume, before it says so. */
struct err *failed_creation_note(struct task *self, struct controller *controller,
                                 const struct kube_object *volume)
    __attribute__((warn_unused_result));

/* Wall time at which it goes; 0: it stays. A pure function. */
int64_t failed_creation_goes_at(const Api__AzVolume *volume);

/* Has it deleted, if it still is as it is here; by the leader. */
struct err *failed_creation_forget(struct task *self, struct controller *controller,
                                   const struct kube_object *volume)
    __attribute__((warn_unused_result));
