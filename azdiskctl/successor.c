#include "azdiskctl/successor.h"

#include <string.h>

#include "azdiskctl/pod_owner.h"
#include "lib/base/text.h"
#include "lib/kube/pod.h"

static bool succeeds(const Api__Pod *pod, const Api__Pod *former, const struct string_set *known)
{
    const Api__OwnerReference *owner = pod_controller(pod), *owner_then = pod_controller(former);

    if (!owner || !owner_then || !same_text(owner->uid, owner_then->uid) ||
        kube_is_deleting(pod->metadata) || !pod_is_live(pod) || !pod->metadata->uid ||
        string_set_has(known, pod->metadata->uid))
        return false;
    return !same_text(owner->kind, "StatefulSet") ||
           same_text(pod->metadata->name, former->metadata->name);
}

struct succession succession_of(const struct object_list *pods, const Api__Pod *former,
                                const struct string_set *known)
{
    struct succession found = {0};

    for (size_t i = 0; i < pods->n; i++) {
        const Api__Pod *pod = KUBE_AS(Api__Pod, pods->items[i]);

        if (same_text(pod->metadata->uid, former->metadata->uid))
            found.former_is_there = true;
        else if (!found.successor && succeeds(pod, former, known))
            found.successor = pods->items[i];
    }
    return found;
}

bool pod_is_ready(const Api__Pod *pod)
{
    if (!pod->status || !same_text(pod->status->phase, "Running"))
        return false;
    for (size_t i = 0; i < pod->status->n_conditions; i++)
        if (same_text(pod->status->conditions[i]->type, "Ready"))
            return same_text(pod->status->conditions[i]->status, "True");
    return false;
}
