/* change_filter.h - whether a change of an object is worth another look.
 *
 * A reconciler that fails writes the error into its object, with words that may differ each time.
 * That write comes back as a change, and must not start the next attempt: the queue's pause does.
 */
#pragma once

#include <stdbool.h>

#include "lib/kube/object.h"

/* Whether an AzVolume, or an AzVolumeAttachment, has changed in more than its error; `before` is
 * NULL for a new one, `after` for one that is gone. */
bool volume_needs_reconcile(const struct kube_object *before, const struct kube_object *after);
bool attachment_needs_reconcile(const struct kube_object *before, const struct kube_object *after);
