#include "scheduler-extender/informers.h"

#include "lib/base/alloc.h"
#include "lib/kube/pv_source.h"
#include "lib/kube/reflector.h"
#include "lib/program/shared_metrics.h"
#include "provisioner-lib/records/attachment.h"
#include "scheduler-extender/digest.h"

/* ---- what is read of each object: there are many, and most of them say much ---- */

#define IDENTITY "metadata.name", "metadata.namespace", "metadata.resourceVersion"

static const char *const read_of_claims[] = {
    IDENTITY,          "metadata.uid",     "metadata.annotations." ANNOTATION_SWITCHOVER,
    "spec.volumeName", "spec.accessModes", NULL,
};
static const char *const read_of_volumes[] = {
    IDENTITY,
    PV_SOURCE_MEMBERS,
    "spec.claimRef.namespace",
    "spec.claimRef.name",
    "spec.claimRef.uid",
    NULL,
};
static const char *const read_of_attachments[] = {
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
static const char *const read_of_driver_nodes[] = {
    IDENTITY, "spec.nodeName", "status.lastHeartbeatTime", "status.readyForVolumeAllocation", NULL,
};

/* ---- indexes: of what counts ---- */

static void index_by_disk(const struct kube_object *object,
                          void (*emit)(void *ctx, const char *value), void *ctx)
{
    const struct attachment_digest *attachment = KUBE_DIGEST(struct attachment_digest, object);

    if (attachment->presence != PRESENCE_NONE)
        emit(ctx, attachment->disk);
}

static void index_by_node(const struct kube_object *object,
                          void (*emit)(void *ctx, const char *value), void *ctx)
{
    const struct node_digest *node = KUBE_DIGEST(struct node_digest, object);

    if (node->name[0])
        emit(ctx, node_key_of(node->node).text);
}

/* ---- the tables of nodes: of several AzDriverNodes of one node the first ---- */

static void renew_node(struct extender *extender, const struct kube_object *of)
{
    const struct node_digest *node = KUBE_DIGEST(struct node_digest, of);
    size_t n;
    struct kube_object *const *found =
        store_find(extender->driver_nodes_by_node, node_key_of(node->node).text, &n);
    const struct node_report report =
        n ? KUBE_DIGEST(struct node_digest, found[0])->report : (struct node_report){0};

    for (enum node_health health = NODE_NOT_READY; health < N_NODE_HEALTHS; health++)
        if (health == report.health)
            name_table_put(&extender->heard_us[health], node->node, report.heard_us);
        else
            name_table_remove(&extender->heard_us[health], node->node);
}

/* The index knows the one before no more. */
static void on_driver_node(void *ctx, struct kube_object *before, struct kube_object *after)
{
    if (before)
        renew_node(ctx, before);
    if (after)
        renew_node(ctx, after);
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
        const char *const *read;
        struct kube_object *(*digest)(void *ctx, const struct kube_object *object);
        struct store **store;
    } kinds[] = {
        {&PERSISTENT_VOLUME_CLAIMS, NULL, read_of_claims, digest_claim, &extender->claims},
        {&PERSISTENT_VOLUMES, NULL, read_of_volumes, digest_volume, &extender->volumes},
        {&AZ_VOLUME_ATTACHMENTS, namespace_, read_of_attachments, digest_attachment,
         &extender->attachments},
        {&AZ_DRIVER_NODES, namespace_, read_of_driver_nodes, digest_driver_node,
         &extender->driver_nodes},
    };

    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        *kinds[i].store = store_new(kinds[i].resource);
    extender->attachments_by_disk = store_add_index(extender->attachments, index_by_disk);
    extender->driver_nodes_by_node = store_add_index(extender->driver_nodes, index_by_node);
    store_observe(extender->driver_nodes, on_driver_node, extender);
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        reflector_start(group, &(struct reflector_config){
                                   .kube = extender->kube,
                                   .namespace_ = kinds[i].namespace_,
                                   .keep = kinds[i].read,
                                   .digest = kinds[i].digest,
                                   .store = *kinds[i].store,
                                   .failed = metrics_watch_failed,
                                   .ctx = extender,
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
    for (size_t i = 0; i < N_NODE_HEALTHS; i++)
        name_table_fini(&extender->heard_us[i]);
}
