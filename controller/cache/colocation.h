/* colocation.h - the volumes that have to be where a volume is, because pods use them together, and
 * those pods.
 *
 * The group of a volume is the same as that of every volume in it, so whoever plans for one of them
 * sees the same picture. A volume that several nodes may use at once is alone: its pods are in many
 * places. What a group points to is the cache's and good until the next yield.
 */
#pragma once

#include "controller/controller.h"

enum {
    MAX_COLOCATED_VOLUMES =
        64, /* a VM has no more disks; what is beyond is planned for by itself */
    MAX_COLOCATED_PODS = 64,
};

struct colocation {
    const struct kube_object *volumes[MAX_COLOCATED_VOLUMES]; /* AzVolumes, by name */
    size_t n_volumes;
    const Api__Pod *pods[MAX_COLOCATED_PODS];
    size_t n_pods;
    bool shared; /* each pod may be on another node, else they are all on one */
};

void colocation_find(const struct controller *controller, const struct kube_object *volume,
                     struct colocation *ret);

/* Calls fn(ctx, pod) with each pod that is not done and has a claim on an AzVolume, wherever it is.
 */
void volume_each_pod(const struct controller *controller, const char *name,
                     void (*fn)(void *ctx, const Api__Pod *pod), void *ctx);
/* One of them; NULL if there is none. */
const Api__Pod *pod_of_volume(const struct controller *controller, const char *volume);

/* The highest priority (spec.priority, of its PriorityClass) of the pods that use an AzVolume; 0 if
 * there is no pod. */
int32_t pod_priority_of_volume(const struct controller *controller, const char *volume);

/* For the indexes of the informers' stores: by the claims that a pod uses, and by the claim that a
 * PersistentVolume is bound to. */
store_index_fn pod_index_by_claim, persistent_volume_index_by_claim;

/* Calls fn(ctx, name) with the name of the AzVolume behind each of the pod's claims. */
void pod_each_volume(const struct controller *controller, const Api__Pod *pod,
                     void (*fn)(void *ctx, const char *volume), void *ctx);

/* The PersistentVolumes behind a claim ("namespace/name"). */
struct kube_object *const *volumes_of_claim(const struct controller *controller, const char *claim,
                                            size_t *ret_n);

/* Has the replicas of the other volumes of a volume's group planned anew. */
void colocation_requeue(struct controller *controller, const char *volume);
