#include "controller/former_node.h"

#include "provisioner-lib/audit/cluster_view.h"

/* Kubelet takes a volume off its list when it is unmounted. */
enum former_node former_node_of(const struct kube_object *node, const char *driver_name,
                                const char *volume_id)
{
    if (!node)
        return FORMER_NODE_GONE;
    if (node_is_out_of_service(KUBE_AS(Api__Node, node)) ||
        !node_uses_volume(node, driver_name, volume_id))
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
    *ret = former_node_of(object, controller->settings.driver_name, volume_id);
    return NULL;
}
