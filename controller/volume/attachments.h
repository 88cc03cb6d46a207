/* attachments.h - the attachments of an AzVolume that is being deleted; for volume/reconcile.c.
 */
#pragma once

#include "controller/controller.h"

/* Deletes the volume's replicas. They are gone when the cache no longer has them. */
struct err *volume_release_attachments(struct task *self, struct controller *controller,
                                       const char *volume) __attribute__((warn_unused_result));

/* CONFLICT if the API server has attachments that the cache lacks. */
struct err *volume_check_unattached(struct task *self, struct controller *controller,
                                    const char *volume) __attribute__((warn_unused_result));
