#include "lib/kube/selector_text.h"

#include <string.h>

#define LABEL_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./"

void label_selector_free(Api__LabelSelector *selector)
{
    api__label_selector__free_unpacked(selector, NULL);
}

/* ---- words and signs; `at` is what has not been read yet ---- */

static void skip_spaces(const char **at)
{
    *at += strspn(*at, " \t");
}

static bool accept(const char **at, const char *sign)
{
    skip_spaces(at);
    if (strncmp(*at, sign, strlen(sign)) != 0)
        return false;
    *at += strlen(sign);
    return true;
}

/* Empty if there is none. */
static char *take_word(const char **at)
{
    skip_spaces(at);
    const char *word = *at;
    *at += strspn(word, LABEL_CHARACTERS);
    return mem_strndup(word, (size_t)(*at - word));
}

static bool accept_word(const char **at, const char *word)
{
    const char *rest = *at;
    CLEANUP(freep) char *found = take_word(&rest);

    if (strcmp(found, word) != 0)
        return false;
    *at = rest;
    return true;
}

/* ---- requirements ---- */

static void add_value(Api__SelectorRequirement *requirement, const char **at)
{
    ARRAY_ADD(requirement->values, requirement->n_values) = take_word(at);
}

/* "(a,b)" */
static struct err *read_values(const char **at, Api__SelectorRequirement *requirement)
{
    if (!accept(at, "("))
        return err_new(ERR_INVALID, "\"(\" is missing at \"%s\"", *at);
    do
        add_value(requirement, at);
    while (accept(at, ","));
    if (!accept(at, ")"))
        return err_new(ERR_INVALID, "\")\" is missing at \"%s\"", *at);
    return NULL;
}

/* What follows the label's name. */
static struct err *read_relation(const char **at, Api__SelectorRequirement *requirement)
{
    static const struct {
        const char *sign, *relation;
    } signs[] = {{"!=", "NotIn"}, {"==", "In"}, {"=", "In"}};
    static const struct {
        const char *word, *relation;
    } words[] = {{"in", "In"}, {"notin", "NotIn"}};

    for (size_t i = 0; i < COUNT_OF(signs); i++)
        if (accept(at, signs[i].sign)) {
            requirement->operator_ = mem_strdup(signs[i].relation);
            add_value(requirement, at);
            return NULL;
        }
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (accept_word(at, words[i].word)) {
            requirement->operator_ = mem_strdup(words[i].relation);
            return read_values(at, requirement);
        }
    requirement->operator_ = mem_strdup("Exists");
    return NULL;
}

static struct err *read_requirement(const char **at, Api__SelectorRequirement *requirement)
{
    bool absent = accept(at, "!");

    requirement->key = take_word(at);
    if (!*requirement->key)
        return err_new(ERR_INVALID, "the name of a label is missing at \"%s\"", *at);
    if (!absent)
        return read_relation(at, requirement);
    requirement->operator_ = mem_strdup("DoesNotExist");
    return NULL;
}

static struct err *read_requirements(const char *at, Api__LabelSelector *selector)
{
    skip_spaces(&at);
    if (!*at)
        return NULL;
    do {
        Api__SelectorRequirement *requirement = mem_alloc(sizeof *requirement);

        api__selector_requirement__init(requirement);
        ARRAY_ADD(selector->match_expressions, selector->n_match_expressions) = requirement;
        TRY(read_requirement(&at, requirement));
    } while (accept(&at, ","));
    skip_spaces(&at);
    return *at ? err_new(ERR_INVALID, "\"%s\" is unexpected", at) : NULL;
}

struct err *label_selector_parse(const char *text, Api__LabelSelector **ret)
{
    CLEANUP(label_selector_freep) Api__LabelSelector *selector = mem_alloc(sizeof *selector);

    api__label_selector__init(selector);
    if (strlen(text) > SELECTOR_TEXT_MAX)
        return err_new(ERR_INVALID, "the selector has more than %d characters", SELECTOR_TEXT_MAX);
    struct err *err = read_requirements(text, selector);
    if (err)
        return err_wrap(err, "\"%s\" is not a label selector", text);
    *ret = TAKE_PTR(selector);
    return NULL;
}
