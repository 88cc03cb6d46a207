#include "azdiskctl/failover_subject.h"

#include <string.h>

#include "azdiskctl/landing.h"
#include "azdiskctl/pod_owner.h"
#include "lib/base/alloc.h"
#include "lib/base/text.h"
#include "lib/kube/pod.h"
#include "lib/kube/pod_claim.h"
#include "provisioner-lib/records/switchover.h"

static bool uses(const Api__Pod *pod, const char *claim)
{
    for (size_t i = 0; pod->spec && i < pod->spec->n_volumes; i++) {
        CLEANUP(freep) char *key = pod_claim_key(pod, pod->spec->volumes[i]);

        if (key && strcmp(key, claim) == 0)
            return true;
    }
    return false;
}

/* The pod that uses it; `ret_n` of them. */
static const struct kube_object *user_of(const struct cluster *cluster, const char *claim,
                                         size_t *ret_n)
{
    const struct kube_object *found = NULL;

    *ret_n = 0;
    for (size_t i = 0; i < cluster->pods.n; i++) {
        const Api__Pod *pod = KUBE_AS(Api__Pod, cluster->pods.items[i]);

        if (!pod_is_live(pod) || !uses(pod, claim))
            continue;
        found = cluster->pods.items[i];
        (*ret_n)++;
    }
    return found;
}

static struct err *check_claim(const struct cluster *cluster, const struct kube_object *claim)
{
    CLEANUP(freep)
    char *wanted =
        switchover_node(kube_annotation(claim->metadata, ANNOTATION_SWITCHOVER), cluster->now_us);
    const char *volume = KUBE_AS(Api__PersistentVolumeClaim, claim)->spec
                             ? KUBE_AS(Api__PersistentVolumeClaim, claim)->spec->volume_name
                             : NULL;
    const struct dependency_chain chain = {
        .cluster = cluster, .pv = find_by(&cluster->view.persistent_volumes, key_name, volume)};

    if (wanted)
        return err_new(ERR_PRECONDITION,
                       "claim %s is being switched over to node %s already; what is left of an "
                       "azdiskctl that was killed has no effect after the time in its annotation "
                       "disk.csi.azure.com/switchover-to, which you may remove",
                       claim->key, wanted);
    if (!chain.pv)
        return err_new(ERR_PRECONDITION, "claim %s is not bound to a volume", claim->key);
    if (!chain_is_ours(&chain))
        return err_new(ERR_PRECONDITION, "claim %s is of a volume of another driver than %s",
                       claim->key, cluster->view.driver_name);
    return NULL;
}

/* Nobody would say that the pod has ended, and until then no other one may have its volumes. */
static struct err *check_node(const struct cluster *cluster, const struct kube_object *pod)
{
    const char *name = KUBE_AS(Api__Pod, pod)->spec->node_name;
    const struct kube_object *node = find_by(&cluster->view.nodes, key_name, name);

    if (node && node_is_ready(KUBE_AS(Api__Node, node)))
        return NULL;
    return err_new(
        ERR_PRECONDITION,
        "Node %s is not Ready, so that pod %s could not be ended in good order: this is "
        "for automatic failover (docs/failover.md), or, once the machine is off, for the "
        "taint " TAINT_OUT_OF_SERVICE,
        name, pod->key);
}

static struct err *check_pod(const struct kube_object *object)
{
    const Api__Pod *pod = KUBE_AS(Api__Pod, object);

    if (kube_is_deleting(object->metadata))
        return err_new(ERR_PRECONDITION, "pod %s is being deleted already", object->key);
    if (!pod->spec->node_name || !*pod->spec->node_name)
        return err_new(ERR_PRECONDITION, "pod %s is not on a node: see azdiskctl why pod/%s",
                       object->key, object->metadata->name);
    switch (pod_kind_of(pod)) {
    case POD_MOVABLE:
        return NULL;
    case POD_BOUND:
        return err_new(ERR_PRECONDITION,
                       "pod %s belongs to its node (it is of a DaemonSet, or kubelet's own) and "
                       "would come to no other one",
                       object->key);
    case POD_ALONE:
        return err_new(ERR_PRECONDITION,
                       "pod %s has no controller that would make it again, such as a StatefulSet: "
                       "delete it and create it anew yourself",
                       object->key);
    }
    abort();
}

/* Others may write at the same time, so that there is nothing to hand over. */
static struct err *check_volumes(const struct dependency_chains *chains, const char *claim)
{
    for (size_t i = 0; i < chains->n; i++) {
        const struct dependency_chain *chain = &chains->items[i];

        if (chain->claim && strcmp(chain->claim->key, claim) == 0 && chain->volume &&
            volume_is_multi_node(as_volume(chain->volume)))
            return err_new(ERR_PRECONDITION,
                           "volume %s can be used on several nodes at once: it has no one primary "
                           "that could be switched over",
                           chain->volume->metadata->name);
    }
    return NULL;
}

struct err *failover_subject(const struct cluster *cluster, const char *claim,
                             struct dependency_chains *ret)
{
    const struct kube_object *object = find_object(&cluster->claims, claim);
    size_t n;

    if (!object)
        return err_new(ERR_NOT_FOUND, "claim %s does not exist", claim);
    TRY(check_claim(cluster, object));
    const struct kube_object *pod = user_of(cluster, claim, &n);
    if (n == 0)
        return err_new(ERR_PRECONDITION,
                       "no pod uses claim %s: there is nothing to switch over, and its next pod "
                       "starts where a replica is",
                       claim);
    if (n > 1)
        return err_new(ERR_PRECONDITION, "%zu pods use claim %s, and azdiskctl moves only one", n,
                       claim);
    TRY(check_pod(pod));
    TRY(check_node(cluster, pod));
    dependency_chains_of_pod(cluster, pod, ret);
    return check_volumes(ret, claim);
}
