#include "provisioner-lib/azure/resource_id.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"

static const char form[] =
    "/subscriptions/S/resourceGroups/G/providers/Microsoft.Compute/TYPE/NAME";

/* What must stand where in the form; NULL: a name. */
static const char *const fixed[] = {
    "subscriptions", NULL, "resourceGroups", NULL, "providers", "Microsoft.Compute", NULL, NULL};

void resource_id_fini(struct resource_id *id)
{
    free(id->subscription);
    free(id->resource_group);
    free(id->type);
    free(id->name);
    *id = (struct resource_id){0};
}

struct err *resource_id_parse(const char *text, struct resource_id *ret)
{
    CLEANUP(resource_id_fini) struct resource_id id = {0};
    char **names[] = {NULL, &id.subscription, NULL,    &id.resource_group, NULL,
                      NULL, &id.type,         &id.name};
    const char *part = text;

    for (size_t i = 0; i < COUNT_OF(fixed); i++) {
        if (*part != '/')
            return err_new(ERR_INVALID, "\"%s\" is not of the form %s", text, form);
        part++;

        size_t length = strcspn(part, "/");
        bool as_expected =
            fixed[i] ? strlen(fixed[i]) == length && strncasecmp(part, fixed[i], length) == 0
                     : length > 0;
        if (!as_expected)
            return err_new(ERR_INVALID, "\"%s\" is not of the form %s", text, form);
        if (!fixed[i])
            *names[i] = mem_strndup(part, length);
        part += length;
    }
    if (*part)
        return err_new(ERR_INVALID, "\"%s\" is not of the form %s", text, form);
    *ret = id;
    id = (struct resource_id){0};
    return NULL;
}

char *resource_id_format(const char *subscription, const char *resource_group, const char *type,
                         const char *name)
{
    return mem_printf("/subscriptions/%s/resourceGroups/%s/providers/Microsoft.Compute/%s/%s",
                      subscription, resource_group, type, name);
}

bool resource_id_equal(const char *a, const char *b)
{
    return a && b && strcasecmp(a, b) == 0;
}
