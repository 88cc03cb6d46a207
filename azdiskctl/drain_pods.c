#include "azdiskctl/drain_pods.h"

#include <stdlib.h>

#include "azdiskctl/landing.h"
#include "azdiskctl/pod_owner.h"
#include "lib/base/alloc.h"
#include "lib/base/text.h"
#include "lib/kube/pod.h"

static bool has_volume_of_ours(const struct dependency_chains *chains)
{
    bool any = false;

    for (size_t i = 0; i < chains->n; i++)
        any |= chain_is_ours(&chains->items[i]);
    return any;
}

static enum drain_state state_of(struct drain_candidate *candidate, const struct cluster *cluster,
                                 const char *node)
{
    enum landing_state landing;

    if (kube_is_deleting(candidate->pod->metadata)) {
        candidate->why = mem_strdup("it is being deleted");
        return DRAIN_LEAVING;
    }
    if (pod_kind_of(KUBE_AS(Api__Pod, candidate->pod)) == POD_ALONE) {
        candidate->why = mem_strdup("it has no controller that would make it again");
        return DRAIN_STAYS;
    }
    candidate->to = landing_best(cluster, &candidate->chains, node, &landing);
    if (!candidate->to) {
        candidate->why = mem_strdup("no other node would take it at the moment");
        return DRAIN_SLOW;
    }
    candidate->why = landing_on(cluster, &candidate->chains, candidate->to).why;
    if (landing == LANDING_READY)
        return DRAIN_READY;
    if (landing == LANDING_COMING)
        return DRAIN_COMING;
    candidate->to = NULL; /* there is nothing by which to prefer it */
    return DRAIN_SLOW;
}

void drain_pods_find(struct drain_pods *pods, const char *node)
{
    const struct object_list *list = &pods->cluster.pods;
    size_t n_facts = 0;

    for (size_t i = 0; i < list->n; i++) {
        const Api__Pod *pod = KUBE_AS(Api__Pod, list->items[i]);
        struct drain_candidate candidate = {.pod = list->items[i]};

        if (!pod_is_live(pod) || pod_kind_of(pod) == POD_BOUND || !pod->spec ||
            !same_text(pod->spec->node_name, node))
            continue;
        dependency_chains_of_pod(&pods->cluster, list->items[i], &candidate.chains);
        if (!has_volume_of_ours(&candidate.chains)) {
            dependency_chains_fini(&candidate.chains);
            continue;
        }
        enum drain_state state = state_of(&candidate, &pods->cluster, node);
        ARRAY_ADD(pods->items, pods->n) = candidate;
        ARRAY_ADD(pods->facts, n_facts) = (struct drain_pod){.state = state};
    }
}

void drain_pods_mark(struct drain_pods *pods, const struct string_set *blocked,
                     const struct string_set *given_up)
{
    for (size_t i = 0; i < pods->n; i++) {
        const char *uid = pods->items[i].pod->metadata->uid;

        if (!uid)
            continue;
        pods->facts[i].blocked = string_set_has(blocked, uid);
        if (string_set_has(given_up, uid))
            pods->facts[i].state = DRAIN_STAYS;
    }
}

struct err *drain_pods_read(struct task *self, struct kube *kube, const struct cluster_query *query,
                            uint64_t heartbeat_limit_ms, struct drain_pods *ret)
{
    *ret = (struct drain_pods){0};
    TRY(cluster_read(self, kube, query, &ret->cluster));
    if (!find_by(&ret->cluster.view.nodes, key_name, query->pod_node))
        return err_new(ERR_NOT_FOUND, "node %s does not exist", query->pod_node);
    ret->cluster.heartbeat_limit_ms = heartbeat_limit_ms;
    drain_pods_find(ret, query->pod_node);
    return NULL;
}

void drain_pods_fini(struct drain_pods *pods)
{
    for (size_t i = 0; i < pods->n; i++) {
        dependency_chains_fini(&pods->items[i].chains);
        free(pods->items[i].why);
    }
    free(pods->items);
    free(pods->facts);
    cluster_fini(&pods->cluster);
    *pods = (struct drain_pods){0};
}
