#include "test/sim/kube/selector.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"

/* The value at a path is one of a set, or is none of it; absent counts as none. */
struct requirement {
    bool is_field;
    char *key;
    bool wanted;  /* to be one of the set */
    bool any;     /* the set is all values */
    char *values; /* the set: one text after the other, each with its NUL */
    size_t n;
};

void selector_fini(struct selector *selector)
{
    free(selector->requirements);
    free(selector->labels);
    free(selector->fields);
    *selector = (struct selector){0};
}

/* ---- reading ---- */

static struct err *bad(const char *text)
{
    return err_with_code(err_new(ERR_INVALID, "\"%s\" is no selector", text), "BadRequest");
}

static char *trim(char *text)
{
    text += strspn(text, " ");
    size_t length = strlen(text);

    while (length > 0 && text[length - 1] == ' ')
        text[--length] = '\0';
    return text;
}

/* The next requirement of a list; commas within parentheses are not its end. */
static char *take_requirement(char **rest)
{
    char *start = *rest;
    unsigned depth = 0;

    if (!start)
        return NULL;
    for (char *c = start;; c++) {
        depth += *c == '(';
        depth -= *c == ')' && depth > 0;
        if (*c && (*c != ',' || depth > 0))
            continue;
        *rest = *c ? c + 1 : NULL;
        *c = '\0';
        return trim(start);
    }
}

/* "(b, c)" into the set, in place. */
static bool read_set(char *text, struct requirement *ret)
{
    size_t length = strlen(text);
    char *out = text;

    if (length < 2 || text[0] != '(' || text[length - 1] != ')')
        return false;
    text[length - 1] = '\0';
    char *rest = text + 1;
    for (char *value; (value = strsep(&rest, ",")); ret->n++) {
        value = trim(value);
        size_t size = strlen(value) + 1;
        memmove(out, value, size);
        out += size;
    }
    ret->values = text;
    return true;
}

/* "key in (...)" or "key notin (...)". */
static bool read_membership(char *text, struct requirement *ret)
{
    size_t length = strcspn(text, " ");

    if (!text[length])
        return false;
    char *operator= text + length + strspn(text + length, " ");
    size_t word = strcspn(operator, " (");
    ret->wanted = word == 2 && strncmp(operator, "in", word) == 0;
    if (!ret->wanted && (word != 5 || strncmp(operator, "notin", word) != 0))
        return false;
    text[length] = '\0';
    ret->key = text;
    return read_set(trim(operator+ word), ret);
}

/* "key=value" and its relatives. */
static bool read_comparison(char *text, struct requirement *ret)
{
    char *equals = strchr(text, '=');

    if (!equals)
        return false;
    ret->wanted = equals == text || equals[-1] != '!';
    equals[ret->wanted ? 0 : -1] = '\0';
    ret->key = trim(text);
    ret->values = trim(equals + (equals[1] == '=' ? 2 : 1));
    ret->n = 1;
    return true;
}

static bool read_existence(char *text, struct requirement *ret)
{
    ret->wanted = text[0] != '!';
    ret->any = true;
    ret->key = trim(text + !ret->wanted);
    return !strpbrk(ret->key, " (),");
}

static bool is_selectable(const struct kind *kind, const char *field)
{
    if (strcmp(field, "metadata.name") == 0)
        return true;
    if (kind->resource->namespaced && strcmp(field, "metadata.namespace") == 0)
        return true;
    for (size_t i = 0; i < COUNT_OF(kind->fields) && kind->fields[i]; i++)
        if (strcmp(field, kind->fields[i]) == 0)
            return true;
    return false;
}

static struct err *read_all(const struct kind *kind, const char *whole, char *text, bool is_field,
                            struct selector *selector)
{
    char *rest = text;

    for (char *part; (part = take_requirement(&rest));) {
        struct requirement requirement = {.is_field = is_field};
        bool good = read_comparison(part, &requirement) ||
                    (!is_field &&
                     (read_membership(part, &requirement) || read_existence(part, &requirement)));

        if (!good || !requirement.key[0] || (is_field && !is_selectable(kind, requirement.key)))
            return bad(whole);
        ARRAY_ADD(selector->requirements, selector->n) = requirement;
    }
    return NULL;
}

struct err *selector_read(const struct kind *kind, const char *labels, const char *fields,
                          struct selector *ret)
{
    struct selector selector = {.labels = mem_strdup(labels), .fields = mem_strdup(fields)};
    struct err *err = NULL;

    if (labels && labels[0])
        err = read_all(kind, labels, selector.labels, false, &selector);
    if (!err && fields && fields[0])
        err = read_all(kind, fields, selector.fields, true, &selector);
    if (err)
        selector_fini(&selector);
    else
        *ret = selector;
    return err;
}

/* ---- matching ---- */

static const json_t *value_at(const json_t *json, const char *path)
{
    for (;;) {
        size_t length = strcspn(path, ".");

        json = json_object_getn(json, path, length);
        if (!json || !path[length])
            return json;
        path += length + 1;
    }
}

static bool is_one_of(const struct requirement *requirement, const char *text)
{
    const char *value = requirement->values;

    for (size_t i = 0; i < requirement->n; i++, value += strlen(value) + 1)
        if (strcmp(value, text) == 0)
            return true;
    return false;
}

static bool meets(const struct requirement *requirement, const json_t *object)
{
    const json_t *labels = json_object_get(json_object_get(object, "metadata"), "labels");
    const json_t *value = requirement->is_field ? value_at(object, requirement->key)
                                                : json_object_get(labels, requirement->key);
    const char *text = json_string_value(value);

    if (!text && requirement->is_field)
        text = "";
    bool is_in = text && (requirement->any || is_one_of(requirement, text));
    return is_in == requirement->wanted;
}

bool selector_matches(const struct selector *selector, const json_t *object)
{
    for (size_t i = 0; i < selector->n; i++)
        if (!meets(&selector->requirements[i], object))
            return false;
    return true;
}
