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

/* Of a name's characters; the rest of what Azure's kinds of names must be is left to Azure. */
static bool is_name(const char *part, size_t length)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789-_.()";

    return length > 0 && strspn(part, allowed) >= length && strspn(part, ".") < length;
}

struct err *resource_id_check(const char *text)
{
    static const char start[] = "/subscriptions/";
    const char *part = text;

    if (strncasecmp(text, start, strlen(start)) != 0)
        return err_new(ERR_INVALID, "\"%s\" does not begin with %s", text, start);
    while (*part == '/') {
        size_t length = strcspn(++part, "/");

        if (!is_name(part, length))
            return err_new(ERR_INVALID, "\"%s\": \"%.*s\" is not a valid name of an Azure resource",
                           text, (int)length, part);
        part += length;
    }
    return NULL;
}

struct err *resource_id_parse(const char *text, struct resource_id *ret)
{
    CLEANUP(resource_id_fini) struct resource_id id = {0};
    char **names[] = {NULL, &id.subscription, NULL,    &id.resource_group, NULL,
                      NULL, &id.type,         &id.name};
    const char *part = text;

    TRY(resource_id_check(text));
    for (size_t i = 0; i < COUNT_OF(fixed); i++) {
        if (*part != '/')
            return err_new(ERR_INVALID, "\"%s\" is not of the form %s", text, form);
        part++;

        size_t length = strcspn(part, "/");
        bool as_expected =
            !fixed[i] || (strlen(fixed[i]) == length && strncasecmp(part, fixed[i], length) == 0);
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

struct err *resource_id_check_type(const char *text, const char *type)
{
    CLEANUP(resource_id_fini) struct resource_id id = {0};

    TRY(resource_id_parse(text, &id));
    if (strcasecmp(id.type, type) == 0)
        return NULL;
    return err_new(ERR_INVALID, "\"%s\" is not of the form %s with TYPE %s", text, form, type);
}

char *resource_id_format(const char *subscription, const char *resource_group, const char *type,
                         const char *name)
{
    return mem_printf("/subscriptions/%s/resourceGroups/%s/providers/Microsoft.Compute/%s/%s",
                      subscription, resource_group, type, name);
}

char *resource_id_collection(const char *id)
{
    const char *name = strrchr(id, '/');

    return mem_strndup(id, name ? (size_t)(name - id) : 0);
}

bool resource_id_equal(const char *a, const char *b)
{
    return a && b && strcasecmp(a, b) == 0;
}
