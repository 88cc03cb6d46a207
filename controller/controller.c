#include "controller/controller.h"

#include <string.h>

#include "lib/api/azdisk.pb-c.h"
#include "lib/base/alloc.h"
#include "provisioner-lib/records/names.h"

struct kube_object *volume_of_name(const struct controller *controller, const char *name)
{
    CLEANUP(freep) char *key = kube_key(controller->settings.namespace_, name);

    return store_get(controller->volumes, key);
}

struct kube_object *snapshot_of_id(const struct controller *controller, const char *id)
{
    CLEANUP(freep) char *key = mem_lower(id);
    size_t n;
    struct kube_object *const *objects = store_find(controller->snapshots_by_id, key, &n);

    return n > 0 ? objects[0] : NULL;
}

struct kube_object *const *attachments_of_volume(const struct controller *controller,
                                                 const char *volume_name, size_t *ret_n)
{
    return store_find(controller->attachments_by_volume, volume_name, ret_n);
}

void enqueue(const struct controller *controller, enum queue queue, const char *name)
{
    if (!controller->leading)
        return;
    CLEANUP(freep) char *key = kube_key(controller->settings.namespace_, name);
    workqueue_add(controller->leading->queues[queue], key);
}
