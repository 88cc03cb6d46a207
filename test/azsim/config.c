#include "test/azsim/config.h"

#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "lib/base/file.h"
#include "lib/json/parse.h"
#include "test/azsim/config_member.h"
#include "test/azsim/model/group.h"

static bool is_location(const char *text)
{
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789");

    return length > 0 && length <= 40 && text[length] == '\0';
}

static const struct text_form location = {is_location, "a region such as eastus", false};
static const struct text_form group = {
    group_name_is_valid, "1 to 90 letters, digits and '-', '_', '.', '(', ')'", false};

/* ---- members ---- */

/* `path` is "" or ends in a dot. */
static struct err *read_text(const json_t *json, const char *path, const char *name,
                             const struct text_form *form, char **ret)
{
    CLEANUP(freep) char *full = mem_printf("%s%s", path, name);

    TRY(member_check_text(json_object_get(json, name), full, form));
    *ret = mem_strdup(json_string_value(json_object_get(json, name)));
    return NULL;
}

static bool has_group(const struct config_subscription *subscription, const char *name)
{
    for (size_t i = 0; i < subscription->n_groups; i++)
        if (!name || strcasecmp(subscription->groups[i], name) == 0)
            return true;
    return false;
}

static struct err *read_groups(const json_t *json, const char *path,
                               struct config_subscription *subscription)
{
    const json_t *others = json_object_get(json, "otherResourceGroups");
    size_t i;
    json_t *value;
    char *name;

    TRY(read_text(json, path, "resourceGroup", &group, &name));
    ARRAY_ADD(subscription->groups, subscription->n_groups) = name;
    if (!others)
        return NULL;
    CLEANUP(freep) char *list = mem_printf("%sotherResourceGroups", path);
    TRY(member_check_list(others, list, MODEL_MAX_GROUPS / MODEL_MAX_SUBSCRIPTIONS - 1));
    json_array_foreach(others, i, value) {
        CLEANUP(freep) char *member = mem_printf("%s[%zu]", list, i);

        TRY(member_check_text(value, member, &group));
        ARRAY_ADD(subscription->groups, subscription->n_groups) =
            mem_strdup(json_string_value(value));
    }
    return NULL;
}

static const struct config_subscription *find_subscription(const struct config *config,
                                                           const char *id)
{
    for (size_t i = 0; i < config->n_subscriptions; i++)
        if (strcasecmp(config->subscriptions[i].id, id) == 0)
            return &config->subscriptions[i];
    return NULL;
}

/* The document itself is one, and each of otherSubscriptions. */
static struct err *read_subscription(const json_t *json, const char *path, struct config *config)
{
    char *id;

    TRY(read_text(json, path, "subscriptionId", &text_uuid, &id));
    bool twice = find_subscription(config, id);
    struct config_subscription *subscription =
        &ARRAY_ADD(config->subscriptions, config->n_subscriptions);
    *subscription = (struct config_subscription){.id = id};
    if (twice)
        return err_new(ERR_INVALID, "%ssubscriptionId: \"%s\" is there already", path, id);
    return read_groups(json, path, subscription);
}

static struct err *read_other_subscriptions(const json_t *json, struct config *config)
{
    static const char *const known[] = {"subscriptionId", "resourceGroup", "otherResourceGroups",
                                        NULL};
    const json_t *list = json_object_get(json, "otherSubscriptions");
    size_t i;
    json_t *value;

    if (!list)
        return NULL;
    TRY(member_check_list(list, "otherSubscriptions", MODEL_MAX_SUBSCRIPTIONS - 1));
    json_array_foreach(list, i, value) {
        CLEANUP(freep) char *path = mem_printf("otherSubscriptions[%zu].", i);

        TRY(member_check_names(value, path, known));
        TRY(read_subscription(value, path, config));
    }
    return NULL;
}

/* ---- VMs ---- */

static struct err *check_place(const struct config *config, const struct vm_spec *spec,
                               const char *path)
{
    const char *id = spec->subscription_id ? spec->subscription_id : config->subscriptions[0].id;
    const struct config_subscription *subscription = find_subscription(config, id);

    if (!subscription)
        return err_new(ERR_INVALID, "%s.subscriptionId: \"%s\" is not in this file", path, id);
    if (!has_group(subscription, spec->resource_group))
        return err_new(ERR_INVALID,
                       "%s.resourceGroup: \"%s\" is no resource group of subscription %s in this "
                       "file",
                       path, spec->resource_group, id);
    return NULL;
}

static struct err *read_vms(const json_t *json, struct config *config)
{
    const json_t *list = json_object_get(json, "vms");
    size_t i;
    json_t *value;

    TRY(member_check_list(list, "vms", MODEL_MAX_VMS));
    json_array_foreach(list, i, value) {
        CLEANUP(freep) char *path = mem_printf("vms[%zu]", i);
        CLEANUP(vm_spec_finip) struct vm_spec spec = {0};

        TRY(vm_spec_read(value, path, &spec));
        TRY(check_place(config, &spec, path));
        for (size_t j = 0; j < config->n_vms; j++)
            if (strcasecmp(config->vms[j].name, spec.name) == 0)
                return err_new(ERR_INVALID, "%s.name: \"%s\" is vms[%zu] already", path, spec.name,
                               j);
        ARRAY_ADD(config->vms, config->n_vms) = spec;
        spec = (struct vm_spec){0};
    }
    return NULL;
}

static struct err *read_document(const json_t *json, struct config *config)
{
    static const char *const known[] = {"tenantId",
                                        "subscriptionId",
                                        "location",
                                        "resourceGroup",
                                        "otherResourceGroups",
                                        "otherSubscriptions",
                                        "clients",
                                        "identities",
                                        "vms",
                                        NULL};

    TRY(member_check_names(json, "", known));
    TRY(read_text(json, "", "tenantId", &text_uuid, &config->tenant_id));
    TRY(read_text(json, "", "location", &location, &config->location));
    TRY(read_subscription(json, "", config));
    TRY(read_other_subscriptions(json, config));
    TRY(principals_read(json, &config->principals));
    return read_vms(json, config);
}

struct err *config_read(const char *path, struct config *ret)
{
    CLEANUP(config_finip) struct config config = {0};
    CLEANUP(json_decrefp) json_t *json = NULL;
    CLEANUP(freep) char *text = NULL;
    size_t length;

    TRY(file_read(path, CONFIG_MAX_SIZE, &text, &length));
    struct err *err = json_parse_here(text, length, &json);
    if (!err)
        err = read_document(json, &config);
    if (err)
        return err_wrap(err, "%s", path);
    *ret = config;
    config = (struct config){0};
    return NULL;
}

static void subscription_fini(struct config_subscription *subscription)
{
    for (size_t i = 0; i < subscription->n_groups; i++)
        free(subscription->groups[i]);
    free(subscription->groups);
    free(subscription->id);
}

void config_fini(struct config *config)
{
    for (size_t i = 0; i < config->n_subscriptions; i++)
        subscription_fini(&config->subscriptions[i]);
    for (size_t i = 0; i < config->n_vms; i++)
        vm_spec_fini(&config->vms[i]);
    free(config->subscriptions);
    principals_fini(&config->principals);
    free(config->vms);
    free(config->tenant_id);
    free(config->location);
    *config = (struct config){0};
}
