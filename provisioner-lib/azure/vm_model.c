#include "provisioner-lib/azure/vm_model.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/api/compute.pb-c.h"
#include "lib/base/alloc.h"
#include "provisioner-lib/azure/resource_id.h"

static enum cloud_instance_state state_of(const char *provisioning_state)
{
    static const struct {
        const char *word;
        enum cloud_instance_state state;
    } words[] = {{"Succeeded", CLOUD_INSTANCE_SETTLED},
                 {"Failed", CLOUD_INSTANCE_FAILED},
                 {"Canceled", CLOUD_INSTANCE_FAILED}};

    for (size_t i = 0; provisioning_state && i < COUNT_OF(words); i++)
        if (strcasecmp(words[i].word, provisioning_state) == 0)
            return words[i].state;
    return CLOUD_INSTANCE_CHANGING;
}

static size_t count_named(const Arm__StorageProfile *profile, const char *name)
{
    size_t n = 0;

    for (size_t i = 0; i < profile->n_data_disks; i++)
        n += profile->data_disks[i]->name && strcasecmp(profile->data_disks[i]->name, name) == 0;
    return n;
}

static bool says_attached(const Arm__DiskInstanceView *disk)
{
    for (size_t i = 0; i < disk->n_statuses; i++)
        if (disk->statuses[i]->code &&
            strcasecmp(disk->statuses[i]->code, "ProvisioningState/succeeded") == 0)
            return true;
    return false;
}

/* By the instance view, if it was asked for. It calls disks by names that those of several
 * resource groups may share: then it has to say so of each. */
static bool is_attached(const Arm__VirtualMachineProperties *vm, const char *name)
{
    const Arm__InstanceView *view = vm->instance_view;
    size_t n = 0;

    for (size_t i = 0; view && i < view->n_disks; i++)
        n += view->disks[i]->name && strcasecmp(view->disks[i]->name, name) == 0 &&
             says_attached(view->disks[i]);
    return n > 0 && n == count_named(vm->storage_profile, name);
}

/* Its texts are the profile's. */
static struct cloud_slot slot_of(const Arm__VirtualMachineProperties *vm, const Arm__DataDisk *disk)
{
    return (struct cloud_slot){
        .disk_id = disk->managed_disk && disk->managed_disk->id ? disk->managed_disk->id : "",
        .lun = disk->lun,
        .leaving = disk->to_be_detached,
        .attached = disk->name && is_attached(vm, disk->name),
    };
}

/* NULL if it is not said. */
static const char *size_of(const Arm__VirtualMachineProperties *properties)
{
    return properties->hardware_profile ? properties->hardware_profile->vm_size : NULL;
}

static struct err *max_disks_of(struct task *self, struct skus *skus, const char *size, int *ret,
                                enum cloud_source *ret_source)
{
    struct err *err = size ? skus_max_data_disks(self, skus, size, ret, ret_source)
                           : err_new(ERR_NOT_FOUND, "the VM has no size");

    if (!err || err_kind(err) != ERR_NOT_FOUND)
        return err;
    err_free(err);
    *ret = CLOUD_MOST_SLOTS;
    *ret_source = CLOUD_UNKNOWN;
    return NULL;
}

/* A VM that was made of a specialized image has no profile. */
static const char *host_of(const Arm__VirtualMachineProperties *properties)
{
    const Arm__OSProfile *profile = properties->os_profile;

    return profile && profile->computer_name ? profile->computer_name : "";
}

struct arm_request vm_model_request(const char *id, enum cloud_urgency urgency)
{
    return (struct arm_request){.kind = vm_id_is_instance(id) ? ARM_INSTANCE_READ : ARM_VM_READ,
                                .path = id,
                                .resource = id,
                                .urgency = urgency};
}

char *vm_model_path_with_view(const char *id)
{
    return mem_printf("%s?$expand=instanceView", id);
}

struct err *vm_model_read(struct task *self, struct arm_client *arm, struct skus *skus,
                          const struct arm_request *request, struct cloud_instance *ret)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const ProtobufCMessage *decoded;
    enum cloud_source source;
    int max_disks;

    TRY(arm_client_get(self, arm, request, &arm__virtual_machine__descriptor, arena, &decoded));
    const Arm__VirtualMachine *vm = (const Arm__VirtualMachine *)decoded;
    if (!vm->properties || !vm->location)
        return err_new(ERR_INTERNAL, "GET %s: the VM lacks its properties or location",
                       request->path);
    const char *size = size_of(vm->properties);
    TRY(max_disks_of(self, skus, size, &max_disks, &source));

    const Arm__StorageProfile *profile = vm->properties->storage_profile;
    size_t n_slots = profile ? profile->n_data_disks : 0;
    struct cloud_slot *slots = arena_alloc(arena, n_slots * sizeof *slots);
    for (size_t i = 0; i < n_slots; i++)
        slots[i] = slot_of(vm->properties, profile->data_disks[i]);
    *ret = cloud_instance_copy(&(struct cloud_instance){
        .id = request->resource,
        .host = host_of(vm->properties),
        .zone = vm->n_zones ? arena_printf(arena, "%s-%s", vm->location, vm->zones[0]) : "",
        .size = size,
        .state = state_of(vm->properties->provisioning_state),
        .max_disks = max_disks,
        .max_disks_from = source,
        .slots = slots,
        .n_slots = n_slots,
    });
    return NULL;
}

bool vm_id_is_instance(const char *id)
{
    return strcasestr(id, "/virtualMachineScaleSets/") != NULL;
}

const struct cloud_slot *vm_model_find(const struct cloud_instance *model, const char *disk_id)
{
    for (size_t i = 0; i < model->n_slots; i++)
        if (resource_id_equal(model->slots[i].disk_id, disk_id))
            return &model->slots[i];
    return NULL;
}
