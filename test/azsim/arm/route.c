#include "test/azsim/arm/route.h"

#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "lib/base/utf8.h"
#include "test/azsim/arm/handlers.h"

#define SUBSCRIPTION "/subscriptions/{subscription}/providers/Microsoft.Compute"
#define GROUP "/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.Compute"
#define DISK GROUP "/disks/{name}"
#define VM GROUP "/virtualMachines/{name}"
#define LOCATION SUBSCRIPTION "/locations/{location}"

/* clang-format off */
static const struct route routes[] = {
    {"GET",    DISK,
        "disks.get", LATENCY_GET, disks_get},
    {"PUT",    DISK,
        "disks.createOrUpdate", LATENCY_ACCEPT, disks_put},
    {"PATCH",  DISK,
        "disks.update", LATENCY_ACCEPT, disks_patch},
    {"DELETE", DISK,
        "disks.delete", LATENCY_ACCEPT, disks_delete},
    {"GET",    GROUP "/disks",
        "disks.listByResourceGroup", LATENCY_GET, disks_list},
    {"GET",    SUBSCRIPTION "/disks",
        "disks.list", LATENCY_GET, disks_list},

    {"GET",    VM,
        "virtualMachines.get", LATENCY_GET, vms_get},
    {"PUT",    VM,
        "virtualMachines.createOrUpdate", LATENCY_ACCEPT, vms_put},
    {"PATCH",  VM,
        "virtualMachines.update", LATENCY_ACCEPT, vms_patch},
    {"GET",    VM "/instanceView",
        "virtualMachines.instanceView", LATENCY_GET, vms_instance_view},
    {"POST",   VM "/attachDetachDataDisks",
        "virtualMachines.attachDetachDataDisks", LATENCY_ACCEPT, vms_attach_detach},
    {"GET",    GROUP "/virtualMachines",
        "virtualMachines.list", LATENCY_GET, vms_list},
    {"GET",    SUBSCRIPTION "/virtualMachines",
        "virtualMachines.listAll", LATENCY_GET, vms_list},

    {"GET",    LOCATION "/DiskOperations/{operation}",
        "operations.get", LATENCY_GET, operations_get},
    {"GET",    LOCATION "/operations/{operation}",
        "operations.get", LATENCY_GET, operations_get},
    {"GET",    SUBSCRIPTION "/skus",
        "skus.list", LATENCY_GET, skus_list},

    {"GET",    "/metadata/endpoints",
        "metadata.endpoints", LATENCY_GET, metadata_endpoints},
    {"POST",   "/{tenant}/oauth2/v2.0/token",
        "entra.token", LATENCY_TOKEN, entra_token},
    {"GET",    "/{tenant}/v2.0/.well-known/openid-configuration",
        "entra.openidConfiguration", LATENCY_TOKEN, entra_openid_configuration},
    {"GET",    "/common/discovery/instance",
        "entra.instanceDiscovery", LATENCY_TOKEN, entra_instance_discovery},
};
/* clang-format on */

static void split(const char *path, struct route_match *match)
{
    char *position = NULL;

    match->path = mem_strdup(path);
    utf8_repair(match->path);
    for (char *part = strtok_r(match->path, "/", &position); part;
         part = strtok_r(NULL, "/", &position)) {
        if (match->n_parts == COUNT_OF(match->parts)) {
            match->n_parts = 0; /* longer than any route */
            return;
        }
        match->parts[match->n_parts++] = part;
    }
}

static void take(struct route_match *match, const char *name, size_t length, const char *value)
{
    const struct {
        const char *name;
        const char **member;
    } members[] = {{"{tenant}", &match->tenant},     {"{subscription}", &match->subscription},
                   {"{group}", &match->group},       {"{name}", &match->name},
                   {"{location}", &match->location}, {"{operation}", &match->operation}};

    for (size_t i = 0; i < COUNT_OF(members); i++)
        if (strlen(members[i].name) == length && strncmp(members[i].name, name, length) == 0)
            *members[i].member = value;
}

/* Only with `take_names` does anything land in the match. */
static bool fits(const char *pattern, struct route_match *match, bool take_names)
{
    size_t n = 0;

    while (*pattern) {
        size_t length = strcspn(++pattern, "/");

        if (n == match->n_parts)
            return false;
        if (*pattern == '{') {
            if (take_names)
                take(match, pattern, length, match->parts[n]);
        } else if (strncasecmp(match->parts[n], pattern, length) != 0 || match->parts[n][length]) {
            return false;
        }
        pattern += length;
        n++;
    }
    return n == match->n_parts;
}

const struct route *route_find(const char *method, const char *path, struct route_match *ret_match,
                               bool *ret_path_known)
{
    *ret_match = (struct route_match){0};
    *ret_path_known = false;
    split(path, ret_match);
    for (size_t i = 0; i < COUNT_OF(routes); i++) {
        if (!fits(routes[i].path, ret_match, false))
            continue;
        *ret_path_known = true;
        if (strcmp(routes[i].method, method) != 0)
            continue;
        fits(routes[i].path, ret_match, true);
        return &routes[i];
    }
    return NULL;
}

void route_match_fini(struct route_match *match)
{
    free(match->path);
    *match = (struct route_match){0};
}
