#include "controller/cache/colocation.h"

#include <stdlib.h>
#include <string.h>

#include "controller/cache/disk_pv.h"
#include "controller/cache/volume_name.h"
#include "controller/scheduling/interpod_affinity.h"
#include "lib/base/alloc.h"
#include "lib/kube/pod.h"
#include "lib/kube/pod_claim.h"
#include "lib/kube/pv_source.h"

/* ---- indexes ---- */

void persistent_volume_index_by_claim(const struct kube_object *object,
                                      void (*emit)(void *ctx, const char *value), void *ctx)
{
    const Api__PersistentVolume *volume = KUBE_AS(Api__PersistentVolume, object);
    const Api__ObjectReference *claim = volume->spec ? volume->spec->claim_ref : NULL;
    const char *phase = volume->status ? volume->status->phase : NULL;

    /* A claim of the same name may have come since. */
    if (!claim || !claim->name || (phase && strcmp(phase, "Released") == 0))
        return;
    CLEANUP(freep) char *key = kube_key(claim->namespace_, claim->name);
    emit(ctx, key);
}

void pod_index_by_claim(const struct kube_object *object,
                        void (*emit)(void *ctx, const char *value), void *ctx)
{
    const Api__Pod *pod = KUBE_AS(Api__Pod, object);

    for (size_t i = 0; pod->spec && i < pod->spec->n_volumes; i++) {
        CLEANUP(freep) char *claim = pod_claim_key(pod, pod->spec->volumes[i]);

        if (claim)
            emit(ctx, claim);
    }
}

/* ---- from claims to volumes ---- */

struct kube_object *const *volumes_of_claim(const struct controller *controller, const char *claim,
                                            size_t *ret_n)
{
    return store_find(controller->persistent_volumes_by_claim, claim, ret_n);
}

/* The AzVolume's name; NULL if the volume is of another driver. free() it. */
static char *volume_behind(const struct controller *controller, const struct kube_object *object)
{
    const Api__PersistentVolumeSpec *spec = KUBE_AS(Api__PersistentVolume, object)->spec;

    return pv_is_of_driver(spec, controller->settings.driver_name)
               ? volume_name_of_pv(controller, spec)
               : NULL;
}

void pod_each_volume(const struct controller *controller, const Api__Pod *pod,
                     void (*fn)(void *ctx, const char *volume), void *ctx)
{
    for (size_t i = 0; pod->spec && i < pod->spec->n_volumes; i++) {
        CLEANUP(freep) char *claim = pod_claim_key(pod, pod->spec->volumes[i]);
        size_t n = 0;
        struct kube_object *const *found = claim ? volumes_of_claim(controller, claim, &n) : NULL;

        for (size_t k = 0; k < n; k++) {
            CLEANUP(freep) char *name = volume_behind(controller, found[k]);

            if (name)
                fn(ctx, name);
        }
    }
}

/* ---- the group ---- */

struct search {
    const struct controller *controller;
    struct colocation *group;
};

static bool is_new_pod(const struct colocation *group, const Api__Pod *pod)
{
    for (size_t i = 0; i < group->n_pods; i++)
        if (group->pods[i] == pod)
            return false;
    return group->n_pods < MAX_COLOCATED_PODS;
}

static void add_volume(void *ctx, const char *name)
{
    struct search *search = ctx;
    struct colocation *group = search->group;
    CLEANUP(freep) char *key = kube_key(search->controller->settings.namespace_, name);
    const struct kube_object *object = store_get(search->controller->volumes, key);

    if (!object || kube_is_deleting(object->metadata) || !volume_is_created(as_volume(object)) ||
        volume_is_multi_node(as_volume(object)) || group->n_volumes == MAX_COLOCATED_VOLUMES)
        return;
    for (size_t i = 0; i < group->n_volumes; i++)
        if (group->volumes[i] == object)
            return;
    group->volumes[group->n_volumes++] = object;
}

static void each_pod_of_claim(const struct controller *controller, const char *claim,
                              void (*fn)(void *ctx, const Api__Pod *pod), void *ctx)
{
    size_t n;
    struct kube_object *const *pods = store_find(controller->pods_by_claim, claim, &n);

    for (size_t i = 0; i < n; i++)
        if (pod_is_live(KUBE_AS(Api__Pod, pods[i])))
            fn(ctx, KUBE_AS(Api__Pod, pods[i]));
}

static void each_pod_of_pv(const struct controller *controller, const struct kube_object *pv,
                           void (*fn)(void *ctx, const Api__Pod *pod), void *ctx)
{
    const Api__ObjectReference *claim = KUBE_AS(Api__PersistentVolume, pv)->spec->claim_ref;

    if (!claim || !claim->name)
        return;
    CLEANUP(freep) char *key = kube_key(claim->namespace_, claim->name);
    each_pod_of_claim(controller, key, fn, ctx);
}

void volume_each_pod(const struct controller *controller, const char *name,
                     void (*fn)(void *ctx, const Api__Pod *pod), void *ctx)
{
    size_t n;
    struct kube_object *const *pvs = pvs_of_name(controller, name, &n);

    for (size_t i = 0; i < n; i++) {
        CLEANUP(freep) char *behind = volume_behind(controller, pvs[i]);

        if (behind && strcmp(behind, name) == 0)
            each_pod_of_pv(controller, pvs[i], fn, ctx);
    }
}

static void add_pod(void *ctx, const Api__Pod *pod)
{
    const struct search *search = ctx;

    if (is_new_pod(search->group, pod))
        search->group->pods[search->group->n_pods++] = pod;
}

static bool is_leaving(const Api__Pod *pod)
{
    return kube_is_deleting(pod->metadata);
}

/* A pod that ends has a say only as long as no other has come in its place. */
static void leave_out_leaving_pods(struct colocation *group)
{
    size_t kept = 0;

    for (size_t i = 0; i < group->n_pods; i++)
        if (!is_leaving(group->pods[i]))
            group->pods[kept++] = group->pods[i];
    if (kept > 0)
        group->n_pods = kept;
}

static int by_name(const void *a, const void *b)
{
    const struct kube_object *const *x = a, *const *y = b;

    return strcmp((*x)->key, (*y)->key);
}

void colocation_find(const struct controller *controller, const struct kube_object *volume,
                     struct colocation *ret)
{
    struct search search = {controller, ret};

    *ret = (struct colocation){.shared = volume_is_multi_node(as_volume(volume))};
    ret->volumes[ret->n_volumes++] = volume;
    /* Both lists grow as each brings in what the other has. */
    for (size_t v = 0, p = 0; v < ret->n_volumes; v++) {
        volume_each_pod(controller, ret->volumes[v]->metadata->name, add_pod, &search);
        for (; p < ret->n_pods && !ret->shared; p++)
            pod_each_volume(controller, ret->pods[p], add_volume, &search);
    }
    leave_out_leaving_pods(ret);
    qsort(ret->volumes, ret->n_volumes, sizeof ret->volumes[0], by_name);
}

/* ---- whose volume it is ---- */

static void note_pod(void *ctx, const Api__Pod *pod)
{
    const Api__Pod **found = ctx;

    *found = pod;
}

const Api__Pod *pod_of_volume(const struct controller *controller, const char *volume)
{
    const Api__Pod *found = NULL;

    volume_each_pod(controller, volume, note_pod, &found);
    return found;
}

/* ---- how important ---- */

static void raise_priority(void *ctx, const Api__Pod *pod)
{
    int32_t *highest = ctx, priority = pod->spec ? pod->spec->priority : 0;

    if (priority > *highest)
        *highest = priority;
}

int32_t pod_priority_of_volume(const struct controller *controller, const char *volume)
{
    int32_t highest = INT32_MIN;

    volume_each_pod(controller, volume, raise_priority, &highest);
    return highest == INT32_MIN ? 0 : highest;
}

/* ---- whom it concerns ---- */

void colocation_requeue(struct controller *controller, const char *volume)
{
    const struct kube_object *object = volume_of_name(controller, volume);
    struct colocation group = {0};

    if (!object || !controller->leading)
        return;
    colocation_find(controller, object, &group);
    for (size_t i = 0; i < group.n_volumes; i++)
        if (group.volumes[i] != object)
            enqueue(controller, REPLICA_QUEUE, group.volumes[i]->metadata->name);
}
