/* attachment_summary.h - what `kubectl get azvolumes -o wide` says of a volume's attachments: where
 * it is published, and how many of its replicas are ready.
 *
 * For people: nothing is decided by it. It is written a moment after the attachments have changed,
 * by the reconciler reconcile_summary, so that a failover does not wait for it.
 */
#pragma once

#include "controller/controller.h"

/* Wakes the reconciler; nothing unless this process leads. */
void attachment_summary_enqueue(const struct controller *controller, const char *volume);

/* A patch of the AzVolume's status; NULL if it is as it should be. Pure. */
json_t *attachment_summary_json(const Api__AzVolume *volume, struct kube_object *const *attachments,
                                size_t n);
