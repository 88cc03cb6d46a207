#include "provisioner-lib/azure/config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "lib/base/secret.h"
#include "lib/json/parse.h"
#include "lib/json/yaml.h"
#include "provisioner-lib/azure/client_assertion.h"
#include "provisioner-lib/azure/cloud_endpoints.h"
#include "provisioner-lib/azure/config_keys.h"
#include "provisioner-lib/region.h"

/* Where the workload identity webhook puts the token. */
#define USUAL_TOKEN_FILE "/var/run/secrets/azure/tokens/azure-identity-token"

/* ---- values ---- */

static char **text_of(struct azure_config *config, const struct config_key *key)
{
    return (char **)((char *)config + key->offset);
}

static void drop_text(struct azure_config *config, const struct config_key *key)
{
    char **text = text_of(config, key);

    if (key->secret)
        secret_drop(*text);
    else
        free(*text);
    *text = NULL;
}

static void set_text(struct azure_config *config, const struct config_key *key, const char *value)
{
    drop_text(config, key);
    *text_of(config, key) = key->secret ? secret_keep(value) : mem_strdup(value);
}

static struct err *take_value(struct azure_config *config, const struct config_key *key,
                              const json_t *value)
{
    if (json_is_null(value) || key->type == CONFIG_UNUSED)
        return NULL;
    if (key->type == CONFIG_FLAG) {
        if (!json_is_boolean(value))
            return err_new(ERR_INVALID, "%s: expected true or false", key->name);
        *(bool *)((char *)config + key->offset) = json_is_true(value);
        return NULL;
    }
    if (!json_is_string(value))
        return err_new(ERR_INVALID, "%s: expected a string", key->name);
    set_text(config, key, json_string_length(value) ? json_string_value(value) : NULL);
    return NULL;
}

static void note_unknown(struct azure_config *config, const char *name)
{
    char *names = config->unknown_keys ? mem_printf("%s, %.60s", config->unknown_keys, name)
                                       : mem_printf("%.60s", name);

    free(config->unknown_keys);
    config->unknown_keys = names;
}

static struct err *take_document(struct azure_config *config, const json_t *json)
{
    const char *name;
    json_t *value;

    if (!json_is_object(json))
        return err_new(ERR_INVALID, "document: expected an object");
    json_object_foreach((json_t *)(uintptr_t)json, name, value) {
        const struct config_key *key = config_key_find(name);

        if (key)
            TRY(take_value(config, key, value));
        else
            note_unknown(config, name);
    }
    return NULL;
}

static void take_environment(struct azure_config *config)
{
    const char *token_file = getenv("AZURE_FEDERATED_TOKEN_FILE");

    for (size_t i = 0; i < config_keys_count; i++) {
        const struct config_key *key = &config_keys[i];
        const char *value = key->variable ? getenv(key->variable) : NULL;

        if (!value || !*value)
            continue;
        set_text(config, key, value);
    }
    if (token_file && *token_file)
        config->use_workload_identity = true;
    config->authority = mem_strdup(getenv("AZURE_AUTHORITY_HOST"));
    if (config->authority && !*config->authority)
        free(TAKE_PTR(config->authority));
}

/* ---- what they have to be ---- */

static struct err *check_word(const struct config_key *key, const char *value)
{
    if (key->required && !value)
        return err_new(ERR_INVALID, "%s is missing", key->name);
    if (!value || !key->characters)
        return NULL;
    for (const char *c = value; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr(key->characters, *c))
            return err_new(
                ERR_INVALID, "%s \"%s\" contains a character other than letters, digits%s%s",
                key->name, value, *key->characters ? " and any of " : "", key->characters);
    return NULL;
}

static struct err *check_vm_type(const struct azure_config *config)
{
    static const char *const types[] = {"standard", "vmss", "vmssflex"};

    if (!config->vm_type)
        return NULL;
    for (size_t i = 0; i < COUNT_OF(types); i++)
        if (strcasecmp(config->vm_type, types[i]) == 0)
            return NULL;
    return err_new(ERR_INVALID, "vmType \"%s\" is not one of standard, vmss, vmssflex",
                   config->vm_type);
}

static struct err *check_extended_location(const struct azure_config *config)
{
    if (!config->extended_location == !config->extended_location_type)
        return NULL;
    return err_new(ERR_INVALID,
                   "extendedLocationName and extendedLocationType must be set together");
}

static struct err *check_identity_system(const struct azure_config *config)
{
    if (!config->identity_system || strcasecmp(config->identity_system, "azure_ad") == 0)
        return NULL;
    return err_new(ERR_INVALID,
                   "identitySystem \"%s\" is not supported; the only supported one is azure_ad",
                   config->identity_system);
}

static struct err *choose_workload_identity(struct azure_config *config)
{
    config->identity = AZURE_WORKLOAD_IDENTITY;
    if (!config->client_id)
        return err_new(ERR_INVALID, "useFederatedWorkloadIdentityExtension requires aadClientId, "
                                    "or environment variable AZURE_CLIENT_ID");
    if (!config->token_file)
        config->token_file = mem_strdup(USUAL_TOKEN_FILE);
    return NULL;
}

static struct err *choose_certificate(struct azure_config *config)
{
    config->identity = AZURE_CLIENT_CERTIFICATE;
    struct err *err =
        client_certificate_check(config->certificate_file, config->certificate_password);
    return err ? err_wrap(err, "aadClientCertPath") : NULL;
}

/* In the cloud provider's order. */
static struct err *choose_identity(struct azure_config *config)
{
    if (config->use_workload_identity)
        return choose_workload_identity(config);
    if (config->use_managed_identity) {
        config->identity = AZURE_MANAGED_IDENTITY;
        return NULL;
    }
    if (!config->client_secret && !config->certificate_file)
        return err_new(ERR_INVALID,
                       "none of useFederatedWorkloadIdentityExtension, "
                       "useManagedIdentityExtension, aadClientSecret and aadClientCertPath is set");
    if (!config->client_id)
        return err_new(ERR_INVALID, "aadClientId is missing");
    if (!config->client_secret)
        return choose_certificate(config);
    config->identity = AZURE_CLIENT_SECRET;
    return NULL;
}

static struct err *check(struct azure_config *config)
{
    for (size_t i = 0; i < config_keys_count; i++)
        if (config_keys[i].type == CONFIG_TEXT)
            TRY(check_word(&config_keys[i], *text_of(config, &config_keys[i])));
    CLEANUP(freep) char *location = TAKE_PTR(config->location);
    config->location = region_name(location);
    TRY(check_vm_type(config));
    TRY(check_extended_location(config));
    TRY(check_identity_system(config));
    TRY(cloud_endpoints_find(config, getenv("AZURE_ENVIRONMENT_FILEPATH")));
    return choose_identity(config);
}

/* ---- the whole ---- */

/* YAML is for the few files that are not JSON: its parser keeps copies that nobody clears. */
static struct err *read_document(const char *text, size_t length, json_t **ret)
{
    CLEANUP(err_freep) struct err *err = json_parse_here(text, length, ret);

    return err ? yaml_parse(text, length, ret) : NULL;
}

static struct err *read_config(const char *text, size_t length, struct azure_config *config)
{
    CLEANUP(json_decrefp) json_t *json = NULL;

    TRY(read_document(text, length, &json));
    TRY(take_document(config, json));
    take_environment(config);
    return check(config);
}

struct err *azure_config_parse(const char *text, size_t length, struct azure_config *ret)
{
    CLEANUP(azure_config_fini) struct azure_config config = {0};

    TRY(read_config(text, length, &config));
    *ret = config;
    config = (struct azure_config){0};
    return NULL;
}

void azure_config_fini(struct azure_config *config)
{
    for (size_t i = 0; i < config_keys_count; i++)
        if (config_keys[i].type == CONFIG_TEXT)
            drop_text(config, &config_keys[i]);
    free(config->authority);
    free(config->audience);
    free(config->unknown_keys);
    *config = (struct azure_config){0};
}
