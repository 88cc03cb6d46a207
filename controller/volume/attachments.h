/* attachments.h - the attachments of an AzVolume that is being deleted; for volume/reconcile.c.
 */
#pragma once

#include "controller/controller.h"

/* Deletes its replicas. They are gone when the cache says so. */
struct err *volume_release_attachments(struct task *self, struct controller *controller,
                                       const char *volume) __attribute__((warn_unused_result));

/* CONFLICT if the API server has any that no watch has told of yet. */
struct err *volume_check_unattached(struct task *self, struct controller *controller,
                                    const char *volume) __attribute__((warn_unused_result));
