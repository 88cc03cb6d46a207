#include "controller/former_node.h"

#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/audit/cluster_view.h"

/* kubelet takes a volume off this list when it is unmounted. */
static bool is_in_use(const Api__Node *node, const char *driver_name, const char *volume_id)
{
    CLEANUP(freep) char *name = mem_printf("kubernetes.io/csi/%s^%s", driver_name, volume_id);

    for (size_t i = 0; node->status && i < node->status->n_volumes_in_use; i++)
        if (strcasecmp(node->status->volumes_in_use[i], name) == 0)
            return true;
    return false;
}

enum former_node former_node_of(const Api__Node *node, const char *driver_name,
                                const char *volume_id)
{
    if (!node)
        return FORMER_NODE_GONE;
    if (node_is_out_of_service(node) || !is_in_use(node, driver_name, volume_id))
        return FORMER_NODE_DONE;
    return FORMER_NODE_USES;
}

struct err *former_node_ask(struct task *self, struct controller *controller, const char *node,
                            const char *volume_id, enum former_node *ret)
{
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;
    CLEANUP(err_freep)
    struct err *err = kube_get(self, controller->kube, &NODES, NULL, node, &object);

    if (err && err_kind(err) == ERR_CANCELED)
        return TAKE_PTR(err);
    if (err && err_kind(err) != ERR_NOT_FOUND)
        return err_new(ERR_UNAVAILABLE, "whether node %s uses volume %s still is not known: %s",
                       node, volume_id, err_message(err));
    *ret = former_node_of(object ? KUBE_AS(Api__Node, object) : NULL,
                          controller->settings.driver_name, volume_id);
    return NULL;
}
