#include "provisioner-lib/tag_list.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/disk_mark.h"

enum {
    MAX_TAGS = 50, /* that are read; how many a disk can have is in parameters_fit.c */
    TAG_NAME_MAX = 512,
    TAG_VALUE_MAX = 256,
};

struct tag_list {
    tag_expand_fn *expand;
    const void *ctx;
    struct parameter **tags;
    size_t *n;
};

/* Characters, not bytes: Azure's limits are of those. */
static size_t count_characters(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static struct err *check_name(const struct tag_list *list, const char *name)
{
    const char *forbidden = strpbrk(name, "<>%&\\?");

    if (forbidden)
        return err_new(ERR_INVALID, "tag %s: Azure does not allow the character %c in a tag's name",
                       name, *forbidden);
    if (count_characters(name) > TAG_NAME_MAX)
        return err_new(ERR_INVALID,
                       "tag %.40s...: its name has more than the %d characters that "
                       "Azure allows",
                       name, TAG_NAME_MAX);
    if (disk_mark_has_tag(name))
        return err_new(
            ERR_INVALID,
            "tag %s is reserved: the driver writes it to identify its disks; omit the tag", name);
    for (size_t i = 0; i < *list->n; i++)
        if (strcasecmp((*list->tags)[i].name, name) == 0)
            return err_new(ERR_INVALID,
                           "tag %s is set twice: Azure does not tell names apart by their case",
                           name);
    return NULL;
}

static struct err *add(const struct tag_list *list, const char *name, const char *text)
{
    CLEANUP(freep) char *value = NULL;

    if (*list->n == MAX_TAGS)
        return err_new(ERR_INVALID, "more than %d tags", MAX_TAGS);
    TRY(check_name(list, name));
    if (list->expand)
        TRY(list->expand(list->ctx, text, &value));
    else
        value = mem_strdup(text);
    if (count_characters(value) > TAG_VALUE_MAX)
        return err_new(ERR_INVALID,
                       "tag %s: its value \"%.40s...\" has more than the %d characters that Azure "
                       "allows",
                       name, value, TAG_VALUE_MAX);
    ARRAY_ADD(*list->tags, *list->n) = (struct parameter){mem_strdup(name), TAKE_PTR(value)};
    return NULL;
}

/* Azure does not allow a slash in a name. */
static struct err *read_item(const struct tag_list *list, char *item)
{
    char *equals = strchr(item, '=');

    *equals = '\0';
    if (strstr(item, "${"))
        return err_new(ERR_INVALID, "\"%s\": templates are possible only in a tag's value", item);
    for (char *c = item; *c; c++)
        if (*c == '/')
            *c = '-';
    return add(list, item, equals + 1);
}

struct err *tag_list_parse(const char *text, const char *delimiter, tag_expand_fn *expand,
                           const void *ctx, struct parameter **ret, size_t *ret_n)
{
    const struct tag_list list = {expand, ctx, ret, ret_n};
    CLEANUP(freep) char *copy = mem_strdup(text);
    char *item = copy, *next;

    delimiter = delimiter && delimiter[0] ? delimiter : ",";
    for (; item; item = next) {
        next = strstr(item, delimiter);
        if (next) {
            *next = '\0';
            next += strlen(delimiter);
        }
        char *equals = strchr(item, '=');
        if (!equals || equals == item || strchr(equals + 1, '='))
            return err_new(ERR_INVALID, "\"%s\" is not of the form key=value[%skey=value...]", text,
                           delimiter);
        TRY(read_item(&list, item));
    }
    return NULL;
}

void tag_list_free(struct parameter **tags, size_t *n)
{
    for (size_t i = 0; i < *n; i++) {
        free((char *)(uintptr_t)(*tags)[i].name);
        free((char *)(uintptr_t)(*tags)[i].value);
    }
    free(*tags);
    *tags = NULL;
    *n = 0;
}
