#include "controller/cache/informers.h"

#include <string.h>

#include "controller/cache/disk_pv.h"
#include "controller/cache/indexes.h"
#include "lib/kube/pv_source.h"
#include "lib/kube/reflector.h"
#include "lib/program/shared_metrics.h"

/* Snapshots are not among them: a cluster whose definition of them is missing has none, and its
 * volumes are served all the same. */
#define STORES_OF_VOLUMES(c)                                                                       \
    (c)->volumes, (c)->attachments, (c)->driver_nodes, (c)->nodes, (c)->persistent_volumes,        \
        (c)->volume_attachments

/* What is kept of objects that others fill with much that does not concern us. */
static const char *const kept_of_pvs[] = {"metadata.name",
                                          "metadata.resourceVersion",
                                          "metadata.uid",
                                          "metadata.deletionTimestamp",
                                          "metadata.annotations",
                                          PV_SOURCE_MEMBERS,
                                          "spec.csi.volumeAttributes",
                                          "spec.csi.readOnly",
                                          "spec.azureDisk.cachingMode",
                                          "spec.azureDisk.fsType",
                                          "spec.azureDisk.readOnly",
                                          "spec.accessModes",
                                          "spec.volumeMode",
                                          "spec.claimRef",
                                          "spec.nodeAffinity",
                                          "status.phase",
                                          NULL};
/* That an attach has failed, and not why: that may be long. */
const char *const kept_of_volume_attachments[] = {"metadata.name",
                                                  "metadata.resourceVersion",
                                                  "metadata.uid",
                                                  "metadata.deletionTimestamp",
                                                  "spec",
                                                  "status.attached",
                                                  "status.attachError.time",
                                                  NULL};

static const char *const kept_of_namespaces[] = {"metadata.name", "metadata.resourceVersion",
                                                 "metadata.labels", NULL};
static const char *const kept_of_pods[] = {"metadata.name",
                                           "metadata.namespace",
                                           "metadata.resourceVersion",
                                           "metadata.uid",
                                           "metadata.labels",
                                           "metadata.creationTimestamp",
                                           "metadata.deletionTimestamp",
                                           "spec.nodeName",
                                           "spec.nodeSelector",
                                           "spec.tolerations",
                                           "spec.affinity",
                                           "spec.priority",
                                           "spec.schedulingGates",
                                           "spec.volumes",
                                           "status.phase",
                                           NULL};

/* Pods that have ended count for nothing (pod_is_live()). */
static const char live_pods[] = "status.phase!=Succeeded,status.phase!=Failed";

/* Pods are everywhere; our own objects in one namespace. */
static const char *namespace_of(const struct controller *controller,
                                const struct api_resource *resource)
{
    return resource->namespaced && resource != &PODS ? controller->settings.namespace_ : NULL;
}

struct informer {
    const struct api_resource *resource;
    struct store **store;
    const char *const *keep;
    const char *field_selector;
    bool metadata_only;
};

enum { INFORMERS = 9 };

static void list_informers(struct controller *controller, struct informer ret[INFORMERS])
{
    const struct informer informers[INFORMERS] = {
        {.resource = &AZ_VOLUMES, .store = &controller->volumes},
        {.resource = &AZ_VOLUME_ATTACHMENTS, .store = &controller->attachments},
        {.resource = &AZ_DRIVER_NODES, .store = &controller->driver_nodes},
        {.resource = &AZ_SNAPSHOTS, .store = &controller->snapshots},
        {.resource = &NODES, .store = &controller->nodes},
        {.resource = &PERSISTENT_VOLUMES,
         .store = &controller->persistent_volumes,
         .keep = kept_of_pvs},
        {.resource = &VOLUME_ATTACHMENTS,
         .store = &controller->volume_attachments,
         .keep = kept_of_volume_attachments},
        {.resource = &NAMESPACES,
         .store = &controller->namespaces,
         .keep = kept_of_namespaces,
         .metadata_only = true},
        {.resource = &PODS,
         .store = &controller->pods,
         .keep = kept_of_pods,
         .field_selector = live_pods},
    };

    memcpy(ret, informers, sizeof informers);
}

void informers_init(struct controller *controller)
{
    struct informer informers[INFORMERS];

    list_informers(controller, informers);
    for (size_t i = 0; i < INFORMERS; i++)
        *informers[i].store = store_new(informers[i].resource);
    indexes_add(controller);
}

void informers_start(struct controller *controller, struct task_group *group)
{
    struct informer informers[INFORMERS];

    list_informers(controller, informers);
    for (size_t i = 0; i < INFORMERS; i++)
        reflector_start(group, &(struct reflector_config){
                                   .kube = controller->kube,
                                   .namespace_ = namespace_of(controller, informers[i].resource),
                                   .field_selector = informers[i].field_selector,
                                   .metadata_only = informers[i].metadata_only,
                                   .keep = informers[i].keep,
                                   .store = *informers[i].store,
                                   .failed = metrics_watch_failed,
                               });
}

struct err *informers_wait_synced(struct task *self, struct controller *controller)
{
    struct store *const stores[] = {STORES_OF_VOLUMES(controller)};

    for (size_t i = 0; i < COUNT_OF(stores); i++)
        TRY(store_wait_synced(self, stores[i], TIMER_NEVER));
    return NULL;
}

struct err *informers_wait_pods(struct task *self, struct controller *controller)
{
    TRY(store_wait_synced(self, controller->namespaces, TIMER_NEVER));
    return store_wait_synced(self, controller->pods, TIMER_NEVER);
}

bool informers_has_pods(const struct controller *controller)
{
    return store_is_synced(controller->namespaces) && store_is_synced(controller->pods);
}

struct err *informers_catch_up(struct task *self, struct controller *controller)
{
    struct store *const written[] = {controller->volumes, controller->attachments};

    for (size_t i = 0; i < COUNT_OF(written); i++)
        TRY(reflector_catch_up(self, &(struct reflector_config){
                                         .kube = controller->kube,
                                         .namespace_ = controller->settings.namespace_,
                                         .store = written[i],
                                     }));
    return NULL;
}

struct err *informers_catch_up_volume_attachments(struct task *self, struct controller *controller)
{
    return reflector_catch_up(self, &(struct reflector_config){
                                        .kube = controller->kube,
                                        .keep = kept_of_volume_attachments,
                                        .store = controller->volume_attachments,
                                    });
}

struct err *informers_catch_up_pv_of_disk(struct task *self, struct controller *controller,
                                          const char *disk_id)
{
    if (pv_of_disk(controller, disk_id, NULL))
        return NULL;
    return reflector_catch_up(self, &(struct reflector_config){
                                        .kube = controller->kube,
                                        .keep = kept_of_pvs,
                                        .store = controller->persistent_volumes,
                                    });
}

void informers_free(struct controller *controller)
{
    struct store *const stores[] = {STORES_OF_VOLUMES(controller), controller->snapshots,
                                    controller->namespaces, controller->pods};

    for (size_t i = 0; i < COUNT_OF(stores); i++)
        store_free(stores[i]);
}
