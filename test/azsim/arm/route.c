#include "test/azsim/arm/route.h"

#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "lib/base/utf8.h"
#include "test/azsim/arm/handlers.h"

#define SUBSCRIPTION "/subscriptions/{subscription}/providers/Microsoft.Compute"
#define GROUP "/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.Compute"
#define DISK GROUP "/disks/{name}"
#define SNAPSHOT GROUP "/snapshots/{name}"
#define VM GROUP "/virtualMachines/{name}"
#define SCALE_SET GROUP "/virtualMachineScaleSets/{name}"
#define INSTANCE SCALE_SET "/virtualMachines/{instance}"
#define LOCATION SUBSCRIPTION "/locations/{location}"

/* clang-format off */
static const struct route routes[] = {
    {"GET",    DISK,
        "disks.get", LATENCY_GET, THROTTLE_GET_DISK, disks_get},
    {"PUT",    DISK,
        "disks.createOrUpdate", LATENCY_ACCEPT, THROTTLE_PUT_DISK, disks_put},
    {"PATCH",  DISK,
        "disks.update", LATENCY_ACCEPT, THROTTLE_PUT_DISK, disks_patch},
    {"DELETE", DISK,
        "disks.delete", LATENCY_ACCEPT, THROTTLE_DELETE_DISK, disks_delete},
    {"POST",   DISK "/beginGetAccess",
        "disks.grantAccess", LATENCY_ACCEPT, THROTTLE_PUT_DISK, disks_begin_get_access},
    {"POST",   DISK "/endGetAccess",
        "disks.revokeAccess", LATENCY_ACCEPT, THROTTLE_PUT_DISK, disks_end_get_access},
    {"GET",    GROUP "/disks",
        "disks.listByResourceGroup", LATENCY_GET, THROTTLE_GET_DISK, disks_list},
    {"GET",    SUBSCRIPTION "/disks",
        "disks.list", LATENCY_GET, THROTTLE_GET_DISK, disks_list},

    {"GET",    SNAPSHOT,
        "snapshots.get", LATENCY_GET, THROTTLE_GET_DISK, snapshots_get},
    {"PUT",    SNAPSHOT,
        "snapshots.createOrUpdate", LATENCY_ACCEPT, THROTTLE_PUT_DISK, snapshots_put},
    {"PATCH",  SNAPSHOT,
        "snapshots.update", LATENCY_ACCEPT, THROTTLE_PUT_DISK, snapshots_patch},
    {"DELETE", SNAPSHOT,
        "snapshots.delete", LATENCY_ACCEPT, THROTTLE_DELETE_DISK, snapshots_delete},
    {"POST",   SNAPSHOT "/beginGetAccess",
        "snapshots.grantAccess", LATENCY_ACCEPT, THROTTLE_PUT_DISK, snapshots_begin_get_access},
    {"POST",   SNAPSHOT "/endGetAccess",
        "snapshots.revokeAccess", LATENCY_ACCEPT, THROTTLE_PUT_DISK, snapshots_end_get_access},
    {"GET",    GROUP "/snapshots",
        "snapshots.listByResourceGroup", LATENCY_GET, THROTTLE_GET_DISK, snapshots_list},
    {"GET",    SUBSCRIPTION "/snapshots",
        "snapshots.list", LATENCY_GET, THROTTLE_GET_DISK, snapshots_list},

    {"GET",    VM,
        "virtualMachines.get", LATENCY_GET, THROTTLE_GET_VM, vms_get},
    {"PUT",    VM,
        "virtualMachines.createOrUpdate", LATENCY_ACCEPT, THROTTLE_PUT_VM, vms_put},
    {"PATCH",  VM,
        "virtualMachines.update", LATENCY_ACCEPT, THROTTLE_UPDATE_VM, vms_patch},
    {"GET",    VM "/instanceView",
        "virtualMachines.instanceView", LATENCY_GET, THROTTLE_GET_VM, vms_instance_view},
    {"POST",   VM "/attachDetachDataDisks",
        "virtualMachines.attachDetachDataDisks", LATENCY_ACCEPT, THROTTLE_UPDATE_VM, vms_attach_detach},
    {"GET",    GROUP "/virtualMachines",
        "virtualMachines.list", LATENCY_GET, THROTTLE_LIST_VMS, vms_list},
    {"GET",    SUBSCRIPTION "/virtualMachines",
        "virtualMachines.listAll", LATENCY_GET, THROTTLE_LIST_VMS, vms_list},

    {"POST",   VM "/start",
        "virtualMachines.start", LATENCY_ACCEPT, THROTTLE_UPDATE_VM, vms_start},
    {"POST",   VM "/powerOff",
        "virtualMachines.powerOff", LATENCY_ACCEPT, THROTTLE_UPDATE_VM, vms_power_off},
    {"POST",   VM "/restart",
        "virtualMachines.restart", LATENCY_ACCEPT, THROTTLE_UPDATE_VM, vms_reapply},
    {"POST",   VM "/deallocate",
        "virtualMachines.deallocate", LATENCY_ACCEPT, THROTTLE_DELETE_VM, vms_deallocate},
    {"POST",   VM "/reapply",
        "virtualMachines.reapply", LATENCY_ACCEPT, THROTTLE_UPDATE_VM, vms_reapply},
    {"POST",   VM "/redeploy",
        "virtualMachines.redeploy", LATENCY_ACCEPT, THROTTLE_UPDATE_VM, vms_reapply},
    {"DELETE", VM,
        "virtualMachines.delete", LATENCY_ACCEPT, THROTTLE_DELETE_VM, vms_delete},

    {"GET",    SCALE_SET,
        "virtualMachineScaleSets.get", LATENCY_GET, THROTTLE_GET_VMSS, scale_sets_get},
    {"GET",    GROUP "/virtualMachineScaleSets",
        "virtualMachineScaleSets.list", LATENCY_GET, THROTTLE_LIST_VMSS, scale_sets_list},
    {"GET",    SUBSCRIPTION "/virtualMachineScaleSets",
        "virtualMachineScaleSets.listAll", LATENCY_GET, THROTTLE_LIST_VMSS, scale_sets_list},
    {"GET",    SCALE_SET "/virtualMachines",
        "virtualMachineScaleSetVMs.list", LATENCY_GET, THROTTLE_LIST_VMSS, vms_list_of_scale_set},
    {"GET",    INSTANCE,
        "virtualMachineScaleSetVMs.get", LATENCY_GET, THROTTLE_GET_VMSS_VM, vms_get},
    {"GET",    INSTANCE "/instanceView",
        "virtualMachineScaleSetVMs.instanceView", LATENCY_GET, THROTTLE_GET_VMSS_VM, vms_instance_view},
    {"PUT",    INSTANCE,
        "virtualMachineScaleSetVMs.update", LATENCY_ACCEPT, THROTTLE_UPDATE_VMSS_VM, vms_put},
    {"POST",   INSTANCE "/attachDetachDataDisks",
        "virtualMachineScaleSetVMs.attachDetachDataDisks", LATENCY_ACCEPT, THROTTLE_UPDATE_VMSS_VM, vms_attach_detach},
    {"POST",   INSTANCE "/start",
        "virtualMachineScaleSetVMs.start", LATENCY_ACCEPT, THROTTLE_UPDATE_VMSS_VM, vms_start},
    {"POST",   INSTANCE "/powerOff",
        "virtualMachineScaleSetVMs.powerOff", LATENCY_ACCEPT, THROTTLE_DELETE_VMSS_VM, vms_power_off},
    {"POST",   INSTANCE "/restart",
        "virtualMachineScaleSetVMs.restart", LATENCY_ACCEPT, THROTTLE_UPDATE_VMSS_VM, vms_reapply},
    {"POST",   INSTANCE "/deallocate",
        "virtualMachineScaleSetVMs.deallocate", LATENCY_ACCEPT, THROTTLE_DELETE_VMSS_VM, vms_deallocate},
    {"POST",   INSTANCE "/redeploy",
        "virtualMachineScaleSetVMs.redeploy", LATENCY_ACCEPT, THROTTLE_UPDATE_VMSS_VM, vms_reapply},
    {"DELETE", INSTANCE,
        "virtualMachineScaleSetVMs.delete", LATENCY_ACCEPT, THROTTLE_DELETE_VMSS_VM, vms_delete},

    {"GET",    LOCATION "/DiskOperations/{operation}",
        "operations.get", LATENCY_GET, THROTTLE_GET_DISK_OPERATION, operations_get},
    {"GET",    LOCATION "/operations/{operation}",
        "operations.get", LATENCY_GET, THROTTLE_GET_OPERATION, operations_get},
    {"GET",    SUBSCRIPTION "/skus",
        "skus.list", LATENCY_GET, THROTTLE_NONE, skus_list},

    {"GET",    "/subscriptions/{subscription}",
        "subscriptions.get", LATENCY_GET, THROTTLE_NONE, subscriptions_get},
    {"GET",    "/subscriptions/{subscription}/locations",
        "subscriptions.listLocations", LATENCY_GET, THROTTLE_NONE, subscriptions_locations},
    {"GET",    "/subscriptions/{subscription}/resourceGroups",
        "resourceGroups.list", LATENCY_GET, THROTTLE_NONE, groups_list},
    {"GET",    "/subscriptions/{subscription}/resourceGroups/{group}",
        "resourceGroups.get", LATENCY_GET, THROTTLE_NONE, groups_get},
    {"HEAD",   "/subscriptions/{subscription}/resourceGroups/{group}",
        "resourceGroups.checkExistence", LATENCY_GET, THROTTLE_NONE, groups_head},
    {"PUT",    "/subscriptions/{subscription}/resourceGroups/{group}",
        "resourceGroups.createOrUpdate", LATENCY_ACCEPT, THROTTLE_NONE, groups_put},
    {"PATCH",  "/subscriptions/{subscription}/resourceGroups/{group}",
        "resourceGroups.update", LATENCY_ACCEPT, THROTTLE_NONE, groups_patch},
    {"DELETE", "/subscriptions/{subscription}/resourceGroups/{group}",
        "resourceGroups.delete", LATENCY_ACCEPT, THROTTLE_NONE, groups_delete},
    {"GET",    "/subscriptions/{subscription}/operationresults/{operation}",
        "operations.get", LATENCY_GET, THROTTLE_NONE, operations_get},

    {"GET",    "/metadata/endpoints",
        "metadata.endpoints", LATENCY_GET, THROTTLE_NONE, metadata_endpoints},
    {"POST",   "/{tenant}/oauth2/v2.0/token",
        "entra.token", LATENCY_TOKEN, THROTTLE_NONE, entra_token},
    {"POST",   "/{tenant}/oauth2/token",
        "entra.token", LATENCY_TOKEN, THROTTLE_NONE, entra_token_v1},
    {"GET",    "/{tenant}/v2.0/.well-known/openid-configuration",
        "entra.openidConfiguration", LATENCY_TOKEN, THROTTLE_NONE, entra_openid_configuration},
    {"GET",    "/common/discovery/instance",
        "entra.instanceDiscovery", LATENCY_TOKEN, THROTTLE_NONE, entra_instance_discovery},
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
                   {"{location}", &match->location}, {"{operation}", &match->operation},
                   {"{instance}", &match->instance}};

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
