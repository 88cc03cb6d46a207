#include "controller/cache/volume_in_use.h"

#include "controller/cache/node_attachment.h"
#include "lib/api/names.h"
#include "provisioner-lib/audit/cluster_view.h"

/* Kubelet takes a volume off its list when it is unmounted; a program that the plug-in runs on the
 * disk before it mounts it is not on that list. */
enum volume_in_use volume_in_use_of(const struct kube_object *node,
                                    const struct kube_object *attachment, const char *driver_name,
                                    const char *volume_id)
{
    if (!node)
        return VOLUME_IN_USE_NO_NODE;
    if (node_is_out_of_service(KUBE_AS(Api__Node, node)))
        return VOLUME_NOT_IN_USE;
    if (node_uses_volume(KUBE_AS(Api__Node, node), driver_name, volume_id))
        return VOLUME_IN_USE_MOUNTED;
    if (attachment && attachment_annotation(as_attachment(attachment), ANNOTATION_RUNNING_JOB))
        return VOLUME_IN_USE_JOB;
    return VOLUME_NOT_IN_USE;
}

static struct err *read_both(struct task *self, struct controller *controller, const char *node,
                             const char *volume_name, struct kube_object **ret_node,
                             struct kube_object **ret_attachment)
{
    TRY(err_unless(kube_get(self, controller->kube, &NODES, NULL, node, ret_node), ERR_NOT_FOUND));
    return node_attachment_read(self, controller, volume_name, node, ret_attachment);
}

struct err *volume_in_use_read(struct task *self, struct controller *controller, const char *node,
                               const char *volume_name, const char *volume_id,
                               enum volume_in_use *ret)
{
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;
    CLEANUP(kube_object_unrefp) struct kube_object *attachment = NULL;
    CLEANUP(err_freep)
    struct err *err = read_both(self, controller, node, volume_name, &object, &attachment);

    if (err && err_kind(err) == ERR_CANCELED)
        return TAKE_PTR(err);
    if (err)
        return err_new(ERR_UNAVAILABLE, "cannot find out whether node %s still uses volume %s: %s",
                       node, volume_id, err_message(err));
    *ret = volume_in_use_of(object, attachment, controller->settings.driver_name, volume_id);
    return NULL;
}
