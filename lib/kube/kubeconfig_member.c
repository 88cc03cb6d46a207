#include "lib/kube/kubeconfig_member.h"

struct err *kubeconfig_text(const json_t *map, const char *member, const char **ret)
{
    const json_t *value = json_object_get(map, member);

    if (value && !json_is_null(value) && !json_is_string(value))
        return err_new(ERR_INVALID, "%s is not a string; put it in quotes", member);
    *ret = json_string_length(value) ? json_string_value(value) : NULL;
    return NULL;
}

struct err *kubeconfig_required_text(const json_t *map, const char *member, const char **ret)
{
    TRY(kubeconfig_text(map, member, ret));
    return *ret ? NULL : err_new(ERR_INVALID, "%s is missing", member);
}
