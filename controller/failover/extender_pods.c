#include "controller/failover/extender_pods.h"

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/base/text.h"
#include "lib/kube/client.h"

/* Every pod that the chart makes has the name of its Deployment, or DaemonSet, as its label app. */
static bool is_extender(const struct controller *controller, const Api__ObjectMeta *pod)
{
    const char *app = kube_label(pod, "app");
    CLEANUP(freep) char *key = app ? kube_key(pod->namespace_, app) : NULL;

    return key && same_text(key, controller->settings.scheduler_extender);
}

static void delete_pod(struct task *self, struct controller *controller, const Api__ObjectMeta *pod)
{
    CLEANUP(err_freep)
    struct err *err =
        kube_delete_pod_now(self, controller->leader_kube, pod->namespace_, pod->name, pod->uid);

    if (err && err_kind(err) != ERR_NOT_FOUND && err_kind(err) != ERR_CANCELED)
        log_warning("pod %s of the scheduler extender, whose node is failed over, could not be "
                    "deleted, and may be called in vain: %s",
                    pod->name, err_message(err));
}

void extender_pods_delete(struct task *self, struct controller *controller, const char *node)
{
    struct store_walk walk;
    struct kube_object *object;

    store_walk_begin(&walk, controller->pods);
    while ((object = store_walk_next(&walk))) {
        const Api__Pod *message = KUBE_AS(Api__Pod, object);

        if (!message->spec || !same_text(message->spec->node_name, node) ||
            !is_extender(controller, object->metadata))
            continue;
        CLEANUP(kube_object_unrefp) struct kube_object *pod = kube_object_ref(object);
        delete_pod(self, controller, pod->metadata);
    }
    store_walk_end(&walk);
}
