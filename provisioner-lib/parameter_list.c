#include "provisioner-lib/parameter_list.h"

#include <string.h>
#include <strings.h>

const char *parameter_find(const struct parameter *parameters, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(parameters[i].name, name) == 0)
            return parameters[i].value;
    return NULL;
}

struct parameter *parameters_overridden(const struct parameter *parameters, size_t n,
                                        const struct parameter *mutable, size_t n_mutable)
{
    struct parameter *all = mem_alloc((n + n_mutable) * sizeof *all);

    for (size_t i = 0; i < n + n_mutable; i++)
        all[i] = i < n ? parameters[i] : mutable[i - n];
    return all;
}

static bool has(const struct parameter *parameters, size_t n, const struct parameter *one)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(parameters[i].name, one->name) == 0)
            return strcmp(parameters[i].value, one->value) == 0;
    return false;
}

bool parameters_include(const struct parameter *parameters, size_t n, const struct parameter *part,
                        size_t n_part)
{
    for (size_t i = 0; i < n_part; i++)
        if (!has(parameters, n, &part[i]))
            return false;
    return true;
}

void parameters_set(json_t *object, const struct parameter *parameters, size_t n)
{
    for (size_t i = 0; i < n; i++)
        json_object_set_new(object, parameters[i].name, json_string(parameters[i].value));
}

void parameters_unset(json_t *object, const struct parameter *parameters, size_t n)
{
    for (size_t i = 0; i < n; i++)
        json_object_set_new(object, parameters[i].name, json_null());
}
