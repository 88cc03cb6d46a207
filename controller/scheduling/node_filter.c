#include "controller/scheduling/node_filter.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/kube/selector.h"

enum {
    AVOIDED = 100, /* a taint PreferNoSchedule; as much as the greatest weight of a term */
    MOST_CONSTRAINTS = 32 * 1024, /* bytes of a pod's, each of which every node is compared with */
};

struct node_filter {
    const Api__Pod *pod; /* NULL: then there is no affinity either */
    const Api__Node *current_node;
    const Api__NodeSelector *const *volumes;
    size_t n_volumes;
    struct interpod_affinity affinity;
};

static size_t size_of_constraints(const Api__Pod *pod, const Api__NodeSelector *const *volumes,
                                  size_t n_volumes)
{
    size_t size = protobuf_c_message_get_packed_size(&pod_affinity_of(pod)->base);

    for (size_t i = 0; pod->spec && i < pod->spec->n_tolerations; i++)
        size += protobuf_c_message_get_packed_size(&pod->spec->tolerations[i]->base);
    for (size_t i = 0; i < n_volumes; i++)
        size += protobuf_c_message_get_packed_size(&volumes[i]->base);
    return size;
}

struct node_filter *node_filter_new(const Api__Pod *pod, const Api__Node *current_node,
                                    const Api__NodeSelector *const *volumes, size_t n_volumes,
                                    const struct surroundings *surroundings)
{
    struct node_filter *filter = mem_alloc(sizeof *filter);

    if (pod && size_of_constraints(pod, volumes, n_volumes) > MOST_CONSTRAINTS)
        pod = NULL;
    *filter = (struct node_filter){
        .pod = pod, .current_node = current_node, .volumes = volumes, .n_volumes = n_volumes};
    if (pod)
        interpod_affinity_find(pod, current_node, surroundings, &filter->affinity);
    return filter;
}

void node_filter_free(struct node_filter *filter)
{
    if (!filter)
        return;
    interpod_affinity_fini(&filter->affinity);
    free(filter);
}

/* ---- a node ---- */

#define UNSCHEDULABLE "node.kubernetes.io/unschedulable"

static bool has_effect(const Api__Taint *taint, const char *effect)
{
    return taint->effect && strcmp(taint->effect, effect) == 0;
}

static bool tolerates(const struct node_filter *filter, const Api__Taint *taint)
{
    static const char *const ignored[] = {"node.kubernetes.io/not-ready",
                                          "node.kubernetes.io/unreachable"};
    const Api__PodSpec *spec = filter->pod ? filter->pod->spec : NULL;

    for (size_t i = 0; i < COUNT_OF(ignored); i++)
        if (taint->key && strcmp(taint->key, ignored[i]) == 0)
            return true;
    return spec && is_tolerated(taint, spec->tolerations, spec->n_tolerations);
}

static enum unschedulable_reason judge_taints(const struct node_filter *filter,
                                              const Api__NodeSpec *spec)
{
    static char key[] = UNSCHEDULABLE, effect[] = "NoSchedule";
    Api__Taint cordon = API__TAINT__INIT;

    cordon.key = key;
    cordon.effect = effect;
    if (!spec)
        return UNSCHEDULABLE_NONE;
    if (spec->unschedulable && !tolerates(filter, &cordon))
        return UNSCHEDULABLE_CORDONED;
    for (size_t i = 0; i < spec->n_taints; i++) {
        const Api__Taint *taint = spec->taints[i];
        bool keeps_away = has_effect(taint, "NoSchedule") || has_effect(taint, "NoExecute");

        if (keeps_away && !tolerates(filter, taint))
            return taint->key && strcmp(taint->key, UNSCHEDULABLE) == 0 ? UNSCHEDULABLE_CORDONED
                                                                        : UNSCHEDULABLE_TAINT;
    }
    return UNSCHEDULABLE_NONE;
}

static const Api__NodeSelector *required_nodes(const Api__Pod *pod)
{
    const Api__NodeAffinity *affinity = pod_affinity_of(pod)->node_affinity;

    return affinity ? affinity->required_during_scheduling_ignored_during_execution : NULL;
}

static bool is_selected(const Api__Pod *pod, const Api__Node *node)
{
    for (size_t i = 0; pod->spec && i < pod->spec->n_node_selector; i++) {
        const Api__PodSpec__NodeSelectorEntry *entry = pod->spec->node_selector[i];
        const char *value = kube_label(node->metadata, entry->key);

        if (!value || strcmp(value, entry->value) != 0)
            return false;
    }
    return node_selector_matches(required_nodes(pod), node->metadata);
}

static bool names_label(const Api__Pod *pod, const char *key)
{
    const Api__NodeSelector *selector = required_nodes(pod);

    if (pod->spec && KUBE_MAP_GET(pod->spec->node_selector, pod->spec->n_node_selector, key))
        return true;
    for (size_t i = 0; selector && i < selector->n_node_selector_terms; i++) {
        const Api__NodeSelectorTerm *term = selector->node_selector_terms[i];

        for (size_t k = 0; k < term->n_match_expressions; k++)
            if (term->match_expressions[k]->key &&
                strcmp(term->match_expressions[k]->key, key) == 0)
                return true;
    }
    return false;
}

/* Where the pod runs its images run; elsewhere only the pod itself could say so. */
static bool is_like_home(const struct node_filter *filter, const Api__Node *node)
{
    static const char *const keys[] = {"kubernetes.io/arch", "kubernetes.io/os"};

    for (size_t i = 0; filter->current_node && i < COUNT_OF(keys); i++) {
        const char *current = kube_label(filter->current_node->metadata, keys[i]);
        const char *there = kube_label(node->metadata, keys[i]);

        if (current && there && strcmp(current, there) != 0 && !names_label(filter->pod, keys[i]))
            return false;
    }
    return true;
}

static bool may_use_volumes(const struct node_filter *filter, const Api__Node *node)
{
    for (size_t i = 0; i < filter->n_volumes; i++)
        if (!node_selector_matches(filter->volumes[i], node->metadata))
            return false;
    return true;
}

enum unschedulable_reason node_filter_check(const struct node_filter *filter, const Api__Node *node)
{
    enum unschedulable_reason taints = judge_taints(filter, node->spec);

    if (taints || !filter->pod)
        return taints;
    if (!is_selected(filter->pod, node))
        return UNSCHEDULABLE_SELECTOR;
    if (!is_like_home(filter, node))
        return UNSCHEDULABLE_ARCH;
    if (!may_use_volumes(filter, node))
        return UNSCHEDULABLE_VOLUMES;
    return interpod_affinity_check(&filter->affinity, node);
}

int node_filter_score(const struct node_filter *filter, const Api__Node *node)
{
    const Api__NodeAffinity *affinity = pod_affinity_of(filter->pod)->node_affinity;
    int preference = 0;

    for (size_t i = 0; node->spec && i < node->spec->n_taints; i++)
        if (has_effect(node->spec->taints[i], "PreferNoSchedule") &&
            !tolerates(filter, node->spec->taints[i]))
            preference -= AVOIDED;
    for (size_t i = 0;
         affinity && i < affinity->n_preferred_during_scheduling_ignored_during_execution; i++) {
        const Api__PreferredSchedulingTerm *term =
            affinity->preferred_during_scheduling_ignored_during_execution[i];

        if (term->preference && node_term_matches(term->preference, node->metadata))
            preference += term->weight;
    }
    return preference + interpod_affinity_score(&filter->affinity, node);
}
