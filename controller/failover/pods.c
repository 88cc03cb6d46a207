#include "controller/failover/pods.h"

#include <stdlib.h>
#include <string.h>

#include "controller/cache/colocation.h"
#include "controller/cache/informers.h"
#include "controller/cache/volume_name.h"
#include "lib/base/alloc.h"
#include "lib/base/text.h"
#include "lib/kube/cached_client.h"
#include "lib/kube/node.h"
#include "lib/kube/pod.h"
#include "lib/kube/pod_claim.h"

/* ---- who may move ---- */

static bool are_proven(const struct failover_volume *volume)
{
    return volume->proven;
}

static bool may_be_proven(const struct failover_volume *volume)
{
    return volume->proven || volume->n_replicas > 0;
}

static bool can_move(const struct failover_pod *pod, const bool *moves)
{
    for (size_t i = 0; i < pod->n_volumes; i++)
        if (!moves[pod->volumes[i]])
            return false;
    return !pod->foreign;
}

/* Whether one more stays. */
static bool hold_volumes(const struct failover_pod *pod, bool *moves)
{
    bool more = false;

    for (size_t i = 0; i < pod->n_volumes; i++) {
        more |= moves[pod->volumes[i]];
        moves[pod->volumes[i]] = false;
    }
    return more;
}

/* Each round holds one more volume at least. */
static bool *find_moving(const struct failover_pod *pods, size_t n_pods,
                         const struct failover_volume *volumes, size_t n_volumes,
                         bool (*is_good)(const struct failover_volume *))
{
    bool *moves = mem_alloc((n_volumes + 1) * sizeof *moves), more = true;

    for (size_t i = 0; i < n_volumes; i++)
        moves[i] = volumes[i].wanted && volumes[i].fenced && is_good(&volumes[i]);
    while (more) {
        more = false;
        for (size_t i = 0; i < n_pods; i++)
            more |= !can_move(&pods[i], moves) && hold_volumes(&pods[i], moves);
    }
    return moves;
}

void failover_pods_mark(const struct failover_pod *pods, size_t n_pods,
                        struct failover_volume *volumes, size_t n_volumes)
{
    CLEANUP(freep)
    bool *may_move = find_moving(pods, n_pods, volumes, n_volumes, may_be_proven);
    CLEANUP(freep) bool *moves = find_moving(pods, n_pods, volumes, n_volumes, are_proven);

    for (size_t i = 0; i < n_volumes; i++) {
        volumes[i].may_move = may_move[i];
        volumes[i].moves = moves[i];
    }
}

/* ---- what is there ---- */

/* The index of what kubelet has in use there; in.n_volumes: it is not published, or not ours. */
static size_t index_in_use(const struct failover_work *work, size_t i)
{
    const struct controller *controller = work->controller;
    const char *handle =
        node_volume_in_use(KUBE_AS(Api__Node, work->node), controller->settings.driver_name, i);
    CLEANUP(freep) char *volume = NULL;
    CLEANUP(err_freep)
    struct err *err = handle ? volume_name_of_disk(controller, handle, &volume) : NULL;

    return err ? work->in.n_volumes : failover_work_find(work, volume);
}

struct claims {
    const struct failover_work *work;
    struct failover_pod *pod;
    size_t n_found;
};

static void add_volume(void *ctx, const char *volume)
{
    struct claims *claims = ctx;
    size_t i = failover_work_find(claims->work, volume);

    claims->n_found++;
    if (i == claims->work->in.n_volumes)
        claims->pod->foreign = true;
    else
        ARRAY_ADD(claims->pod->volumes, claims->pod->n_volumes) = i;
}

static size_t count_claims(const Api__Pod *pod)
{
    size_t n = 0;

    for (size_t i = 0; i < pod->spec->n_volumes; i++) {
        CLEANUP(freep) char *claim = pod_claim_key(pod, pod->spec->volumes[i]);

        n += claim != NULL;
    }
    return n;
}

/* A claim of which no volume is known may be anybody's. */
static void add_pod(struct failover_work *work, struct kube_object *object)
{
    const Api__Pod *message = KUBE_AS(Api__Pod, object);
    struct failover_pod pod = {.object = kube_object_ref(object)};
    struct claims claims = {.work = work, .pod = &pod};

    pod_each_volume(work->controller, message, add_volume, &claims);
    pod.foreign |= claims.n_found != count_claims(message);
    for (size_t i = 0; i < pod.n_volumes; i++)
        work->volumes[pod.volumes[i]].held = true;
    ARRAY_ADD(work->pods, work->n_pods) = pod;
}

/* Of pods that are not known yet it is not known what they use: then nothing moves. */
void failover_pods_gather(struct failover_work *work)
{
    if (!informers_has_pods(work->controller))
        return;
    for (size_t i = 0; i < node_count_in_use(KUBE_AS(Api__Node, work->node)); i++) {
        size_t volume = index_in_use(work, i);

        if (volume < work->in.n_volumes)
            work->volumes[volume].held = true;
    }
    STORE_FOREACH(work->controller->pods, object) {
        const Api__Pod *pod = KUBE_AS(Api__Pod, object);

        if (pod->spec && same_text(pod->spec->node_name, work->name) && pod_is_live(pod))
            add_pod(work, object);
    }
    failover_pods_mark(work->pods, work->n_pods, work->volumes, work->in.n_volumes);
}

void failover_pods_fini(struct failover_work *work)
{
    for (size_t i = 0; i < work->n_pods; i++) {
        kube_object_unref(work->pods[i].object);
        free(work->pods[i].volumes);
    }
    free(work->pods);
}

/* ---- their end ---- */

/* The API server knows whether the pod is there still, and not on another node by now. */
struct err *failover_pod_end(struct task *self, const struct failover_work *work,
                             const char *namespace_, const char *name)
{
    struct kube *kube = work->controller->leader_kube;
    CLEANUP(kube_object_unrefp) struct kube_object *pod = NULL;
    struct err *err = kube_get(self, kube, &PODS, namespace_, name, &pod);

    if (!err && same_text(KUBE_AS(Api__Pod, pod)->spec->node_name, work->name))
        err = kube_delete_pod_now(self, kube, namespace_, name, pod->metadata->uid);
    return err_unless(err, ERR_NOT_FOUND);
}

/* Of all that kubelet has in use, what does not move. */
static json_t *left_in_use(const struct failover_work *work)
{
    const Api__Node *node = KUBE_AS(Api__Node, work->node);
    json_t *names = json_array();

    for (size_t i = 0; i < node_count_in_use(node); i++) {
        size_t volume = index_in_use(work, i);

        if (volume == work->in.n_volumes || !work->volumes[volume].moves)
            json_array_append_new(names, json_string(node->status->volumes_in_use[i]));
    }
    return names;
}

/* Kubernetes detaches, once the pods are gone, what kubelet does not have in use; and kubelet does
 * not say it, nor will it when it is heard of again, before it has unmounted what is fenced off. */
static struct err *let_go(struct task *self, const struct failover_work *work)
{
    struct controller *controller = work->controller;
    json_t *names = left_in_use(work);

    if (json_array_size(names) == node_count_in_use(KUBE_AS(Api__Node, work->node))) {
        json_decref(names);
        return NULL;
    }
    json_t *changes = json_pack("{s:{s:o}}", "status", "volumesInUse", names);
    return cached_patch_status(self, controller->leader_kube, controller->nodes, work->node,
                               if_unchanged(work->node, changes), NULL);
}

static bool moves(const struct failover_work *work, const struct failover_pod *pod)
{
    for (size_t i = 0; i < pod->n_volumes; i++)
        if (!work->volumes[pod->volumes[i]].moves)
            return false;
    return pod->n_volumes > 0 && !pod->foreign;
}

struct err *failover_pods_move(struct task *self, struct failover_work *work)
{
    TRY(let_go(self, work));
    for (size_t i = 0; i < work->n_pods; i++) {
        const Api__ObjectMeta *metadata = work->pods[i].object->metadata;

        if (moves(work, &work->pods[i]))
            TRY(failover_pod_end(self, work, metadata->namespace_, metadata->name));
    }
    return NULL;
}
