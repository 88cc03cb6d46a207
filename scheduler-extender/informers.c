#include "scheduler-extender/informers.h"

#include "lib/api/azdisk.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/kube/pv_source.h"
#include "lib/kube/reflector.h"
#include "lib/program/shared_metrics.h"
#include "provisioner-lib/records/attachment.h"

/* ---- what is kept of each object: there are many, and most of them say much ---- */

#define IDENTITY "metadata.name", "metadata.namespace", "metadata.resourceVersion"

static const char *const kept_of_claims[] = {
    IDENTITY, "metadata.annotations." ANNOTATION_SWITCHOVER, "spec.volumeName", "spec.accessModes",
    NULL,
};
static const char *const kept_of_volumes[] = {
    IDENTITY,
    PV_SOURCE_MEMBERS,
    NULL,
};
static const char *const kept_of_attachments[] = {
    IDENTITY,
    "metadata.deletionTimestamp",
    "spec.volume_id",
    "spec.nodeName",
    "status.state",
    "status.detail.role",
    "status.detail.publish_context.LUN",
    "status.annotation." ANNOTATION_REPLICA_READY,
    NULL,
};
static const char *const kept_of_driver_nodes[] = {
    IDENTITY, "spec.nodeName", "status.lastHeartbeatTime", "status.readyForVolumeAllocation", NULL,
};

/* ---- indexes ---- */

static void index_by_node(const struct kube_object *object,
                          void (*emit)(void *ctx, const char *value), void *ctx)
{
    const Api__AzDriverNodeSpec *spec = KUBE_AS(Api__AzDriverNode, object)->spec;

    if (spec && spec->node_name)
        emit(ctx, spec->node_name);
}

/* ---- the stores ---- */

#define ALL_STORES(e)                                                                              \
    {                                                                                              \
        (e)->claims, (e)->volumes, (e)->attachments, (e)->driver_nodes                             \
    }

void informers_start(struct extender *extender, struct task_group *group)
{
    const char *namespace_ = extender->settings.namespace_;
    const struct {
        const struct api_resource *resource;
        const char *namespace_;
        const char *const *keep;
        struct store **store;
    } kinds[] = {
        {&PERSISTENT_VOLUME_CLAIMS, NULL, kept_of_claims, &extender->claims},
        {&PERSISTENT_VOLUMES, NULL, kept_of_volumes, &extender->volumes},
        {&AZ_VOLUME_ATTACHMENTS, namespace_, kept_of_attachments, &extender->attachments},
        {&AZ_DRIVER_NODES, namespace_, kept_of_driver_nodes, &extender->driver_nodes},
    };

    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        *kinds[i].store = store_new(kinds[i].resource);
    extender->attachments_by_disk =
        store_add_index(extender->attachments, attachment_index_by_disk);
    extender->driver_nodes_by_node = store_add_index(extender->driver_nodes, index_by_node);
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        reflector_start(group, &(struct reflector_config){
                                   .kube = extender->kube,
                                   .namespace_ = kinds[i].namespace_,
                                   .keep = kinds[i].keep,
                                   .store = *kinds[i].store,
                                   .failed = metrics_watch_failed,
                               });
}

bool informers_is_synced(const struct extender *extender)
{
    struct store *const stores[] = ALL_STORES(extender);
    bool synced = true;

    for (size_t i = 0; i < COUNT_OF(stores); i++)
        synced &= stores[i] && store_is_synced(stores[i]);
    return synced;
}

void informers_free(struct extender *extender)
{
    struct store *const stores[] = ALL_STORES(extender);

    for (size_t i = 0; i < COUNT_OF(stores); i++)
        store_free(stores[i]);
}
