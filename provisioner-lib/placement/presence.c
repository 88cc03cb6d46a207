#include "provisioner-lib/placement/presence.h"

#include <string.h>

#include "provisioner-lib/records/attachment.h"

enum presence attachment_presence(const Api__AzVolumeAttachment *attachment)
{
    const char *state = attachment_state(attachment);

    if (kube_is_deleting(attachment->metadata) || attachment_unready_reason(attachment))
        return PRESENCE_NONE;
    if (strcmp(state, STATE_ATTACHED) == 0)
        return PRESENCE_ATTACHED;
    if (strcmp(state, STATE_ATTACHING) == 0)
        return PRESENCE_ATTACHING;
    bool waiting = !state[0] || strcmp(state, "Pending") == 0;
    return waiting && attachment_lun(attachment) != NO_LUN ? PRESENCE_ATTACHING : PRESENCE_NONE;
}

void score_node_add(struct score_node *node, enum presence presence)
{
    if (presence == PRESENCE_ATTACHED)
        node->attached++;
    else if (presence == PRESENCE_ATTACHING)
        node->attaching++;
}
