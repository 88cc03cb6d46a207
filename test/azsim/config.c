#include "test/azsim/config.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "lib/base/file.h"
#include "lib/json/parse.h"

/* Whether a text can be what a member is to be, and how to say it. */
struct form {
    bool (*fits)(const char *text);
    const char *what;
};

static bool is_uuid(const char *text)
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

    for (size_t i = 0; i < sizeof form; i++)
        if (form[i] == 'x' ? !isxdigit((unsigned char)text[i]) : text[i] != form[i])
            return false;
    return true;
}

static bool is_location(const char *text)
{
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789");

    return length > 0 && length <= 40 && text[length] == '\0';
}

static bool is_group(const char *text)
{
    size_t length = strlen(text);

    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)text[i]) && !strchr("-_.()", text[i]))
            return false;
    return length > 0 && length <= 90 && text[length - 1] != '.';
}

static bool is_secret(const char *text)
{
    return *text != '\0';
}

static const struct form uuid = {is_uuid, "a UUID"};
static const struct form location = {is_location, "a region such as eastus"};
static const struct form group = {is_group, "1 to 90 letters, digits and '-', '_', '.', '(', ')'"};
static const struct form secret = {is_secret, "a secret of at least one character"};

/* ---- members ---- */

static struct err *check_members(const json_t *json, const char *path, const char *const known[])
{
    const char *name;
    json_t *value;

    if (!json_is_object(json))
        return err_new(ERR_INVALID, "%s: expected an object", *path ? path : "the document");
    json_object_foreach((json_t *)(uintptr_t)json, name, value) {
        size_t i = 0;

        while (known[i] && strcmp(known[i], name) != 0)
            i++;
        if (!known[i])
            return err_new(ERR_INVALID, "%s%s: unknown member", path, name);
    }
    return NULL;
}

/* Secrets are not repeated in the message. */
static struct err *check_text(const json_t *value, const char *path, const struct form *form)
{
    const char *text = json_string_value(value);

    if (!value)
        return err_new(ERR_INVALID, "%s: missing; it is %s", path, form->what);
    if (!text)
        return err_new(ERR_INVALID, "%s: expected a string, %s", path, form->what);
    if (!form->fits(text))
        return err_new(ERR_INVALID, "%s: \"%s\" is not %s", path, form == &secret ? "..." : text,
                       form->what);
    return NULL;
}

static struct err *read_text(const json_t *json, const char *name, const struct form *form,
                             char **ret)
{
    TRY(check_text(json_object_get(json, name), name, form));
    *ret = mem_strdup(json_string_value(json_object_get(json, name)));
    return NULL;
}

static struct err *check_list(const json_t *list, const char *name, size_t most)
{
    if (!json_is_array(list))
        return err_new(ERR_INVALID, "%s: expected a list", name);
    if (json_array_size(list) > most)
        return err_new(ERR_INVALID, "%s: %zu is more than %zu", name, json_array_size(list), most);
    return NULL;
}

static struct err *read_groups(const json_t *json, struct config *config)
{
    const json_t *others = json_object_get(json, "otherResourceGroups");
    size_t i;
    json_t *value;
    char *name;

    TRY(read_text(json, "resourceGroup", &group, &name));
    ARRAY_ADD(config->groups, config->n_groups) = name;
    if (!others)
        return NULL;
    TRY(check_list(others, "otherResourceGroups", MODEL_MAX_GROUPS - 1));
    json_array_foreach(others, i, value) {
        CLEANUP(freep) char *path = mem_printf("otherResourceGroups[%zu]", i);

        TRY(check_text(value, path, &group));
        ARRAY_ADD(config->groups, config->n_groups) = mem_strdup(json_string_value(value));
    }
    return NULL;
}

static struct err *read_clients(const json_t *json, struct config *config)
{
    static const char *const known[] = {"clientId", "clientSecret", NULL};
    const json_t *list = json_object_get(json, "clients");
    size_t i;
    json_t *value;

    TRY(check_list(list, "clients", CONFIG_MAX_CLIENTS));
    json_array_foreach(list, i, value) {
        CLEANUP(freep) char *path = mem_printf("clients[%zu].", i);
        CLEANUP(freep) char *id_path = mem_printf("%sclientId", path);
        CLEANUP(freep) char *secret_path = mem_printf("%sclientSecret", path);
        const json_t *client_id = json_object_get(value, "clientId");
        const json_t *client_secret = json_object_get(value, "clientSecret");

        TRY(check_members(value, path, known));
        TRY(check_text(client_id, id_path, &uuid));
        TRY(check_text(client_secret, secret_path, &secret));
        ARRAY_ADD(config->clients, config->n_clients) = (struct arm_client){
            mem_strdup(json_string_value(client_id)), mem_strdup(json_string_value(client_secret))};
    }
    return NULL;
}

static struct err *read_vms(const json_t *json, struct config *config)
{
    const json_t *list = json_object_get(json, "vms");
    size_t i;
    json_t *value;

    TRY(check_list(list, "vms", MODEL_MAX_VMS));
    json_array_foreach(list, i, value) {
        CLEANUP(freep) char *path = mem_printf("vms[%zu]", i);
        CLEANUP(vm_spec_finip) struct vm_spec spec = {0};

        TRY(vm_spec_read(value, path, &spec));
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
                                        "clients",
                                        "vms",
                                        NULL};

    TRY(check_members(json, "", known));
    TRY(read_text(json, "tenantId", &uuid, &config->tenant_id));
    TRY(read_text(json, "subscriptionId", &uuid, &config->subscription_id));
    TRY(read_text(json, "location", &location, &config->location));
    TRY(read_groups(json, config));
    TRY(read_clients(json, config));
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

void config_fini(struct config *config)
{
    for (size_t i = 0; i < config->n_groups; i++)
        free(config->groups[i]);
    for (size_t i = 0; i < config->n_clients; i++) {
        free((char *)(uintptr_t)config->clients[i].id);
        free((char *)(uintptr_t)config->clients[i].secret);
    }
    for (size_t i = 0; i < config->n_vms; i++)
        vm_spec_fini(&config->vms[i]);
    free(config->groups);
    free(config->clients);
    free(config->vms);
    free(config->tenant_id);
    free(config->subscription_id);
    free(config->location);
    *config = (struct config){0};
}
