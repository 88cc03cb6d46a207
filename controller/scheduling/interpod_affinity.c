#include "controller/scheduling/interpod_affinity.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/string_set.h"
#include "lib/kube/pod.h"
#include "lib/kube/selector.h"

enum {
    MOST_COMPARED = 32 * 1024 * 1024,
    LOOK = 64, /* what it takes to come to another pod, in bytes that could be compared meanwhile */
    MOST_REPELLING = 16 * 1024, /* bytes of the terms by which a pod keeps others away */
};

/* Nodes with this label are meant if its value is one of `domains`. */
struct affinity_rule {
    const char *key;
    struct string_set domains;
    int weight;  /* of a preferred term */
    bool waived; /* there is nobody to be with yet: any value will do */
};

/* ---- pods ---- */

#define REQUIRED(affinity) (affinity)->required_during_scheduling_ignored_during_execution
#define N_REQUIRED(affinity) (affinity)->n_required_during_scheduling_ignored_during_execution
#define PREFERRED(affinity) (affinity)->preferred_during_scheduling_ignored_during_execution
#define N_PREFERRED(affinity) (affinity)->n_preferred_during_scheduling_ignored_during_execution

const Api__Affinity *pod_affinity_of(const Api__Pod *pod)
{
    static const Api__Affinity none = API__AFFINITY__INIT;

    return pod && pod->spec && pod->spec->affinity ? pod->spec->affinity : &none;
}

/* ---- indexes ---- */

#define ANYBODY "*" /* whom a term is about that names no label's value */

void pod_index_by_label(const struct kube_object *object,
                        void (*emit)(void *ctx, const char *value), void *ctx)
{
    const Api__ObjectMeta *metadata = object->metadata;

    emit(ctx, metadata->namespace_);
    for (size_t i = 0; i < metadata->n_labels; i++) {
        CLEANUP(freep)
        char *value = mem_printf("%s/%s=%s", metadata->namespace_, metadata->labels[i]->key,
                                 metadata->labels[i]->value);
        emit(ctx, value);
    }
}

void pod_index_repelling(const struct kube_object *object,
                         void (*emit)(void *ctx, const char *value), void *ctx)
{
    const Api__PodAffinity *anti = pod_affinity_of(KUBE_AS(Api__Pod, object))->pod_anti_affinity;

    if (!anti || protobuf_c_message_get_packed_size(&anti->base) > MOST_REPELLING)
        return;
    for (size_t i = 0; i < N_REQUIRED(anti); i++) {
        const Api__LabelSelector *selector = REQUIRED(anti)[i]->label_selector;
        CLEANUP(freep) char *value = NULL;

        if (selector && selector->n_match_labels)
            value = mem_printf("%s=%s", selector->match_labels[0]->key,
                               selector->match_labels[0]->value);
        emit(ctx, value ? value : ANYBODY);
    }
}

/* ---- pods that count ---- */

/* The node of a pod that counts for others; NULL if it does not. */
static const Api__Node *place_of(const struct interpod_affinity *affinity, const Api__Pod *pod,
                                 const struct surroundings *surroundings)
{
    const char *name = pod->spec ? pod->spec->node_name : NULL;
    const struct kube_object *node = name ? store_get(surroundings->nodes, name) : NULL;

    if (!node || !pod_is_live(pod))
        return NULL;
    return affinity->current_node && strcmp(affinity->current_node->metadata->name, name) == 0
               ? NULL
               : KUBE_AS(Api__Node, node);
}

/* ---- terms about other pods ---- */

static bool names_namespace(const Api__PodAffinityTerm *term, const char *namespace_)
{
    for (size_t i = 0; i < term->n_namespaces; i++)
        if (strcmp(term->namespaces[i], namespace_) == 0)
            return true;
    return false;
}

/* `owner` is the namespace of the pod that has the term. */
static bool selects_namespace(const Api__PodAffinityTerm *term, const char *owner,
                              const char *namespace_, const struct surroundings *surroundings)
{
    if (term->n_namespaces == 0 && !term->namespace_selector)
        return strcmp(owner, namespace_) == 0;
    const struct kube_object *object =
        term->namespace_selector ? store_get(surroundings->namespaces, namespace_) : NULL;

    return names_namespace(term, namespace_) ||
           (object && label_selector_matches(term->namespace_selector, object->metadata));
}

static bool selects_pod(const Api__PodAffinityTerm *term, const char *owner, const Api__Pod *pod,
                        const struct surroundings *surroundings)
{
    return label_selector_matches(term->label_selector, pod->metadata) &&
           selects_namespace(term, owner, pod->metadata->namespace_, surroundings);
}

static bool all_select(Api__PodAffinityTerm *const *terms, size_t n, const char *owner,
                       const Api__Pod *pod, const struct surroundings *surroundings)
{
    for (size_t i = 0; i < n; i++)
        if (!selects_pod(terms[i], owner, pod, surroundings))
            return false;
    return true;
}

/* ---- rules ---- */

static struct affinity_rule *add_rule(struct affinity_rules *rules, const char *key, int weight)
{
    struct affinity_rule *rule = &ARRAY_ADD(rules->items, rules->n);

    *rule = (struct affinity_rule){.key = key ? key : "", .weight = weight};
    return rule;
}

/* What keeps away does so whatever else does: one rule for each key is enough. */
static struct affinity_rule *rule_for(struct affinity_rules *rules, const char *key)
{
    for (size_t i = 0; key && i < rules->n; i++)
        if (strcmp(rules->items[i].key, key) == 0)
            return &rules->items[i];
    return add_rule(rules, key, 0);
}

static void add_domain(struct affinity_rule *rule, const Api__Node *node)
{
    const char *value = kube_label(node->metadata, rule->key);

    if (value)
        string_set_add(&rule->domains, value);
}

static bool rule_has(const struct affinity_rule *rule, const Api__Node *node)
{
    const char *value = kube_label(node->metadata, rule->key);

    return value && (rule->waived || string_set_has(&rule->domains, value));
}

static void rules_fini(struct affinity_rules *rules)
{
    for (size_t i = 0; i < rules->n; i++)
        string_set_clear(&rules->items[i].domains);
    free(rules->items);
    *rules = (struct affinity_rules){0};
}

void interpod_affinity_fini(struct interpod_affinity *affinity)
{
    rules_fini(&affinity->affinity);
    rules_fini(&affinity->anti_affinity);
    rules_fini(&affinity->preferred);
}

/* Calls `take` for every pod that the first term selects, whichever node it is on. */
struct search {
    struct interpod_affinity *affinity;
    const struct surroundings *surroundings;
    Api__PodAffinityTerm *const *terms; /* of the pod, all of which have to select another */
    size_t n_terms;
    size_t size;                 /* what it takes to compare them with one */
    struct affinity_rule *rules; /* one for each of them */
    bool found;                  /* a pod that counts */
    bool would;                  /* the pod itself would do, or one that comes along */
};

static void look_at(struct search *search, const Api__Pod *other)
{
    const char *owner = search->affinity->pod->metadata->namespace_;
    const Api__Node *node = place_of(search->affinity, other, search->surroundings);

    if (!all_select(search->terms, search->n_terms, owner, other, search->surroundings))
        return;
    search->would = true;
    search->found |= node != NULL;
    for (size_t i = 0; node && i < search->n_terms; i++)
        add_domain(&search->rules[i], node);
}

/* With one more pod, or namespace. */
static bool may_compare(const struct search *search)
{
    search->affinity->compared += search->size;
    return search->affinity->compared <= MOST_COMPARED;
}

/* The pods of the namespace that the term can be about, by the rarest of the labels that it names.
 */
static void look_in(struct search *search, const char *namespace_)
{
    const struct store_index *index = search->surroundings->pods_by_label;
    const Api__LabelSelector *selector = search->terms[0]->label_selector;
    size_t n;
    struct kube_object *const *pods = store_find(index, namespace_, &n);

    for (size_t i = 0; selector && i < selector->n_match_labels; i++) {
        CLEANUP(freep)
        char *value = mem_printf("%s/%s=%s", namespace_, selector->match_labels[i]->key,
                                 selector->match_labels[i]->value);
        size_t n_with;
        struct kube_object *const *with = store_find(index, value, &n_with);

        if (n_with < n) {
            pods = with;
            n = n_with;
        }
    }
    for (size_t i = 0; i < n && may_compare(search); i++)
        look_at(search, KUBE_AS(Api__Pod, pods[i]));
}

/* The first term's namespaces are enough, for a pod has to be selected by all. */
static void search_pods(struct search *search)
{
    const Api__PodAffinityTerm *term = search->terms[0];
    const char *owner = search->affinity->pod->metadata->namespace_;

    search->size = LOOK;
    for (size_t i = 0; i < search->n_terms; i++)
        search->size += protobuf_c_message_get_packed_size(&search->terms[i]->base);
    if (!term->namespace_selector && term->n_namespaces == 0)
        look_in(search, owner);
    for (size_t i = 0; i < term->n_namespaces; i++)
        look_in(search, term->namespaces[i]);
    if (!term->namespace_selector)
        return;
    STORE_FOREACH(search->surroundings->namespaces, object)
        if (may_compare(search) && !names_namespace(term, object->metadata->name) &&
            label_selector_matches(term->namespace_selector, object->metadata))
            look_in(search, object->metadata->name);
}

/* All terms together: whoever the pod is to be with satisfies all of them. */
static void add_required(struct interpod_affinity *affinity,
                         const struct surroundings *surroundings)
{
    const Api__PodAffinity *wanted = pod_affinity_of(affinity->pod)->pod_affinity;
    size_t n = wanted ? N_REQUIRED(wanted) : 0;

    if (n == 0)
        return;
    for (size_t i = 0; i < n; i++)
        add_rule(&affinity->affinity, REQUIRED(wanted)[i]->topology_key, 0);
    struct search search = {
        .affinity = affinity,
        .surroundings = surroundings,
        .terms = REQUIRED(wanted),
        .n_terms = n,
        .rules = affinity->affinity.items,
    };
    look_at(&search, affinity->pod);
    search_pods(&search);
    for (size_t i = 0; i < n; i++)
        affinity->affinity.items[i].waived = !search.found && search.would;
}

/* Each term by itself. */
static void add_term(struct interpod_affinity *affinity, const struct surroundings *surroundings,
                     Api__PodAffinityTerm *const *term, struct affinity_rule *rule)
{
    struct search search = {
        .affinity = affinity,
        .surroundings = surroundings,
        .terms = term,
        .n_terms = 1,
        .rules = rule,
    };

    search_pods(&search);
}

static void add_anti(struct interpod_affinity *affinity, const struct surroundings *surroundings)
{
    const Api__PodAffinity *anti = pod_affinity_of(affinity->pod)->pod_anti_affinity;

    for (size_t i = 0; anti && i < N_REQUIRED(anti); i++)
        add_term(affinity, surroundings, &REQUIRED(anti)[i],
                 rule_for(&affinity->anti_affinity, REQUIRED(anti)[i]->topology_key));
}

static void add_preferred(struct interpod_affinity *affinity,
                          const struct surroundings *surroundings, const Api__PodAffinity *wanted,
                          int sign)
{
    for (size_t i = 0; wanted && i < N_PREFERRED(wanted); i++) {
        const Api__WeightedPodAffinityTerm *term = PREFERRED(wanted)[i];

        if (term->pod_affinity_term)
            add_term(affinity, surroundings, &term->pod_affinity_term,
                     add_rule(&affinity->preferred, term->pod_affinity_term->topology_key,
                              sign * term->weight));
    }
}

/* Other pods keep this one away by terms of theirs. */
static void add_repelling(struct interpod_affinity *affinity,
                          const struct surroundings *surroundings, const char *about)
{
    size_t n;
    struct kube_object *const *pods = store_find(surroundings->repelling_pods, about, &n);

    for (size_t i = 0; i < n; i++) {
        const Api__Pod *other = KUBE_AS(Api__Pod, pods[i]);
        const Api__PodAffinity *anti = pod_affinity_of(other)->pod_anti_affinity;
        const Api__Node *node = place_of(affinity, other, surroundings);

        /* A pod may have thousands of terms about labels that no node has. */
        for (size_t k = 0; node && k < N_REQUIRED(anti); k++) {
            const char *key = REQUIRED(anti)[k]->topology_key;

            if (key && kube_label(node->metadata, key) &&
                selects_pod(REQUIRED(anti)[k], other->metadata->namespace_, affinity->pod,
                            surroundings))
                add_domain(rule_for(&affinity->anti_affinity, key), node);
        }
    }
}

static void add_all_repelling(struct interpod_affinity *affinity,
                              const struct surroundings *surroundings)
{
    const Api__ObjectMeta *metadata = affinity->pod->metadata;

    add_repelling(affinity, surroundings, ANYBODY);
    for (size_t i = 0; i < metadata->n_labels; i++) {
        CLEANUP(freep)
        char *label = mem_printf("%s=%s", metadata->labels[i]->key, metadata->labels[i]->value);
        add_repelling(affinity, surroundings, label);
    }
}

void interpod_affinity_find(const Api__Pod *pod, const Api__Node *current_node,
                            const struct surroundings *surroundings, struct interpod_affinity *ret)
{
    *ret = (struct interpod_affinity){.pod = pod, .current_node = current_node};
    add_required(ret, surroundings);
    add_anti(ret, surroundings);
    add_all_repelling(ret, surroundings);
    add_preferred(ret, surroundings, pod_affinity_of(pod)->pod_affinity, 1);
    add_preferred(ret, surroundings, pod_affinity_of(pod)->pod_anti_affinity, -1);
    if (ret->compared > MOST_COMPARED)
        interpod_affinity_fini(ret);
}

/* ---- a node ---- */

enum unschedulable_reason interpod_affinity_check(const struct interpod_affinity *affinity,
                                                  const Api__Node *node)
{
    for (size_t i = 0; i < affinity->affinity.n; i++)
        if (!rule_has(&affinity->affinity.items[i], node))
            return UNSCHEDULABLE_AFFINITY;
    for (size_t i = 0; i < affinity->anti_affinity.n; i++)
        if (rule_has(&affinity->anti_affinity.items[i], node))
            return UNSCHEDULABLE_ANTI_AFFINITY;
    return UNSCHEDULABLE_NONE;
}

int interpod_affinity_score(const struct interpod_affinity *affinity, const Api__Node *node)
{
    int preference = 0;

    for (size_t i = 0; i < affinity->preferred.n; i++)
        if (rule_has(&affinity->preferred.items[i], node))
            preference += affinity->preferred.items[i].weight;
    return preference;
}
