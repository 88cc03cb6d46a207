#include "test/azsim/model/region.h"

#include <ctype.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"

enum { MAX_LIST = 4096 };

static const struct {
    const char *name, *display_name;
} regions[] = {
    {"eastus", "East US"},
    {"northeurope", "North Europe"},
    {"westeurope", "West Europe"},
    {"westus", "West US"},
};

bool region_is_same(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (*a == ' ')
            a++;
        while (*b == ' ')
            b++;
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
        if (!*a)
            return true;
    }
}

static const char *display_name_of(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(regions); i++)
        if (strcmp(regions[i].name, name) == 0)
            return regions[i].display_name;
    return name;
}

bool region_at(const struct model *model, size_t i, const char **ret_name,
               const char **ret_display_name)
{
    *ret_name = model->location;
    for (size_t r = 0; i > 0; r++) {
        if (r == COUNT_OF(regions))
            return false;
        if (region_is_same(regions[r].name, model->location))
            continue;
        *ret_name = regions[r].name;
        i--;
    }
    *ret_display_name = display_name_of(*ret_name);
    return true;
}

const char *region_find(const struct model *model, const char *text)
{
    const char *name, *display_name;

    for (size_t i = 0; region_at(model, i, &name, &display_name); i++)
        if (region_is_same(name, text))
            return name;
    return NULL;
}

char *region_list(const struct model *model)
{
    struct buffer list = {.limit = MAX_LIST};
    const char *name, *display_name;

    for (size_t i = 0; region_at(model, i, &name, &display_name); i++)
        buffer_printf(&list, "%s%s", i ? "," : "", name);
    return buffer_take(&list);
}
