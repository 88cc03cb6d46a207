#include "provisioner-lib/parameter_table.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "lib/kube/selector_text.h"
#include "provisioner-lib/caching.h"

enum { LONGEST_GROUP = 90 };

/* ---- one value ---- */

/* The allowed value that this one is; the list if it is none. */
static struct err *choose(const struct parameter_row *row, const char *value, size_t *ret_index)
{
    CLEANUP(freep) char *list = NULL;

    for (size_t i = 0; row->allowed[i]; i++) {
        if (strcasecmp(row->allowed[i], value) == 0) {
            *ret_index = i;
            return NULL;
        }
        char *longer = mem_printf("%s%s%s", list ? list : "", list ? ", " : "", row->allowed[i]);
        free(list);
        list = longer;
    }
    return err_new(ERR_INVALID, "\"%s\" is not one of %s", value, list);
}

static struct err *read_integer(const struct parameter_row *row, const char *value, int64_t *ret)
{
    char *end;
    size_t unused;

    if (row->allowed)
        TRY(choose(row, value, &unused));
    errno = 0;
    int64_t number = strtoll(value, &end, 10);
    if (errno || end == value || *end)
        return err_new(ERR_INVALID, "\"%s\" is not a whole number", value);
    if (number < row->least || number > row->most)
        return err_new(ERR_INVALID, "%s is not in the range from %" PRId64 " to %" PRId64, value,
                       row->least, row->most);
    *ret = number;
    return NULL;
}

static struct err *read_fixed(const struct parameter_row *row, const char *value)
{
    for (size_t i = 0; row->allowed[i]; i++)
        if (strcasecmp(row->allowed[i], value) == 0)
            return NULL;
    return err_new(ERR_INVALID, "\"%s\" is not supported; omit the parameter. %s", value,
                   row->help);
}

/* Both become parts of URLs. */
static struct err *check_group(const char *value)
{
    size_t length = strlen(value);

    for (size_t i = 0; i < length; i++)
        if (!isascii(value[i]) || (!isalnum(value[i]) && !strchr("_-.()", value[i])))
            return err_new(ERR_INVALID,
                           "\"%s\" is not the name of a resource group: only letters, digits, _, "
                           "-, ., ( and ) are allowed",
                           value);
    if (length > LONGEST_GROUP || (length > 0 && value[length - 1] == '.'))
        return err_new(ERR_INVALID,
                       "\"%s\" is not the name of a resource group: it must have at most %d "
                       "characters and must not end with a dot",
                       value, LONGEST_GROUP);
    return NULL;
}

static struct err *check_guid(const char *value)
{
    static const char form[] = "00000000-0000-0000-0000-000000000000";
    bool good = strlen(value) == strlen(form);

    for (size_t i = 0; good && form[i]; i++)
        good = form[i] == '-' ? value[i] == '-' : isxdigit((unsigned char)value[i]) != 0;
    return good || !*value ? NULL
                           : err_new(ERR_INVALID, "\"%s\" is not of the form %s", value, form);
}

static struct err *check_selector(const char *value)
{
    CLEANUP(label_selector_freep) Api__LabelSelector *unused = NULL;

    return label_selector_parse(value, &unused);
}

struct err *parameter_row_read(const struct parameter_row *row, const char *value, void *ret)
{
    void *target = (char *)ret + row->offset;
    int64_t number;
    size_t index;

    switch (row->type) {
    case SELECTOR:
    case GROUP:
    case GUID:
        TRY(row->type == SELECTOR ? check_selector(value)
            : row->type == GROUP  ? check_group(value)
                                  : check_guid(value));
        __attribute__((fallthrough));
    case TEXT:
    case TAGS:
    case NAME:
        if (row->allowed)
            TRY(choose(row, value, &index));
        free(*(char **)target);
        *(char **)target = mem_strdup(value);
        return NULL;
    case CHOICE:
        TRY(choose(row, value, &index));
        *(const char **)target = row->allowed[index];
        return NULL;
    case INTEGER:
        return read_integer(row, value, target);
    case COUNT:
        TRY(read_integer(row, value, &number));
        *(int *)target = (int)number;
        return NULL;
    case TRUTH:
        if (strcasecmp(value, "true") != 0 && strcasecmp(value, "false") != 0)
            return err_new(ERR_INVALID, "\"%s\" is neither true nor false", value);
        *(bool *)target = strcasecmp(value, "true") == 0;
        return NULL;
    case CACHING:
        TRY(choose(row, value, &index));
        *(enum caching_mode *)target = (enum caching_mode)(CACHING_NONE + index);
        return NULL;
    case FIXED:
        return read_fixed(row, value);
    case IGNORED:
        return NULL;
    case SETTING:
        break;
    }
    abort();
}

static bool is_named(const struct parameter_row *row, const char *name)
{
    size_t length = strlen(row->name);

    if (row->name[length - 1] == '/')
        return strncasecmp(row->name, name, length) == 0;
    return strcasecmp(row->name, name) == 0;
}

const struct parameter_row *parameter_table_find(const struct parameter_table *table,
                                                 const char *name)
{
    for (size_t i = 0; i < table->n; i++)
        if (is_named(&table->rows[i], name))
            return &table->rows[i];
    return NULL;
}

struct err *parameter_table_read_fallbacks(const struct parameter_table *table, void *ret)
{
    for (size_t i = 0; i < table->n; i++)
        if (table->rows[i].fallback)
            TRY(parameter_row_read(&table->rows[i], table->rows[i].fallback, ret));
    return NULL;
}
