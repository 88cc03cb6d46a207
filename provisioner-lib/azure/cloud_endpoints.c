#include "provisioner-lib/azure/cloud_endpoints.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/api/compute.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/base/file.h"
#include "lib/json/codec.h"
#include "lib/json/parse.h"

#define AZURE_STACK "AzureStackCloud"

enum { LARGEST_FILE = 256 * 1024 };

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

/* Without slashes at the end. */
static struct err *tidy_url(const char *key, char *url)
{
    static const char scheme[] = "https://";
    const char *host = url + strlen(scheme);

    if (strncmp(url, scheme, strlen(scheme)) != 0)
        return err_new(ERR_INVALID, "%s \"%s\" does not begin with %s", key, url, scheme);
    if (strspn(host, "/") == strlen(host))
        return err_new(ERR_INVALID, "%s \"%s\" contains no host", key, url);
    for (char *end = url + strlen(url); end[-1] == '/'; end--)
        end[-1] = '\0';
    return NULL;
}

/* Sets what is not set. What is refused must not stay: the next look would take it for good. */
static struct err *take_url(const char *key, const char *url, char **target)
{
    CLEANUP(freep) char *copy = mem_strdup(url);

    if (*target || !url || !*url)
        return NULL;
    TRY(tidy_url(key, copy));
    *target = TAKE_PTR(copy);
    return NULL;
}

/* ---- the file ---- */

static struct err *take_file(struct azure_config *config, const json_t *json)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const ProtobufCMessage *decoded;

    TRY(json_decode(&arm__cloud_file__descriptor, json, arena, &decoded));
    const Arm__CloudFile *file = (const Arm__CloudFile *)decoded;
    const char *manager = file->resource_manager_endpoint, *audience = file->token_audience;
    if (!manager != !audience)
        return err_new(ERR_INVALID,
                       "resourceManagerEndpoint and tokenAudience must be set together");
    TRY(take_url("activeDirectoryEndpoint", file->active_directory_endpoint, &config->authority));
    if (config->resource_manager || !manager)
        return NULL;
    TRY(take_url("resourceManagerEndpoint", manager, &config->resource_manager));
    config->audience = mem_strdup(audience);
    return NULL;
}

static struct err *read_file(struct azure_config *config, const char *path)
{
    CLEANUP(json_decrefp) json_t *json = NULL;
    CLEANUP(freep) char *text = NULL;
    size_t length;
    struct err *err = file_read(path, LARGEST_FILE, &text, &length);

    if (!err)
        err = json_parse_here(text, length, &json);
    if (!err)
        err = take_file(config, json);
    return err ? err_wrap(err, "AZURE_ENVIRONMENT_FILEPATH %s", path) : NULL;
}

/* ---- by name ---- */

static struct err *take_known(struct azure_config *config, const char *name)
{
    for (size_t i = 0; i < COUNT_OF(clouds); i++) {
        if (strcasecmp(clouds[i].name, name) != 0)
            continue;
        config->resource_manager = mem_strdup(clouds[i].resource_manager);
        config->audience = mem_printf("%s/", clouds[i].resource_manager);
        return take_url("", clouds[i].authority, &config->authority);
    }
    return err_new(ERR_INVALID,
                   "cloud \"%s\" is not known; for another cloud, set resourceManagerEndpoint, or "
                   "AZURE_ENVIRONMENT_FILEPATH to the path of a file",
                   name);
}

struct err *cloud_endpoints_find(struct azure_config *config, const char *file)
{
    const char *name = config->cloud ? config->cloud : clouds[0].name;

    if (config->resource_manager)
        TRY(tidy_url("resourceManagerEndpoint", config->resource_manager));
    if (config->authority)
        TRY(tidy_url("AZURE_AUTHORITY_HOST", config->authority));
    config->azure_stack = strcasecmp(name, AZURE_STACK) == 0 && !config->not_azure_stack;
    if (file && *file)
        TRY(read_file(config, file));
    if (!config->resource_manager)
        return take_known(config, name);
    config->discover = !config->authority || !config->audience;
    return NULL;
}

/* ---- by Resource Manager ---- */

/* The list's entry for the cloud; the first if there is none of its name. */
static const json_t *entry_of(const json_t *list, const char *cloud)
{
    size_t i;
    const json_t *entry;

    json_array_foreach(list, i, entry) {
        const char *name = json_string_value(json_object_get(entry, "name"));

        if (name && cloud && strcasecmp(name, cloud) == 0)
            return entry;
    }
    return json_array_get(list, 0);
}

struct err *cloud_endpoints_take(struct azure_config *config, const json_t *json)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const json_t *entry = entry_of(json, config->cloud);
    const ProtobufCMessage *decoded;

    if (!entry)
        return err_new(ERR_INTERNAL, "the cloud's metadata contains no endpoints");
    TRY(json_decode(&arm__cloud_endpoints__descriptor, entry, arena, &decoded));
    const Arm__CloudAuthentication *found = ((const Arm__CloudEndpoints *)decoded)->authentication;
    if (!found || !found->login_endpoint || !*found->login_endpoint || !found->n_audiences)
        return err_new(ERR_INTERNAL, "the cloud's metadata contains no authentication endpoint");
    TRY(take_url("loginEndpoint", found->login_endpoint, &config->authority));
    if (!config->audience)
        config->audience = mem_strdup(found->audiences[0]);
    config->discover = false;
    return NULL;
}
