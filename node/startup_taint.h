/* startup_taint.h - the taint that keeps pods from a new node until its volumes can be staged.
 *
 * Whoever makes nodes may give them the taint DRIVER/agent-not-ready. Without it a pod may be sent
 * to a node whose CSINode does not yet say how many volumes it takes, as if it took any number.
 */
#pragma once

#include <jansson.h>

#include "lib/api/kubernetes.pb-c.h"
#include "lib/rt/group.h"
#include "node/node.h"

/* A JSON patch (RFC 6902) that takes the taints with this key, whatever their effects, and no
 * other; NULL if there is none. Each is tested for before: where another taint has come to its
 * place meanwhile, the API server refuses the whole patch. */
json_t *startup_taint_patch(const Api__NodeSpec *spec, const char *key);

/* Whether kubelet has recorded the driver. */
bool startup_taint_may_go(const Api__CSINode *csi_node, const char *driver_name);

/* Takes the taint from this plug-in's Node each time that kubelet has registered the plug-in, as a
 * member of the group. */
void startup_taint_start(struct node *node, struct task_group *group);
