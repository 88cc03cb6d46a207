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
#define NOT_SET_UP(method, action)                                                                 \
    {method,   SCALE_SET "/" action,                                                               \
        "virtualMachineScaleSets." action, LATENCY_ACCEPT, THROTTLE_UPDATE_VMSS, scale_sets_not_set_up}
#define ABSENT(type)                                                                               \
    {"GET",    GROUP "/" type,                                                                     \
        type ".listByResourceGroup", LATENCY_GET, THROTTLE_NONE, absent_list},                     \
    {"GET",    SUBSCRIPTION "/" type,                                                              \
        type ".list", LATENCY_GET, THROTTLE_NONE, absent_list},                                    \
    {"GET",    GROUP "/" type "/{name}",                                                           \
        type ".get", LATENCY_GET, THROTTLE_NONE, absent_get},                                      \
    {"PUT",    GROUP "/" type "/{name}",                                                           \
        type ".createOrUpdate", LATENCY_ACCEPT, THROTTLE_NONE, absent_put},                        \
    {"PATCH",  GROUP "/" type "/{name}",                                                           \
        type ".update", LATENCY_ACCEPT, THROTTLE_NONE, absent_get},                                \
    {"DELETE", GROUP "/" type "/{name}",                                                           \
        type ".delete", LATENCY_ACCEPT, THROTTLE_NONE, absent_delete}

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
    {"GET",    VM "/vmSizes",
        "virtualMachines.listAvailableSizes", LATENCY_GET, THROTTLE_GET_VM, vms_sizes},
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
    {"POST",   VM "/runCommand",
        "virtualMachines.runCommand", LATENCY_ACCEPT, THROTTLE_UPDATE_VM, vms_run_command},
    {"POST",   VM "/assessPatches",
        "virtualMachines.assessPatches", LATENCY_ACCEPT, THROTTLE_GUEST_PATCH, vms_assess_patches},
    {"POST",   VM "/installPatches",
        "virtualMachines.installPatches", LATENCY_ACCEPT, THROTTLE_GUEST_PATCH, vms_install_patches},
    {"POST",   VM "/generalize",
        "virtualMachines.generalize", LATENCY_ACCEPT, THROTTLE_UPDATE_VM, vms_generalize},
    {"POST",   VM "/retrieveBootDiagnosticsData",
        "virtualMachines.retrieveBootDiagnosticsData", LATENCY_GET, THROTTLE_GET_VM, vms_boot_diagnostics},
    {"POST",   VM "/capture",
        "virtualMachines.capture", LATENCY_ACCEPT, THROTTLE_UPDATE_VM, vms_capture},
    {"POST",   VM "/convertToManagedDisks",
        "virtualMachines.convertToManagedDisks", LATENCY_ACCEPT, THROTTLE_UPDATE_VM, vms_convert_to_managed_disks},
    {"POST",   VM "/performMaintenance",
        "virtualMachines.performMaintenance", LATENCY_ACCEPT, THROTTLE_UPDATE_VM, vms_perform_maintenance},
    {"POST",   VM "/reimage",
        "virtualMachines.reimage", LATENCY_ACCEPT, THROTTLE_UPDATE_VM, vms_reimage},
    {"POST",   VM "/simulateEviction",
        "virtualMachines.simulateEviction", LATENCY_ACCEPT, THROTTLE_DELETE_VM, vms_simulate_eviction},
    {"POST",   VM "/migrateToVirtualMachineScaleSet",
        "virtualMachines.migrateToVirtualMachineScaleSet", LATENCY_ACCEPT, THROTTLE_UPDATE_VM, vms_migrate},
    {"DELETE", VM,
        "virtualMachines.delete", LATENCY_ACCEPT, THROTTLE_DELETE_VM, vms_delete},

    {"GET",    SCALE_SET,
        "virtualMachineScaleSets.get", LATENCY_GET, THROTTLE_GET_VMSS, scale_sets_get},
    {"GET",    SCALE_SET "/instanceView",
        "virtualMachineScaleSets.getInstanceView", LATENCY_GET, THROTTLE_LIST_VMSS, scale_sets_instance_view},
    {"GET",    SCALE_SET "/skus",
        "virtualMachineScaleSets.listSkus", LATENCY_GET, THROTTLE_GET_VMSS, scale_sets_skus},
    {"GET",    SCALE_SET "/osUpgradeHistory",
        "virtualMachineScaleSets.getOSUpgradeHistory", LATENCY_GET, THROTTLE_GET_VMSS, scale_sets_os_upgrade_history},
    {"PUT",    SCALE_SET,
        "virtualMachineScaleSets.createOrUpdate", LATENCY_ACCEPT, THROTTLE_PUT_VMSS, scale_sets_put},
    {"PATCH",  SCALE_SET,
        "virtualMachineScaleSets.update", LATENCY_ACCEPT, THROTTLE_UPDATE_VMSS, scale_sets_patch},
    {"DELETE", SCALE_SET,
        "virtualMachineScaleSets.delete", LATENCY_ACCEPT, THROTTLE_DELETE_VMSS, scale_sets_delete},
    {"POST",   SCALE_SET "/start",
        "virtualMachineScaleSets.start", LATENCY_ACCEPT, THROTTLE_UPDATE_VMSS, scale_sets_start},
    {"POST",   SCALE_SET "/powerOff",
        "virtualMachineScaleSets.powerOff", LATENCY_ACCEPT, THROTTLE_DELETE_VMSS, scale_sets_power_off},
    {"POST",   SCALE_SET "/deallocate",
        "virtualMachineScaleSets.deallocate", LATENCY_ACCEPT, THROTTLE_DELETE_VMSS, scale_sets_deallocate},
    {"POST",   SCALE_SET "/restart",
        "virtualMachineScaleSets.restart", LATENCY_ACCEPT, THROTTLE_UPDATE_VMSS, scale_sets_reapply},
    {"POST",   SCALE_SET "/redeploy",
        "virtualMachineScaleSets.redeploy", LATENCY_ACCEPT, THROTTLE_UPDATE_VMSS, scale_sets_reapply},
    {"POST",   SCALE_SET "/reapply",
        "virtualMachineScaleSets.reapply", LATENCY_ACCEPT, THROTTLE_UPDATE_VMSS, scale_sets_reapply},
    {"POST",   SCALE_SET "/reimage",
        "virtualMachineScaleSets.reimage", LATENCY_ACCEPT, THROTTLE_UPDATE_VMSS, scale_sets_reapply},
    {"POST",   SCALE_SET "/reimageall",
        "virtualMachineScaleSets.reimageAll", LATENCY_ACCEPT, THROTTLE_UPDATE_VMSS, scale_sets_reapply},
    {"POST",   SCALE_SET "/manualupgrade",
        "virtualMachineScaleSets.updateInstances", LATENCY_ACCEPT, THROTTLE_UPDATE_VMSS, scale_sets_reapply},
    {"POST",   SCALE_SET "/delete",
        "virtualMachineScaleSets.deleteInstances", LATENCY_ACCEPT, THROTTLE_DELETE_VMSS, scale_sets_delete_instances},
    {"POST",   SCALE_SET "/performMaintenance",
        "virtualMachineScaleSets.performMaintenance", LATENCY_ACCEPT, THROTTLE_UPDATE_VMSS, scale_sets_perform_maintenance},
    {"POST",   SCALE_SET "/convertToSinglePlacementGroup",
        "virtualMachineScaleSets.convertToSinglePlacementGroup", LATENCY_ACCEPT, THROTTLE_UPDATE_VMSS,
        scale_sets_convert_to_single_placement_group},
    {"POST",   SCALE_SET "/scaleOut",
        "virtualMachineScaleSets.scaleOut", LATENCY_ACCEPT, THROTTLE_PUT_VMSS, scale_sets_scale_out},
    NOT_SET_UP("POST", "forceRecoveryServiceFabricPlatformUpdateDomainWalk"),
    NOT_SET_UP("POST", "setOrchestrationServiceState"),
    NOT_SET_UP("POST", "approveRollingUpgrade"),
    NOT_SET_UP("POST", "osRollingUpgrade"),
    NOT_SET_UP("POST", "extensionRollingUpgrade"),
    NOT_SET_UP("POST", "rollingUpgrades/cancel"),
    NOT_SET_UP("GET",  "rollingUpgrades/latest"),
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
    {"POST",   INSTANCE "/reimage",
        "virtualMachineScaleSetVMs.reimage", LATENCY_ACCEPT, THROTTLE_UPDATE_VMSS_VM, vms_reapply},
    {"POST",   INSTANCE "/reimageall",
        "virtualMachineScaleSetVMs.reimageAll", LATENCY_ACCEPT, THROTTLE_UPDATE_VMSS_VM, vms_reapply},
    {"POST",   INSTANCE "/runCommand",
        "virtualMachineScaleSetVMs.runCommand", LATENCY_ACCEPT, THROTTLE_UPDATE_VMSS_VM, vms_run_command},
    {"POST",   INSTANCE "/retrieveBootDiagnosticsData",
        "virtualMachineScaleSetVMs.retrieveBootDiagnosticsData", LATENCY_GET, THROTTLE_GET_VMSS_VM, vms_boot_diagnostics},
    {"POST",   INSTANCE "/performMaintenance",
        "virtualMachineScaleSetVMs.performMaintenance", LATENCY_ACCEPT, THROTTLE_UPDATE_VMSS_VM, vms_perform_maintenance},
    {"POST",   INSTANCE "/approveRollingUpgrade",
        "virtualMachineScaleSetVMs.approveRollingUpgrade", LATENCY_ACCEPT, THROTTLE_UPDATE_VMSS_VM, scale_sets_not_set_up},
    {"POST",   INSTANCE "/simulateEviction",
        "virtualMachineScaleSetVMs.simulateEviction", LATENCY_ACCEPT, THROTTLE_DELETE_VMSS_VM, vms_simulate_eviction},
    {"DELETE", INSTANCE,
        "virtualMachineScaleSetVMs.delete", LATENCY_ACCEPT, THROTTLE_DELETE_VMSS_VM, vms_delete},

    {"GET",    LOCATION "/DiskOperations/{operation}",
        "operations.get", LATENCY_GET, THROTTLE_GET_DISK_OPERATION, operations_get},
    {"GET",    LOCATION "/operations/{operation}",
        "operations.get", LATENCY_GET, THROTTLE_GET_OPERATION, operations_get},
    {"GET",    SUBSCRIPTION "/skus",
        "skus.list", LATENCY_GET, THROTTLE_NONE, skus_list},

    {"GET",    LOCATION "/usages",
        "usage.list", LATENCY_GET, THROTTLE_NONE, usages_list},
    {"GET",    LOCATION "/vmSizes",
        "virtualMachineSizes.list", LATENCY_GET, THROTTLE_NONE, vm_sizes_list},
    {"GET",    LOCATION "/virtualMachines",
        "virtualMachines.listByLocation", LATENCY_GET, THROTTLE_LIST_VMS, vms_list},
    {"GET",    LOCATION "/virtualMachineScaleSets",
        "virtualMachineScaleSets.listByLocation", LATENCY_GET, THROTTLE_LIST_VMSS, scale_sets_list},
    ABSENT("diskEncryptionSets"),
    ABSENT("diskAccesses"),
    ABSENT("images"),
    ABSENT("availabilitySets"),

    {"GET",    "/subscriptions",
        "subscriptions.list", LATENCY_GET, THROTTLE_NONE, subscriptions_list},
    {"GET",    "/tenants",
        "tenants.list", LATENCY_GET, THROTTLE_NONE, tenants_list},
    {"GET",    "/subscriptions/{subscription}/providers",
        "providers.list", LATENCY_GET, THROTTLE_NONE, providers_list},
    {"GET",    "/subscriptions/{subscription}/providers/{name}",
        "providers.get", LATENCY_GET, THROTTLE_NONE, providers_get},
    {"POST",   "/subscriptions/{subscription}/providers/{name}/register",
        "providers.register", LATENCY_GET, THROTTLE_NONE, providers_get},
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
    {"POST",   "/subscriptions/{subscription}/resourceGroups/{group}/exportTemplate",
        "resourceGroups.exportTemplate", LATENCY_GET, THROTTLE_NONE, groups_export_template},
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

bool route_is_of_resource_manager(const struct route *route)
{
    return strncmp(route->kind, "entra.", 6) != 0 && strncmp(route->kind, "metadata.", 9) != 0;
}

void route_match_fini(struct route_match *match)
{
    free(match->path);
    *match = (struct route_match){0};
}
