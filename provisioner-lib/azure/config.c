#include "provisioner-lib/azure/config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/api/compute.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/json/codec.h"
#include "lib/json/parse.h"
#include "lib/json/yaml.h"

static const struct {
    const char *name;
    const char *resource_manager, *authority;
} clouds[] = {
    {"AzurePublicCloud", "https://management.azure.com", "https://login.microsoftonline.com"},
    {"AzureCloud", "https://management.azure.com", "https://login.microsoftonline.com"},
    {"AzureUSGovernmentCloud", "https://management.usgovcloudapi.net",
     "https://login.microsoftonline.us"},
    {"AzureUSGovernment", "https://management.usgovcloudapi.net",
     "https://login.microsoftonline.us"},
    {"AzureChinaCloud", "https://management.chinacloudapi.cn", "https://login.chinacloudapi.cn"},
};

void azure_config_fini(struct azure_config *config)
{
    if (config->client_secret)
        explicit_bzero(config->client_secret, strlen(config->client_secret));
    free(config->tenant);
    free(config->subscription);
    free(config->resource_group);
    free(config->location);
    free(config->client_id);
    free(config->client_secret);
    free(config->identity);
    free(config->user_agent);
    free(config->resource_manager);
    free(config->authority);
    free(config->audience);
    *config = (struct azure_config){0};
}

/* "East US" -> "eastus" */
static char *normalised_location(const char *text)
{
    char *location = mem_lower(text), *to = location;

    for (const char *from = location; *from; from++)
        if (!isspace((unsigned char)*from))
            *to++ = *from;
    *to = '\0';
    return location;
}

static char *without_slash(const char *text)
{
    size_t length = strlen(text);

    while (length && text[length - 1] == '/')
        length--;
    return mem_strndup(text, length);
}

static struct err *choose_cloud(const Arm__AzureConfig *json, struct azure_config *config)
{
    const char *name = json->cloud && *json->cloud ? json->cloud : "AzurePublicCloud";

    if (json->resource_manager_endpoint && *json->resource_manager_endpoint) {
        if (strncmp(json->resource_manager_endpoint, "https://", 8) != 0)
            return err_new(ERR_INVALID,
                           "resourceManagerEndpoint \"%s\" does not begin with "
                           "https://",
                           json->resource_manager_endpoint);
        config->resource_manager = without_slash(json->resource_manager_endpoint);
        config->discover = true;
        return NULL;
    }
    for (size_t i = 0; i < COUNT_OF(clouds); i++) {
        if (strcasecmp(clouds[i].name, name) != 0)
            continue;
        config->resource_manager = mem_strdup(clouds[i].resource_manager);
        config->authority = mem_strdup(clouds[i].authority);
        config->audience = mem_printf("%s/", clouds[i].resource_manager);
        return NULL;
    }
    return err_new(ERR_INVALID,
                   "cloud \"%s\" is not known; give resourceManagerEndpoint for a "
                   "cloud of your own",
                   name);
}

static struct err *choose_identity(const Arm__AzureConfig *json, struct azure_config *config)
{
    config->managed_identity = json->use_managed_identity_extension;
    if (config->managed_identity) {
        config->identity = mem_strdup(json->user_assigned_identity_id);
        return NULL;
    }
    if (!json->aad_client_id || !json->aad_client_secret)
        return err_new(ERR_INVALID, "neither useManagedIdentityExtension nor both of aadClientId "
                                    "and aadClientSecret is given");
    config->client_id = mem_strdup(json->aad_client_id);
    config->client_secret = mem_strdup(json->aad_client_secret);
    return NULL;
}

static struct err *take(const Arm__AzureConfig *json, struct azure_config *config)
{
    const struct {
        const char *key, *value;
        char **target;
    } required[] = {
        {"tenantId", json->tenant_id, &config->tenant},
        {"subscriptionId", json->subscription_id, &config->subscription},
        {"resourceGroup", json->resource_group, &config->resource_group},
    };

    for (size_t i = 0; i < COUNT_OF(required); i++) {
        if (!required[i].value || !*required[i].value)
            return err_new(ERR_INVALID, "%s is missing", required[i].key);
        *required[i].target = mem_strdup(required[i].value);
    }
    if (!json->location || !*json->location)
        return err_new(ERR_INVALID, "location is missing");
    config->location = normalised_location(json->location);
    config->user_agent = mem_strdup(json->user_agent);
    TRY(choose_cloud(json, config));
    return choose_identity(json, config);
}

/* The file is JSON by name, and YAML (of which JSON is a part) in some installations. */
struct err *azure_config_parse(const char *text, size_t length, struct azure_config *ret)
{
    CLEANUP(azure_config_fini) struct azure_config config = {0};
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *json = NULL;
    const ProtobufCMessage *decoded;

    TRY(yaml_parse(text, length, &json));
    TRY(json_decode(&arm__azure_config__descriptor, json, arena, &decoded));
    TRY(take((const Arm__AzureConfig *)decoded, &config));
    *ret = config;
    config = (struct azure_config){0};
    return NULL;
}
