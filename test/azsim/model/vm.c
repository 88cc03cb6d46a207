#include "test/azsim/model/vm.h"

#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "test/azsim/model/attachment.h"
#include "test/azsim/model/scale_set.h"

static const char *const power_names[] = {
    [POWER_RUNNING] = "running",
    [POWER_STOPPED] = "stopped",
    [POWER_DEALLOCATED] = "deallocated",
    [POWER_HIBERNATED] = "hibernated",
};

const char *power_name(enum power power)
{
    return power_names[power];
}

bool power_from_name(const char *name, enum power *ret)
{
    for (size_t i = 0; i < COUNT_OF(power_names); i++)
        if (strcmp(power_names[i], name) == 0) {
            *ret = (enum power)i;
            return true;
        }
    return false;
}

struct vm *vm_find(const struct model *model, const char *key)
{
    struct vm *vm;

    HASH_FIND_STR(model->vms, key, vm);
    return vm;
}

enum provisioning vm_provisioning(const struct vm *vm)
{
    return loop_now(vm->model->loop) < vm->updating_until ? PROVISIONING_UPDATING
                                                          : vm->provisioning;
}

struct vm *vm_find_by_name(const struct model *model, const char *name)
{
    CLEANUP(freep) char *key = mem_lower(name);
    struct vm *vm;

    HASH_FIND(by_host, model->vms_by_host, key, strlen(key), vm);
    return vm;
}

bool vm_is_instance(const struct vm *vm)
{
    return vm->scale_set && vm->scale_set->uniform;
}

bool vm_takes_ultra_disks(const struct vm *vm)
{
    return json_is_true(
        resource_get(vm->body, "properties.additionalCapabilities.ultraSSDEnabled"));
}

/* ---- create ---- */

/* A VM as it comes out of a node pool. */
static json_t *make_body(const struct vm *vm)
{
    const struct vm_spec *spec = &vm->spec;
    json_t *properties = json_pack(
        "{s:{s:s}, s:{s:s, s:{s:s,s:s,s:s,s:s}, s:{s:s,s:s,s:s,s:s,s:{s:s,s:s},s:s,s:i}}, "
        "s:{s:s,s:s,s:{s:b}}, s:{s:[{s:s,s:{s:b}}]}}",
        "hardwareProfile", "vmSize", spec->size->name, "storageProfile", "diskControllerType",
        strstr(spec->size->controllers, "SCSI") ? "SCSI" : "NVMe", "imageReference", "publisher",
        "canonical", "offer", "ubuntu-24_04-lts", "sku", "server", "version", "latest", "osDisk",
        "osType", "Linux", "name", "osDisk", "createOption", "FromImage", "caching", "ReadOnly",
        "managedDisk", "storageAccountType", "Premium_LRS", "id", "", "deleteOption", "Delete",
        "diskSizeGB", 128, "osProfile", "computerName", spec->name, "adminUsername", "azureuser",
        "linuxConfiguration", "disablePasswordAuthentication", 1, "networkProfile",
        "networkInterfaces", "id", "", "properties", "primary", 1);
    CLEANUP(freep) char *disk_name = mem_printf("%s_OsDisk_1", vm->name);
    CLEANUP(freep) char *disk_id = group_resource_id(vm->group, "disks", disk_name);
    CLEANUP(freep)
    char *nic_id = mem_printf(
        "/subscriptions/%s/resourceGroups/%s/providers/Microsoft.Network/networkInterfaces/%s-nic",
        vm->group->subscription->id, vm->group->name, spec->name);
    json_t *os_disk = resource_get(properties, "storageProfile.osDisk");
    json_t *nics = resource_get(properties, "networkProfile.networkInterfaces");

    if (spec->ultra_disks)
        json_object_set_new(properties, "additionalCapabilities",
                            json_pack("{s:b}", "ultraSSDEnabled", 1));
    json_object_set_new(os_disk, "name", json_string(disk_name));
    json_object_set_new(json_object_get(os_disk, "managedDisk"), "id", json_string(disk_id));
    json_object_set_new(json_array_get(nics, 0), "id", json_string(nic_id));
    return json_pack("{s:o}", "properties", properties);
}

static void add_identity(struct vm *vm)
{
    struct random *random = loop_random(vm->model->loop);
    char principal_id[UUID_SIZE];

    random_uuid(random, vm->client_id);
    random_uuid(random, principal_id);
    json_object_set_new(vm->body, "identity",
                        json_pack("{s:s, s:s, s:s}", "type", "SystemAssigned", "principalId",
                                  principal_id, "tenantId", vm->model->tenant_id));
}

static const char *resource_name(const struct vm_spec *spec)
{
    return spec->resource_name ? spec->resource_name : spec->name;
}

/* An instance of a uniform scale set is below the set. */
static char *make_id(const struct group *group, const struct scale_set *set,
                     const struct vm_spec *spec)
{
    return set && set->uniform ? mem_printf("%s/virtualMachines/%s", set->id, spec->instance_id)
                               : group_resource_id(group, "virtualMachines", resource_name(spec));
}

static void set_names(struct vm *vm)
{
    const struct vm_spec *spec = &vm->spec;

    vm->name = vm_is_instance(vm) ? mem_printf("%s_%s", vm->scale_set->name, spec->instance_id)
                                  : mem_strdup(resource_name(spec));
    vm->id = make_id(vm->group, vm->scale_set, spec);
    vm->key = resource_key(vm->id);
    vm->host_key = mem_lower(spec->name);
}

struct vm *vm_new(struct model *model, struct group *group, struct scale_set *scale_set,
                  struct vm_spec *spec, uint64_t sequence)
{
    struct vm *vm = mem_alloc(sizeof *vm);

    vm->model = model;
    vm->group = group;
    vm->scale_set = scale_set;
    vm->spec = *spec;
    *spec = (struct vm_spec){0};
    vm->size = vm->spec.size;
    vm->sequence = sequence;
    set_names(vm);
    list_init(&vm->attachments);
    if (scale_set)
        scale_set->capacity++;
    HASH_ADD_KEYPTR(hh, model->vms, vm->key, strlen(vm->key), vm);
    HASH_ADD_KEYPTR(by_host, model->vms_by_host, vm->host_key, strlen(vm->host_key), vm);
    return vm;
}

/* Whether ARM has a VM of that name, or an instance of that number, already. */
static struct err *check_id(const struct model *model, const struct group *group,
                            const struct scale_set *set, const struct vm_spec *spec)
{
    CLEANUP(freep) char *id = make_id(group, set, spec);
    CLEANUP(freep) char *key = resource_key(id);

    if (!vm_find(model, key))
        return NULL;
    if (set && set->uniform)
        return err_new(ERR_EXISTS, "scale set \"%s\" has an instance %s already", set->name,
                       spec->instance_id);
    return err_new(ERR_EXISTS,
                   "resource group \"%s\" has a VM with the resource name \"%s\" already",
                   group->name, resource_name(spec));
}

struct err *vm_group_for(const struct model *model, const struct vm_spec *spec, struct group **ret)
{
    const char *id = spec->subscription_id ? spec->subscription_id : model->subscriptions[0].id;
    const struct subscription *subscription = model_find_subscription(model, id);

    *ret = NULL;
    for (size_t i = 0; i < model->n_groups && !*ret; i++)
        if (!model->groups[i]->gone && model->groups[i]->subscription == subscription &&
            (!spec->resource_group ||
             strcasecmp(model->groups[i]->name, spec->resource_group) == 0))
            *ret = model->groups[i];
    return *ret ? NULL
                : err_new(ERR_INVALID, "there is no resource group \"%s\" in subscription %s",
                          spec->resource_group ? spec->resource_group : "", id);
}

struct err *vm_add(struct model *model, struct group *group, struct vm_spec *spec, struct vm **ret)
{
    struct scale_set *set;

    if (vm_find_by_name(model, spec->name))
        return err_new(ERR_EXISTS, "there is a VM \"%s\" already", spec->name);
    if (HASH_COUNT(model->vms) >= MODEL_MAX_VMS)
        return err_new(ERR_EXHAUSTED, "there are %d VMs already", MODEL_MAX_VMS);
    TRY(scale_set_for(model, group, spec, &set));
    TRY(check_id(model, group, set, spec));

    struct vm *vm = vm_new(model, group, set, spec, ++model->sequence);
    vm->body = make_body(vm);
    vm->provisioning = PROVISIONING_SUCCEEDED;
    vm->etag = 1;
    vm->created_us = vm->updated_us = model_now_us(model);
    random_uuid(loop_random(model->loop), vm->vm_id);
    if (vm->spec.identity)
        add_identity(vm);
    model_set_removed(model, vm->spec.name, false);
    if (set)
        scale_set_changed(set);
    model_changed_vm(model, vm);
    model_commit(model);
    *ret = vm;
    return NULL;
}

void vm_free(struct vm *vm)
{
    struct list *link;

    while ((link = vm->attachments.next) != &vm->attachments) {
        list_remove(&ATTACHMENT_OF_VM(link)->by_disk);
        list_remove(link);
        free(ATTACHMENT_OF_VM(link));
    }
    if (vm->scale_set)
        vm->scale_set->capacity--;
    HASH_DELETE(hh, vm->model->vms, vm);
    HASH_DELETE(by_host, vm->model->vms_by_host, vm);
    data_disks_fini(&vm->data_disks);
    json_decref(vm->body);
    vm_spec_fini(&vm->spec);
    free(vm->failure);
    free(vm->host_key);
    free(vm->name);
    free(vm->id);
    free(vm->key);
    free(vm);
}

/* ---- power ---- */

const char *vm_power_name(const struct vm *vm)
{
    enum operation_kind kind = vm->operation ? vm->operation->kind : OPERATION_KIND_COUNT;

    if (kind == OPERATION_VM_START)
        return "starting";
    if (kind == OPERATION_VM_POWER_OFF)
        return "stopping";
    if (kind == OPERATION_VM_DEALLOCATE || kind == OPERATION_VM_HIBERNATE)
        return "deallocating";
    return power_name(vm->power == POWER_HIBERNATED ? POWER_DEALLOCATED : vm->power);
}

void vm_set_power(struct vm *vm, enum power power)
{
    struct model *model = vm->model;

    vm->power = power;
    vm->updated_us = model_now_us(model);
    LIST_FOREACH(&vm->attachments, link) {
        if (ATTACHMENT_OF_VM(link)->attached)
            ownership_changed(ATTACHMENT_OF_VM(link)->disk, LATENCY_OWNERSHIP);
    }
    if (power == POWER_RUNNING && model->devices)
        model->devices->start(model->devices_ctx, vm);
    model_changed_vm(model, vm);
    model_commit(model);
}
