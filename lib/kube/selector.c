#include "lib/kube/selector.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/kube/object.h"

static bool is(const char *text, const char *other)
{
    return text && strcmp(text, other) == 0;
}

static bool parse(const char *text, long long *ret)
{
    char *end;

    errno = 0;
    *ret = text ? strtoll(text, &end, 10) : 0;
    return text && *text && !*end && errno == 0;
}

/* `value` NULL: there is no such label. */
static bool requirement_matches(const Api__SelectorRequirement *requirement, const char *value)
{
    const char *relation = requirement->operator_;
    bool listed = false;
    long long have, limit;

    for (size_t i = 0; value && i < requirement->n_values; i++)
        listed |= strcmp(value, requirement->values[i]) == 0;
    if (is(relation, "In"))
        return listed;
    if (is(relation, "NotIn"))
        return !listed;
    if (is(relation, "Exists"))
        return value != NULL;
    if (is(relation, "DoesNotExist"))
        return value == NULL;
    if (requirement->n_values != 1 || !parse(value, &have) ||
        !parse(requirement->values[0], &limit))
        return false;
    return is(relation, "Gt") ? have > limit : is(relation, "Lt") && have < limit;
}

bool label_selector_matches(const Api__LabelSelector *selector, const Api__ObjectMeta *object)
{
    if (!selector)
        return false;
    for (size_t i = 0; i < selector->n_match_labels; i++)
        if (!is(kube_label(object, selector->match_labels[i]->key),
                selector->match_labels[i]->value))
            return false;
    for (size_t i = 0; i < selector->n_match_expressions; i++) {
        const Api__SelectorRequirement *requirement = selector->match_expressions[i];

        if (!requirement->key ||
            !requirement_matches(requirement, kube_label(object, requirement->key)))
            return false;
    }
    return true;
}

/* The only field that there is. */
static bool field_matches(const Api__SelectorRequirement *requirement, const Api__ObjectMeta *node)
{
    return is(requirement->key, "metadata.name") && requirement_matches(requirement, node->name);
}

bool node_term_matches(const Api__NodeSelectorTerm *term, const Api__ObjectMeta *node)
{
    for (size_t i = 0; i < term->n_match_expressions; i++) {
        const Api__SelectorRequirement *requirement = term->match_expressions[i];

        if (!requirement->key ||
            !requirement_matches(requirement, kube_label(node, requirement->key)))
            return false;
    }
    for (size_t i = 0; i < term->n_match_fields; i++)
        if (!field_matches(term->match_fields[i], node))
            return false;
    return term->n_match_expressions + term->n_match_fields > 0;
}

bool node_selector_matches(const Api__NodeSelector *selector, const Api__ObjectMeta *node)
{
    for (size_t i = 0; selector && i < selector->n_node_selector_terms; i++)
        if (node_term_matches(selector->node_selector_terms[i], node))
            return true;
    return selector == NULL;
}

static bool tolerates(const Api__Toleration *toleration, const Api__Taint *taint)
{
    bool any_key = !toleration->key || !*toleration->key;
    bool any_effect = !toleration->effect || !*toleration->effect;
    bool any_value = is(toleration->operator_, "Exists");

    if ((!any_effect && !same_text(toleration->effect, taint->effect)) ||
        (!any_key && !same_text(toleration->key, taint->key)))
        return false;
    if (any_value)
        return true;
    bool by_value = same_text(toleration->operator_, NULL) || is(toleration->operator_, "Equal");
    return by_value && !any_key && same_text(toleration->value, taint->value);
}

bool is_tolerated(const Api__Taint *taint, Api__Toleration *const *tolerations, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (tolerates(tolerations[i], taint))
            return true;
    return false;
}
