#include "test/sim/kube/fault.h"

#include <stdlib.h>
#include <string.h>

void fault_add(struct fault_list *list, const struct fault_rule *rule)
{
    if (list->n == MOST_FAULT_RULES)
        abort();
    list->hits[list->n] = 0;
    list->rules[list->n++] = *rule;
}

void fault_clear(struct fault_list *list)
{
    list->n = 0;
}

static bool matches(const struct fault_rule *rule, const char *verb,
                    const struct api_resource *resource)
{
    return (!rule->verb || strcmp(rule->verb, verb) == 0) &&
           (!rule->resource || rule->resource == resource);
}

static bool strikes(struct fault_rule *rule, unsigned *hits, struct random *random)
{
    if (rule->most && *hits >= rule->most)
        return false;
    if (rule->skip > 0) {
        rule->skip--;
        return false;
    }
    if (rule->chance && random_below(random, 10000) >= rule->chance)
        return false;
    (*hits)++;
    return true;
}

const struct fault_rule *fault_draw(struct fault_list *list, const char *verb,
                                    const struct api_resource *resource, struct random *random)
{
    for (unsigned i = 0; i < list->n; i++)
        if (matches(&list->rules[i], verb, resource) &&
            strikes(&list->rules[i], &list->hits[i], random))
            return &list->rules[i];
    return NULL;
}
