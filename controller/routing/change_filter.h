/* change_filter.h - whether a change of an object needs a reconcile.
 *
 * A reconciler that fails writes the error into its object, perhaps with a different text each
 * time. The watch reports this write as a change, which must not trigger the next attempt: the
 * queue does, after a pause.
 */
#pragma once

#include <stdbool.h>

#include "lib/kube/object.h"

/* Whether more than the error, and what is there for people, has changed. `before` is NULL for a
 * new object, `after` for one that is gone. */
bool volume_needs_reconcile(const struct kube_object *before, const struct kube_object *after);
bool snapshot_needs_reconcile(const struct kube_object *before, const struct kube_object *after);
bool attachment_needs_reconcile(const struct kube_object *before, const struct kube_object *after);
