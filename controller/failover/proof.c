#include "controller/failover/proof.h"

#include "lib/base/text.h"
#include "provisioner-lib/records/attachment.h"
#include "provisioner-lib/records/fence_note.h"

bool preempt_is_answered(const struct kube_object *replica, const char *request)
{
    return request &&
           same_text(attachment_annotation(as_attachment(replica), ANNOTATION_PREEMPTED), request);
}

/* Whoever has taken the fence from it since is not known to refuse the silent node; and a disk that
 * is on its way from the replica forgets the fence. */
bool preempt_is_proven(const struct kube_object *replica, const char *request)
{
    return preempt_is_answered(replica, request) && fence_note_key(as_attachment(replica)) &&
           !kube_is_deleting(replica->metadata);
}
