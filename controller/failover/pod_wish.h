/* pod_wish.h - automatic failover that pods ask for, by the label LABEL_AUTOMATIC_FAILOVER, of
 * volumes of which the StorageClass does not (docs/failover.md).
 *
 * A volume has it on a node if every pod that uses it there asks for it. The node's plug-in has to
 * know before the node falls silent; it sees no pods, so it is noted in the attachment. While no
 * pod is there the note stays: the pods of a silent node are ended before its volumes are released.
 */
#pragma once

#include "controller/controller.h"

/* Whether a change of the pod can be one of what is noted on its node. */
bool pod_wish_concerns(const struct controller *controller, const Api__Pod *pod);
/* The attachment of a primary there that does not say what its pods ask for, and the note that it
 * should have, or NULL; NULL if all do. Borrowed; good until the next yield. Pure. */
struct kube_object *pod_wish_find_wrong(const struct controller *controller, const char *node,
                                        const char **ret_note);
/* Notes it in the attachments of the node's primaries, where it is not as it should be. */
struct err *pod_wish_note(struct task *self, struct controller *controller, const char *node)
    __attribute__((warn_unused_result));
