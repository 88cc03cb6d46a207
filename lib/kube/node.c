#include "lib/kube/node.h"

#include <string.h>
#include <strings.h>

#include "lib/base/text.h"

bool node_is_ready(const Api__Node *node)
{
    for (size_t i = 0; node->status && i < node->status->n_conditions; i++) {
        const Api__NodeCondition *condition = node->status->conditions[i];

        if (condition->type && strcmp(condition->type, "Ready") == 0)
            return condition->status && strcmp(condition->status, "True") == 0;
    }
    return false;
}

bool node_is_schedulable(const Api__Node *node)
{
    if (!node->spec)
        return true;
    for (size_t i = 0; i < node->spec->n_taints; i++) {
        const char *effect = node->spec->taints[i]->effect;

        if (effect && strcmp(effect, "PreferNoSchedule") != 0)
            return false;
    }
    return !node->spec->unschedulable;
}

static bool has_taint(const Api__Node *node, const char *key)
{
    for (size_t i = 0; node->spec && i < node->spec->n_taints; i++)
        if (same_text(node->spec->taints[i]->key, key))
            return true;
    return false;
}

bool node_is_out_of_service(const Api__Node *node)
{
    return has_taint(node, TAINT_OUT_OF_SERVICE);
}

bool node_has_failed_over(const Api__Node *node)
{
    return has_taint(node, TAINT_FAILED_OVER);
}

const char *node_provider_id(const Api__Node *node)
{
    const Api__NodeSpec *spec = node->spec;

    return spec && spec->provider_id && *spec->provider_id ? spec->provider_id : NULL;
}

const char *node_boot_id(const Api__Node *node)
{
    const Api__NodeSystemInfo *info = node->status ? node->status->node_info : NULL;

    return info && info->boot_id && *info->boot_id ? info->boot_id : NULL;
}

size_t node_count_in_use(const Api__Node *node)
{
    return node->status ? node->status->n_volumes_in_use : 0;
}

const char *node_volume_in_use(const Api__Node *node, const char *driver_name, size_t i)
{
    static const char prefix[] = "kubernetes.io/csi/";
    const char *name = node->status->volumes_in_use[i];
    size_t length = strlen(driver_name);

    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return NULL;
    name += sizeof prefix - 1;
    return strncmp(name, driver_name, length) == 0 && name[length] == '^' ? name + length + 1
                                                                          : NULL;
}

bool node_uses_volume(const Api__Node *node, const char *driver_name, const char *handle)
{
    for (size_t i = 0; i < node_count_in_use(node); i++) {
        const char *used = node_volume_in_use(node, driver_name, i);

        if (used && strcasecmp(used, handle) == 0)
            return true;
    }
    return false;
}
