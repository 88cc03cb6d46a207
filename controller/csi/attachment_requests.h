/* attachment_requests.h - what ControllerPublishVolume and ControllerUnpublishVolume write into
 * AzVolumeAttachments. When a function returns, the cache contains what it has written.
 */
#pragma once

#include "controller/controller.h"

/* Operations on the same volume and node have the same id and never overlap. free() it. */
char *csi_operation_id(const char *volume_id, const char *node);

/* The volume's attachment on a node, referenced; asks the API server if the cache lacks it. NULL
 * if there is none. */
struct err *csi_find_attachment(struct task *self, struct controller *controller,
                                const char *volume, const char *node, struct kube_object **ret)
    __attribute__((warn_unused_result));
/* CONFLICT if the attachment has changed; `ret` may be NULL. */
struct err *csi_change_purpose(struct task *self, struct controller *controller,
                               const struct kube_object *object, struct attachment_purpose purpose,
                               struct kube_object **ret) __attribute__((warn_unused_result));
/* What has failed is tried again at once, by whichever controller leads: what comes of that is what
 * a call waits for, and not what was recorded before it. Nothing is written where nothing has
 * failed. CONFLICT if the attachment has changed. */
struct err *csi_request_attempt(struct task *self, struct controller *controller,
                                struct kube_object *object, struct kube_object **ret)
    __attribute__((warn_unused_result));
/* NOT_FOUND if the attachment is gone; CONFLICT if another one of the same name exists, which is
 * left unchanged. */
struct err *csi_request_detach(struct task *self, struct controller *controller,
                               struct kube_object *asked) __attribute__((warn_unused_result));
