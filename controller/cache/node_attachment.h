/* node_attachment.h - the AzVolumeAttachment of one volume on one node: which object it is, and how
 * a new one is called.
 *
 * It is what its spec says, not what it is called: "v-x" on node "n" and "v" on node "x-n" have one
 * name. The second of them to come has a hash in its name.
 */
#pragma once

#include "controller/controller.h"

/* By the cache; borrowed. NULL if there is none. */
struct kube_object *node_attachment(const struct controller *controller, const char *volume,
                                    const char *node);
/* By the API server, which the cache may be behind; what is found is in the cache then, and
 * referenced. NULL if there is none. */
struct err *node_attachment_read(struct task *self, struct controller *controller,
                                 const char *volume, const char *node, struct kube_object **ret)
    __attribute__((warn_unused_result));
/* A new one, in the cache when this returns. EXISTS if there is one; `ret` may be NULL. */
struct err *node_attachment_create(struct task *self, struct controller *controller,
                                   struct kube *kube, const Api__AzVolume *volume, const char *node,
                                   struct attachment_purpose purpose, struct kube_object **ret)
    __attribute__((warn_unused_result));
