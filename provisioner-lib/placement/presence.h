/* presence.h - how much of a disk is on the node of an attachment.
 *
 * A replica that its node reports as not ready is as good as none: a pod would have to wait there
 * until somebody has found out why. Pure; for all programs that place pods.
 */
#pragma once

#include "lib/api/azdisk.pb-c.h"
#include "provisioner-lib/placement/score.h"

enum presence { PRESENCE_NONE, PRESENCE_ATTACHING, PRESENCE_ATTACHED };

enum presence attachment_presence(const Api__AzVolumeAttachment *attachment);

/* That the node has so much of one more disk. */
void score_node_add(struct score_node *node, enum presence presence);
