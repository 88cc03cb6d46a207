/* How a VM looks in answers. */
#include <ctype.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "test/azsim/arm/handlers.h"
#include "test/azsim/model/attachment.h"
#include "test/azsim/model/scale_set.h"

char *vm_etag(const struct vm *vm)
{
    return mem_printf("\"%u\"", vm->etag);
}

/* Where the name of the group stands in an id. */
static char *find_group_name(char *id, size_t *ret_length)
{
    static const char before[] = "/resourceGroups/";
    char *name = strstr(id, before) + strlen(before);

    *ret_length = strcspn(name, "/");
    return name;
}

json_t *vm_id_json(const struct model *model, const char *id)
{
    if (!model->settings.upper_case_groups)
        return json_string(id);
    CLEANUP(freep) char *copy = mem_strdup(id);
    size_t length;
    char *name = find_group_name(copy, &length);

    for (size_t i = 0; i < length; i++)
        name[i] = (char)toupper((unsigned char)name[i]);
    return json_string(copy);
}

static json_t *data_disk_json(const struct vm *vm, const struct data_disk *item)
{
    const struct disk *disk = data_disk_disk(vm->model, item);
    json_t *json = json_copy(item->entry);
    json_t *managed = json_copy(json_object_get(item->entry, "managedDisk"));

    if (disk) {
        json_object_set_new(managed, "storageAccountType", json_string(disk->spec.sku->name));
        json_object_set_new(json, "diskSizeGB", json_integer(disk->spec.size_gib));
    }
    json_object_set_new(json, "managedDisk", managed);
    if (vm_is_instance(vm)) /* what becomes of its disks is the scale set's to say */
        json_object_del(json, "deleteOption");
    return json;
}

json_t *vm_storage_profile_json(const struct vm *vm)
{
    json_t *json = json_copy(resource_get(vm->body, "properties.storageProfile"));
    json_t *disks = json_array();

    for (size_t i = 0; i < vm->data_disks.n; i++)
        json_array_append_new(disks, data_disk_json(vm, &vm->data_disks.items[i]));
    json_object_set_new(json, "dataDisks", disks);
    return json;
}

/* ---- instance view ---- */

static json_t *status_json(const struct vm *vm, const char *code, const char *level,
                           const char *display)
{
    return json_pack("{s:s, s:s, s:s, s:o}", "code", code, "level", level, "displayStatus", display,
                     "time", azure_time_json(vm->updated_us));
}

static json_t *provisioning_json(const struct vm *vm)
{
    if (vm_provisioning(vm) == PROVISIONING_SUCCEEDED)
        return status_json(vm, "ProvisioningState/succeeded", "Info", "Provisioning succeeded");
    if (vm_provisioning(vm) != PROVISIONING_FAILED) {
        CLEANUP(freep) char *name = mem_lower(provisioning_name(vm_provisioning(vm)));
        CLEANUP(freep) char *code = mem_printf("ProvisioningState/%s", name);

        return status_json(vm, code, "Info", provisioning_name(vm_provisioning(vm)));
    }
    CLEANUP(freep) char *code = mem_printf("ProvisioningState/failed/%s", vm->failure);
    return status_json(vm, code, "Error", "Provisioning failed");
}

static json_t *power_json(const struct vm *vm)
{
    CLEANUP(freep) char *code = mem_printf("PowerState/%s", vm_power_name(vm));
    CLEANUP(freep) char *display = mem_printf("VM %s", vm_power_name(vm));

    return json_pack("{s:s, s:s, s:s}", "code", code, "level", "Info", "displayStatus", display);
}

/* Disks that are there, and those that should be and are not. */
static json_t *disk_statuses_json(const struct vm *vm)
{
    json_t *disks = json_array();

    for (size_t i = 0; i < vm->data_disks.n; i++) {
        const struct data_disk *item = &vm->data_disks.items[i];
        const struct disk *disk = data_disk_disk(vm->model, item);
        const struct attachment *attachment = disk ? attachment_find(vm, disk) : NULL;
        bool attached = attachment && attachment->attached;
        json_t *status;

        if (attached)
            status =
                status_json(vm, "ProvisioningState/succeeded", "Info", "Provisioning succeeded");
        else if (vm_provisioning(vm) == PROVISIONING_FAILED)
            status = status_json(vm, "ProvisioningState/failed/AttachDiskFailed", "Error",
                                 "Provisioning failed");
        else
            continue;
        json_array_append_new(disks, json_pack("{s:s, s:[o]}", "name",
                                               resource_text(item->entry, "name", ""), "statuses",
                                               status));
    }
    return disks;
}

json_t *vm_instance_view_json(const struct vm *vm)
{
    json_t *json =
        json_pack("{s:s, s:s, s:s, s:i, s:o, s:[o, o]}", "computerName", vm->spec.name, "osName",
                  "ubuntu", "hyperVGeneration", "V2", "platformFaultDomain", 0, "disks",
                  disk_statuses_json(vm), "statuses", provisioning_json(vm), power_json(vm));

    if (vm->power == POWER_HIBERNATED)
        json_array_append_new(json_object_get(json, "statuses"),
                              json_pack("{s:s, s:s, s:s}", "code", "HibernationState/Hibernated",
                                        "level", "Info", "displayStatus", "Hibernated"));
    if (vm->power == POWER_RUNNING)
        json_object_set_new(
            json, "vmAgent",
            json_pack("{s:s, s:[o]}", "vmAgentVersion", "2.11.1.12", "statuses",
                      status_json(vm, "ProvisioningState/succeeded", "Info", "Ready")));
    return json;
}

/* ---- the whole ---- */

static void add_scale_set(json_t *json, json_t *properties, const struct vm *vm)
{
    if (vm_is_instance(vm)) {
        json_object_set_new(json, "instanceId", json_string(vm->spec.instance_id));
        json_object_set_new(json, "sku",
                            json_pack("{s:s, s:s}", "name", vm->size->name, "tier", "Standard"));
        json_object_set_new(properties, "latestModelApplied", json_true());
        json_object_set_new(properties, "modelDefinitionApplied",
                            json_string("VirtualMachineScaleSet"));
    } else if (vm->scale_set) {
        json_object_set_new(properties, "virtualMachineScaleSet",
                            json_pack("{s:s}", "id", vm->scale_set->id));
    }
}

json_t *vm_json(const struct vm *vm)
{
    CLEANUP(freep) char *etag = vm_etag(vm);
    json_t *json =
        json_pack("{s:s, s:s, s:s, s:s, s:s}", "name", vm->name, "id", vm->id, "type",
                  vm_is_instance(vm) ? "Microsoft.Compute/virtualMachineScaleSets/virtualMachines"
                                     : "Microsoft.Compute/virtualMachines",
                  "location", vm->model->location, "etag", etag);
    json_t *properties = json_copy(json_object_get(vm->body, "properties"));

    if (*vm->spec.zone)
        json_object_set_new(json, "zones", json_pack("[s]", vm->spec.zone));
    json_object_update(json, vm->body);
    json_object_set_new(json, "properties", properties);
    json_object_set_new(properties, "provisioningState",
                        json_string(provisioning_name(vm_provisioning(vm))));
    json_object_set_new(properties, "vmId", json_string(vm->vm_id));
    json_object_set_new(properties, "timeCreated", azure_time_json(vm->created_us));
    json_object_set_new(properties, "storageProfile", vm_storage_profile_json(vm));
    add_scale_set(json, properties, vm);
    return json;
}
