#include "scheduler-extender/placement_patch.h"

#include <string.h>

#include "lib/base/text.h"
#include "provisioner-lib/records/placement_gate.h"

/* ---- whom it concerns ---- */

static bool list_has(const char *list, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = list; *at; at += at[0] == ',') {
        size_t here = strcspn(at, ",");

        if (here == length && memcmp(at, word, length) == 0)
            return true;
        at += here;
    }
    return false;
}

bool placement_concerns(const struct placement_rules *rules, const struct admission_review *review)
{
    if (rules->mode == PLACEMENT_NONE || !review->makes_a_pod || review->of_daemon_set ||
        review->is_gated)
        return false;
    const Api__PodSpec *spec = review->pod->spec;

    return same_text(spec->node_name, NULL) && spec->scheduler_name &&
           list_has(rules->scheduler_names, spec->scheduler_name) &&
           !list_has(rules->excluded_namespaces, review->pod->metadata->namespace_);
}

/* ---- a gate ---- */

/* The pod has none. */
json_t *placement_gate_patch(void)
{
    return json_pack("[{s:s, s:s, s:[{s:s}]}]", "op", "add", "path", "/spec/schedulingGates",
                     "value", "name", PLACEMENT_GATE);
}

/* ---- preferred nodes ---- */

#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"
#define NODE_AFFINITY "/spec/affinity/nodeAffinity"

static bool piece_is(const struct json_piece *piece, const char *word)
{
    return json_piece_is_string(piece) && piece->length == strlen(word) + 2 &&
           memcmp(piece->text + 1, word, strlen(word)) == 0;
}

static bool field_names(const struct json_piece *field, const char *node)
{
    struct json_piece key, values, value;

    if (!json_find_member(field, "key", &key) || !piece_is(&key, "metadata.name") ||
        !json_find_member(field, "values", &values))
        return false;
    struct json_cursor cursor = json_cursor_into(&values);
    while (json_next_element(&cursor, &value))
        if (piece_is(&value, node))
            return true;
    return false;
}

static bool term_names(const struct json_piece *term, const char *node)
{
    struct json_piece preference, fields, field;

    if (!json_find_member(term, "preference", &preference) ||
        !json_find_member(&preference, "matchFields", &fields))
        return false;
    struct json_cursor cursor = json_cursor_into(&fields);
    while (json_next_element(&cursor, &field))
        if (field_names(&field, node))
            return true;
    return false;
}

static bool is_named(const struct json_piece *terms, const char *node)
{
    struct json_cursor cursor = json_cursor_into(terms);
    struct json_piece term;

    while (json_next_element(&cursor, &term))
        if (term_names(&term, node))
            return true;
    return false;
}

static json_t *term_of(const struct preferred_node *node)
{
    return json_pack("{s:i, s:{s:[{s:s, s:s, s:[s]}]}}", "weight", (int)node->weight, "preference",
                     "matchFields", "key", "metadata.name", "operator", "In", "values", node->name);
}

static json_t *operation(const char *path, json_t *value)
{
    return json_pack("{s:s, s:s, s:o}", "op", "add", "path", path, "value", value);
}

/* The outermost of what the pod does not have, with the terms in it. */
static json_t *with_terms(const struct admission_review *review, json_t *terms)
{
    if (!review->has_affinity)
        return json_pack("[o]", operation("/spec/affinity", json_pack("{s:{s:o}}", "nodeAffinity",
                                                                      PREFERRED, terms)));
    if (!review->has_node_affinity)
        return json_pack("[o]", operation(NODE_AFFINITY, json_pack("{s:o}", PREFERRED, terms)));
    return json_pack("[o]", operation(NODE_AFFINITY "/" PREFERRED, terms));
}

static json_t *behind_others(const json_t *terms)
{
    json_t *patch = json_array(), *term;
    size_t i;

    json_array_foreach(terms, i, term)
        json_array_append_new(patch,
                              operation(NODE_AFFINITY "/" PREFERRED "/-", json_incref(term)));
    return patch;
}

json_t *placement_preference_patch(const struct admission_review *review,
                                   const struct preferred_node *nodes, size_t n)
{
    CLEANUP(json_decrefp) json_t *terms = json_array();

    for (size_t i = 0; i < n; i++)
        if (!review->preferred.length || !is_named(&review->preferred, nodes[i].name))
            json_array_append_new(terms, term_of(&nodes[i]));
    if (json_array_size(terms) == 0)
        return NULL;
    return review->preferred.length ? behind_others(terms) : with_terms(review, json_incref(terms));
}
