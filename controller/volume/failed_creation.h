/* failed_creation.h - an AzVolume whose creation failed permanently.
 *
 * external-provisioner may call CreateVolume again, or never: if the claim is gone, it need not
 * call DeleteVolume after a final error. So the AzVolume is kept for a while, for people to read
 * and for another CreateVolume; then it is deleted, together with any disk that Azure may have. The
 * time of the deletion is recorded before CreateVolume returns the error. An AzVolume that was
 * written by hand is kept, and so is a disk that somebody may use.
 */
#pragma once

#include "controller/controller.h"

bool creation_has_failed(const Api__AzVolume *volume);

/* Called by CreateVolume before it returns the error. */
struct err *failed_creation_note(struct task *self, struct controller *controller,
                                 const struct kube_object *volume)
    __attribute__((warn_unused_result));

/* Wall time at which it is forgotten; 0: never. A pure function. */
int64_t failed_creation_goes_at(const Api__AzVolume *volume);

/* It was forgotten, and nobody has called DeleteVolume. A pure function. */
bool creation_is_forgotten(const Api__AzVolume *volume);
/* Why the disk may be more than what is left of a creation that failed; NULL: it is not. A record
 * that was restored from a backup does not say what came of a later attempt. A pure function. */
const char *failed_creation_disk_is_used(const Api__AzVolume *volume,
                                         const struct cloud_disk *disk);

/* Deletes the AzVolume, if it is unchanged. Called by the leader. */
struct err *failed_creation_forget(struct task *self, struct controller *controller,
                                   const struct kube_object *volume)
    __attribute__((warn_unused_result));
