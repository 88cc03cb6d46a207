#include "test/azsim/model/settings.h"

#include <string.h>

#include "lib/base/alloc.h"

static const char *const concurrency_names[] = {
    [CONCURRENCY_AZURE] = "azure",
    [CONCURRENCY_SUPERSEDED] = "superseded",
    [CONCURRENCY_REFUSED] = "refused",
};

void settings_init(struct model_settings *settings)
{
    *settings = (struct model_settings){.page_size = SETTINGS_PAGE_SIZE};
}

json_t *settings_json(const struct model_settings *settings)
{
    return json_pack("{s:s, s:b, s:i}", "concurrentUpdates",
                     concurrency_names[settings->concurrency], "upperCaseGroups",
                     settings->upper_case_groups, "pageSize", (int)settings->page_size);
}

/* ---- reading; one function for each setting ---- */

static struct err *read_concurrency(struct model_settings *settings, const json_t *value)
{
    const char *name = json_string_value(value);

    for (size_t i = 0; name && i < COUNT_OF(concurrency_names); i++)
        if (strcmp(concurrency_names[i], name) == 0) {
            settings->concurrency = (enum concurrency)i;
            return NULL;
        }
    return err_new(ERR_INVALID,
                   "concurrentUpdates: expected \"azure\", \"superseded\" or \"refused\"");
}

static struct err *read_upper_case(struct model_settings *settings, const json_t *value)
{
    if (!json_is_boolean(value))
        return err_new(ERR_INVALID, "upperCaseGroups: expected true or false");
    settings->upper_case_groups = json_is_true(value);
    return NULL;
}

static struct err *read_page_size(struct model_settings *settings, const json_t *value)
{
    json_int_t size = json_integer_value(value);

    if (size < 1 || size > SETTINGS_MAX_PAGE_SIZE)
        return err_new(ERR_INVALID, "pageSize: expected a number from 1 to %d",
                       SETTINGS_MAX_PAGE_SIZE);
    settings->page_size = (unsigned)size;
    return NULL;
}

static const struct {
    const char *name;
    struct err *(*read)(struct model_settings *settings, const json_t *value);
} rows[] = {
    {"concurrentUpdates", read_concurrency},
    {"upperCaseGroups", read_upper_case},
    {"pageSize", read_page_size},
};

static struct err *change_one(struct model_settings *settings, const char *name,
                              const json_t *value)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].read(settings, value);
    return err_new(ERR_INVALID,
                   "\"%s\" is not a setting; it must be one of concurrentUpdates, upperCaseGroups "
                   "and pageSize",
                   name);
}

struct err *settings_change(struct model_settings *settings, const json_t *json)
{
    struct model_settings changed = *settings;
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)json, name, value) {
        TRY(change_one(&changed, name, value));
    }
    *settings = changed;
    return NULL;
}
