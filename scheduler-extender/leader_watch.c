#include "scheduler-extender/leader_watch.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/text.h"
#include "lib/kube/reflector.h"

enum { MS_IN_S = 1000 };

struct leader_watch {
    struct loop *loop;
    struct store *leases; /* the one */
    char *selector;
    uint64_t until; /* loop_now() time */
};

static const char *const read_of_lease[] = {
    "metadata.name",
    "metadata.namespace",
    "metadata.resourceVersion",
    "spec.holderIdentity",
    "spec.leaseDurationSeconds",
    "spec.renewTime",
    NULL,
};

static const Api__LeaseSpec *spec_of(const struct kube_object *object)
{
    static const Api__LeaseSpec none = API__LEASE_SPEC__INIT;

    return object && KUBE_AS(Api__Lease, object)->spec ? KUBE_AS(Api__Lease, object)->spec : &none;
}

static void on_lease(void *ctx, struct kube_object *before, struct kube_object *after)
{
    struct leader_watch *watch = ctx;
    const Api__LeaseSpec *was = spec_of(before), *is = spec_of(after);

    if (same_text(is->holder_identity, NULL))
        watch->until = 0;
    else if (before && !same_text(was->renew_time, is->renew_time))
        watch->until = loop_deadline(watch->loop, (uint64_t)is->lease_duration_seconds * MS_IN_S);
}

struct leader_watch *leader_watch_start(struct loop *loop, struct task_group *group,
                                        const struct leader_watch_config *config)
{
    struct leader_watch *watch = mem_alloc(sizeof *watch);

    watch->loop = loop;
    watch->leases = store_new(&LEASES);
    watch->selector = mem_printf("metadata.name=%s", config->name);
    store_observe(watch->leases, on_lease, watch);
    reflector_start(group, &(struct reflector_config){
                               .kube = config->kube,
                               .namespace_ = config->namespace_,
                               .field_selector = watch->selector,
                               .few = true,
                               .keep = read_of_lease,
                               .store = watch->leases,
                               .failed = config->failed,
                               .ctx = config->ctx,
                           });
    return watch;
}

bool leader_watch_has_leader(const struct leader_watch *watch)
{
    return watch && loop_now(watch->loop) < watch->until;
}

void leader_watch_free(struct leader_watch *watch)
{
    if (!watch)
        return;
    store_free(watch->leases);
    free(watch->selector);
    free(watch);
}
