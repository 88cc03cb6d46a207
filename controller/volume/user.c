#include "controller/volume/user.h"

#include "controller/cache/colocation.h"
#include "controller/cache/informers.h"
#include "controller/cache/published.h"
#include "lib/api/azdisk.pb-c.h"
#include "lib/base/alloc.h"

/* While pods are not known yet, any may use it. */
static bool is_in_use(const struct controller *controller, const char *name)
{
    return !informers_has_pods(controller) || pod_of_volume(controller, name) ||
           kubernetes_has_in_use(controller, name);
}

void volume_user_gather(const struct controller *controller, const struct kube_object *object,
                        struct volume_snapshot *ret)
{
    ret->in_use = is_in_use(controller, object->metadata->name);
    ret->replicas_stay = !controller->settings.expand_detaches_replicas;
}

static const struct kube_object *find_primary(const struct controller *controller, const char *name)
{
    size_t n;
    struct kube_object *const *objects = attachments_of_volume(controller, name, &n);

    for (size_t i = 0; i < n; i++)
        if (!kube_is_deleting(objects[i]->metadata) &&
            attachment_wants(as_attachment(objects[i]), ROLE_PRIMARY))
            return objects[i];
    return NULL;
}

static char *user_of(const struct controller *controller, const char *name)
{
    const Api__Pod *pod = pod_of_volume(controller, name);
    const struct kube_object *primary = find_primary(controller, name);

    if (pod)
        return mem_printf("pod %s/%s uses it", pod->metadata->namespace_, pod->metadata->name);
    if (primary)
        return mem_printf("it is published to node %s", as_attachment(primary)->spec->node_name);
    return is_in_use(controller, name) ? mem_printf("it is about to be published") : NULL;
}

struct err *volume_user_check_none(const struct controller *controller,
                                   const struct kube_object *object, const char *change,
                                   const char *why)
{
    const char *name = object->metadata->name;
    CLEANUP(freep) char *user = user_of(controller, name);
    size_t n;

    attachments_of_volume(controller, name, &n);
    if (user)
        return err_new(ERR_PRECONDITION,
                       "volume %s cannot %s now: %s, and %s; that happens as soon as no pod uses "
                       "it, for example when its workload is scaled to 0",
                       name, change, why, user);
    if (n == 0 || controller->settings.expand_detaches_replicas)
        return NULL;
    return err_new(ERR_PRECONDITION,
                   "volume %s cannot %s now: %s, and %zu replicas are attached, which are not "
                   "detached for it since --expand-detaches-replicas is off; that happens when "
                   "they have been removed",
                   name, change, why, n);
}
