#include "node/node.h"

void node_changed(struct node *node)
{
    waiters_wake(&node->changed);
}

void node_stop(struct node *node)
{
    node->stopping = true;
    node_changed(node);
}

struct err *node_check_ready(const struct node *node)
{
    if (node->stopping)
        return err_new(ERR_UNAVAILABLE, "the plug-in is stopping");
    if (!store_is_synced(node->attachments) || !store_is_synced(node->driver_nodes))
        return err_new(ERR_UNAVAILABLE, "the cluster's objects have not been read yet");
    if (!node->serving)
        return err_new(ERR_UNAVAILABLE, "CSI is not served yet");
    if (node->registration_error)
        return err_new(ERR_UNAVAILABLE, "kubelet could not register the plug-in: %s",
                       node->registration_error);
    if (!node->registered)
        return err_new(ERR_UNAVAILABLE, "kubelet has not registered the plug-in yet");
    return NULL;
}
