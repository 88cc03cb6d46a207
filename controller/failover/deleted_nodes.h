/* deleted_nodes.h - what was last known of Nodes that were deleted while volumes were published to
 * them: which boot it was, and what kubelet had mounted.
 *
 * Nobody else knows that any more, and without it a deleted Node is not failed over. Each replica
 * of the controller remembers it, so that the next leader may go on. Loop's thread; owner: routing
 * tells it of changes, app.c frees it.
 */
#pragma once

#include "controller/controller.h"

/* A Node has changed; either may be NULL. */
void deleted_nodes_note(struct controller *controller, struct kube_object *before,
                        struct kube_object *after);
/* As it was; borrowed. NULL: it was not deleted, or nothing is known of it. */
struct kube_object *deleted_node(const struct controller *controller, const char *name);
void deleted_nodes_free(struct controller *controller);
