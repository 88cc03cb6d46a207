#include "controller/scheduling/node_filter.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/kube/selector.h"

enum { AVOIDED = 100 }; /* a taint PreferNoSchedule; as much as the greatest weight of a term */

struct pod_constraints {
    const Api__Pod *pod; /* NULL: then there is no company either */
    const Api__Node *home;
    const Api__NodeSelector *const *volumes;
    size_t n_volumes;
    struct pod_company company;
};

struct pod_constraints *pod_constraints_new(const Api__Pod *pod, const Api__Node *home,
                                            const Api__NodeSelector *const *volumes,
                                            size_t n_volumes,
                                            const struct surroundings *surroundings)
{
    struct pod_constraints *constraints = mem_alloc(sizeof *constraints);

    *constraints = (struct pod_constraints){
        .pod = pod, .home = home, .volumes = volumes, .n_volumes = n_volumes};
    if (pod)
        pod_company_find(pod, home, surroundings, &constraints->company);
    return constraints;
}

void pod_constraints_free(struct pod_constraints *constraints)
{
    if (!constraints)
        return;
    pod_company_fini(&constraints->company);
    free(constraints);
}

/* ---- a node ---- */

#define UNSCHEDULABLE "node.kubernetes.io/unschedulable"

static bool has_effect(const Api__Taint *taint, const char *effect)
{
    return taint->effect && strcmp(taint->effect, effect) == 0;
}

static bool tolerates(const struct pod_constraints *constraints, const Api__Taint *taint)
{
    static const char *const ignored[] = {"node.kubernetes.io/not-ready",
                                          "node.kubernetes.io/unreachable"};
    const Api__PodSpec *spec = constraints->pod ? constraints->pod->spec : NULL;

    for (size_t i = 0; i < COUNT_OF(ignored); i++)
        if (taint->key && strcmp(taint->key, ignored[i]) == 0)
            return true;
    return spec && is_tolerated(taint, spec->tolerations, spec->n_tolerations);
}

static enum refusal judge_taints(const struct pod_constraints *constraints,
                                 const Api__NodeSpec *spec)
{
    static char key[] = UNSCHEDULABLE, effect[] = "NoSchedule";
    Api__Taint cordon = API__TAINT__INIT;

    cordon.key = key;
    cordon.effect = effect;
    if (!spec)
        return REFUSAL_NONE;
    if (spec->unschedulable && !tolerates(constraints, &cordon))
        return REFUSAL_CORDONED;
    for (size_t i = 0; i < spec->n_taints; i++) {
        const Api__Taint *taint = spec->taints[i];
        bool keeps_away = has_effect(taint, "NoSchedule") || has_effect(taint, "NoExecute");

        if (keeps_away && !tolerates(constraints, taint))
            return taint->key && strcmp(taint->key, UNSCHEDULABLE) == 0 ? REFUSAL_CORDONED
                                                                        : REFUSAL_TAINT;
    }
    return REFUSAL_NONE;
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
static bool is_like_home(const struct pod_constraints *constraints, const Api__Node *node)
{
    static const char *const keys[] = {"kubernetes.io/arch", "kubernetes.io/os"};

    for (size_t i = 0; constraints->home && i < COUNT_OF(keys); i++) {
        const char *home = kube_label(constraints->home->metadata, keys[i]);
        const char *there = kube_label(node->metadata, keys[i]);

        if (home && there && strcmp(home, there) != 0 && !names_label(constraints->pod, keys[i]))
            return false;
    }
    return true;
}

static bool may_use_volumes(const struct pod_constraints *constraints, const Api__Node *node)
{
    for (size_t i = 0; i < constraints->n_volumes; i++)
        if (!node_selector_matches(constraints->volumes[i], node->metadata))
            return false;
    return true;
}

enum refusal pod_constraints_judge(const struct pod_constraints *constraints, const Api__Node *node)
{
    enum refusal taints = judge_taints(constraints, node->spec);

    if (taints || !constraints->pod)
        return taints;
    if (!is_selected(constraints->pod, node))
        return REFUSAL_SELECTOR;
    if (!is_like_home(constraints, node))
        return REFUSAL_MACHINE;
    if (!may_use_volumes(constraints, node))
        return REFUSAL_VOLUMES;
    return pod_company_judge(&constraints->company, node);
}

int pod_constraints_preference(const struct pod_constraints *constraints, const Api__Node *node)
{
    const Api__NodeAffinity *affinity = pod_affinity_of(constraints->pod)->node_affinity;
    int preference = 0;

    for (size_t i = 0; node->spec && i < node->spec->n_taints; i++)
        if (has_effect(node->spec->taints[i], "PreferNoSchedule") &&
            !tolerates(constraints, node->spec->taints[i]))
            preference -= AVOIDED;
    for (size_t i = 0;
         affinity && i < affinity->n_preferred_during_scheduling_ignored_during_execution; i++) {
        const Api__PreferredSchedulingTerm *term =
            affinity->preferred_during_scheduling_ignored_during_execution[i];

        if (term->preference && node_term_matches(term->preference, node->metadata))
            preference += term->weight;
    }
    return preference + pod_company_preference(&constraints->company, node);
}
