#include "test/azsim/model/vm.h"

#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "test/azsim/model/attachment.h"

/* Members that Azure sets, whatever a client sends; data disks are kept apart. */
static const char *const read_only[] = {"id",
                                        "name",
                                        "type",
                                        "location",
                                        "zones",
                                        "etag",
                                        "properties.vmId",
                                        "properties.timeCreated",
                                        "properties.provisioningState",
                                        "properties.instanceView",
                                        "properties.storageProfile.dataDisks",
                                        NULL};

static const char *const power_names[] = {
    [POWER_RUNNING] = "running",
    [POWER_STOPPED] = "stopped",
    [POWER_DEALLOCATED] = "deallocated",
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

struct vm *vm_find_by_name(const struct model *model, const char *name)
{
    for (size_t i = 0; i < model->n_groups; i++) {
        CLEANUP(freep)
        char *id =
            resource_id(model->subscription_id, model->groups[i]->name, "virtualMachines", name);
        CLEANUP(freep) char *key = resource_key(id);
        struct vm *vm = vm_find(model, key);

        if (vm)
            return vm;
    }
    return NULL;
}

/* ---- create ---- */

/* A VM as it comes out of a node pool. */
static json_t *make_body(const struct vm *vm)
{
    const struct vm_spec *spec = &vm->spec;
    const char *prefix = vm->model->subscription_id;
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
    CLEANUP(freep) char *disk_name = mem_printf("%s_OsDisk_1", spec->name);
    CLEANUP(freep) char *disk_id = resource_id(prefix, vm->group->name, "disks", disk_name);
    CLEANUP(freep)
    char *nic_id = mem_printf(
        "/subscriptions/%s/resourceGroups/%s/providers/Microsoft.Network/networkInterfaces/%s-nic",
        prefix, vm->group->name, spec->name);
    json_t *os_disk = resource_get(properties, "storageProfile.osDisk");
    json_t *nics = resource_get(properties, "networkProfile.networkInterfaces");

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

struct vm *vm_new(struct model *model, struct group *group, struct vm_spec *spec, uint64_t sequence)
{
    struct vm *vm = mem_alloc(sizeof *vm);

    vm->model = model;
    vm->group = group;
    vm->spec = *spec;
    *spec = (struct vm_spec){0};
    vm->size = vm->spec.size;
    vm->id = resource_id(model->subscription_id, group->name, "virtualMachines", vm->spec.name);
    vm->key = resource_key(vm->id);
    vm->sequence = sequence;
    list_init(&vm->attachments);
    HASH_ADD_KEYPTR(hh, model->vms, vm->key, strlen(vm->key), vm);
    return vm;
}

struct err *vm_add(struct model *model, struct group *group, struct vm_spec *spec, struct vm **ret)
{
    if (vm_find_by_name(model, spec->name))
        return err_new(ERR_EXISTS, "there is a VM \"%s\" already", spec->name);
    if (HASH_COUNT(model->vms) >= MODEL_MAX_VMS)
        return err_new(ERR_EXHAUSTED, "there are %d VMs already", MODEL_MAX_VMS);

    struct vm *vm = vm_new(model, group, spec, ++model->sequence);
    vm->body = make_body(vm);
    vm->provisioning = PROVISIONING_SUCCEEDED;
    vm->etag = 1;
    vm->created_us = vm->updated_us = model_now_us(model);
    random_uuid(loop_random(model->loop), vm->vm_id);
    if (vm->spec.identity)
        add_identity(vm);
    model_set_removed(model, vm->spec.name, false);
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
    HASH_DEL(vm->model->vms, vm);
    data_disks_fini(&vm->data_disks);
    json_decref(vm->body);
    vm_spec_fini(&vm->spec);
    free(vm->failure);
    free(vm->id);
    free(vm->key);
    free(vm);
}

/* ---- change ---- */

/* Whether the disk of an item has to come, now that the list is the VM's. */
static bool is_missing(const struct vm *vm, const struct data_disk *item)
{
    const struct disk *disk = data_disk_disk(vm->model, item);
    const struct attachment *attachment = disk ? attachment_find(vm, disk) : NULL;

    return disk && !item->to_be_detached && !(attachment && attachment->attached);
}

/* Whether an attachment has to go. */
static bool is_unwanted(const struct attachment *attachment)
{
    const struct data_disk *item =
        data_disks_find(&attachment->vm->data_disks, attachment->disk->key);

    return !item || item->to_be_detached;
}

static void claim(struct vm *vm, const struct data_disk *item)
{
    struct disk *disk = data_disk_disk(vm->model, item);
    struct refusal *refusal = attachment_find(vm, disk) ? NULL : data_disk_check_attach(vm, item);

    /* What is refused here was wanted before; the operation will say so when it ends. */
    if (!refusal && !attachment_find(vm, disk)) {
        attachment_claim(vm, item->lun, disk);
        free(disk->attaching_vm);
        disk->attaching_vm = mem_strdup(vm->id);
        disk->attaching_since = loop_now(vm->model->loop);
    }
    refusal_free(refusal);
}

/* Makes the claims of the VM those of its list; returns what the change will take. */
static uint64_t plan(struct vm *vm)
{
    struct model *model = vm->model;
    bool attaches = false, detaches = false;

    LIST_FOREACH(&vm->attachments, link) {
        if (!is_unwanted(ATTACHMENT_OF_VM(link)))
            continue;
        if (ATTACHMENT_OF_VM(link)->attached)
            detaches = true;
        else
            attachment_end(ATTACHMENT_OF_VM(link));
    }
    for (size_t i = 0; i < vm->data_disks.n; i++) {
        if (!is_missing(vm, &vm->data_disks.items[i]))
            continue;
        attaches = true;
        claim(vm, &vm->data_disks.items[i]);
    }
    if (vm->data_disks.force)
        return 0;
    if (attaches)
        return model_draw(model, LATENCY_ATTACH);
    return model_draw(model, detaches ? LATENCY_DETACH : LATENCY_UPDATE);
}

/* Accepts a change whose data disks have been checked; takes them. */
static struct operation *begin(struct vm *vm, enum operation_kind kind, struct data_disks *wanted)
{
    struct operation *running = TAKE_PTR(vm->operation);

    if (running)
        operation_end(running, wanted->force ? refuse(FORCE_DETACHED, vm->spec.name)
                                             : refuse(OPERATION_PREEMPTED));
    data_disks_fini(&vm->data_disks);
    vm->data_disks = *wanted;
    *wanted = (struct data_disks){0};
    vm->etag++;
    vm->provisioning = PROVISIONING_UPDATING;
    vm->updated_us = model_now_us(vm->model);
    vm->operation = operation_start(vm->model, kind, vm->key, plan(vm));
    model_changed_vm(vm->model, vm);
    model_commit(vm->model);
    return vm->operation;
}

static struct refusal *check_alive(const struct vm *vm, const char *what)
{
    return vm->provisioning == PROVISIONING_DELETING ? refuse(VM_BEING_DELETED, what, vm->spec.name)
                                                     : NULL;
}

static bool is_same(const struct data_disks *one, const struct data_disks *other)
{
    bool same = one->n == other->n;

    for (size_t i = 0; same && i < one->n; i++)
        same = json_equal(one->items[i].entry, other->items[i].entry);
    return same;
}

static struct refusal *read_size(const struct vm *vm, const json_t *body,
                                 const struct vm_size **ret)
{
    const char *name = resource_text(body, "properties.hardwareProfile.vmSize", vm->size->name);

    *ret = vm_size_find(name);
    return *ret ? NULL : refuse(PARAMETER_UNKNOWN("hardwareProfile.vmSize"), name);
}

struct refusal *vm_patch(struct vm *vm, const json_t *change, struct operation **ret)
{
    const json_t *list = resource_get(change, "properties.storageProfile.dataDisks");
    CLEANUP(data_disks_finip) struct data_disks wanted = {0};
    const struct vm_size *size;

    REQUIRE(check_alive(vm, "update"));
    REQUIRE(read_size(vm, change, &size));
    if (list)
        REQUIRE(data_disks_from_list(vm, list, &wanted));
    else
        data_disks_copy(&wanted, &vm->data_disks);
    REQUIRE(data_disks_check(vm, size, &wanted));

    json_t *body = json_deep_copy(vm->body), *rest = json_deep_copy(change);
    resource_strip(rest, read_only);
    resource_merge(body, rest);
    json_decref(rest);
    bool nothing_to_do = vm->provisioning == PROVISIONING_SUCCEEDED &&
                         is_same(&wanted, &vm->data_disks) && json_equal(body, vm->body);
    json_decref(vm->body);
    vm->body = body;
    vm->size = size;
    struct operation *operation = begin(vm, OPERATION_VM_UPDATE, &wanted);
    *ret = nothing_to_do ? NULL : operation;
    return NULL;
}

struct refusal *vm_attach_detach(struct vm *vm, const json_t *body, struct operation **ret)
{
    CLEANUP(data_disks_finip) struct data_disks wanted = {0};

    REQUIRE(check_alive(vm, "attachDetachDataDisks"));
    REQUIRE(data_disks_from_attach_detach(vm, body, &wanted));
    if (vm->operation && !wanted.force)
        return refuse(CONCURRENT_REQUEST);
    REQUIRE(data_disks_check(vm, vm->size, &wanted));
    *ret = begin(vm, OPERATION_VM_ATTACH_DETACH, &wanted);
    return NULL;
}

struct operation *vm_delete(struct vm *vm)
{
    struct model *model = vm->model;
    struct operation *running = TAKE_PTR(vm->operation);

    if (running && running->kind == OPERATION_VM_DELETE) {
        vm->operation = running;
        return running;
    }
    if (running)
        operation_end(running, refuse(OPERATION_PREEMPTED));
    vm->provisioning = PROVISIONING_DELETING;
    vm->operation =
        operation_start(model, OPERATION_VM_DELETE, vm->key, model_draw(model, LATENCY_DELETE));
    model_changed_vm(model, vm);
    model_commit(model);
    return vm->operation;
}

void vm_set_power(struct vm *vm, enum power power)
{
    vm->power = power;
    vm->updated_us = model_now_us(vm->model);
    model_changed_vm(vm->model, vm);
    model_commit(vm->model);
}

/* ---- ends of operations ---- */

static struct refusal *attach_missing(struct vm *vm, const struct data_disk *item)
{
    struct disk *disk = data_disk_disk(vm->model, item);
    struct attachment *attachment = attachment_find(vm, disk);

    if (!attachment) {
        REQUIRE(data_disk_check_attach(vm, item));
        attachment = attachment_claim(vm, item->lun, disk);
    }
    struct refusal *refusal = attachment_attach(attachment);
    if (refusal)
        attachment_end(attachment);
    return refusal;
}

/* Makes what is what is wanted; the first thing that did not succeed is returned, the others are
 * done all the same. */
static struct refusal *settle(struct vm *vm)
{
    struct refusal *first = NULL;

    LIST_FOREACH(&vm->attachments, link) {
        if (is_unwanted(ATTACHMENT_OF_VM(link)))
            attachment_end(ATTACHMENT_OF_VM(link));
    }
    for (size_t i = vm->data_disks.n; i-- > 0;)
        if (vm->data_disks.items[i].to_be_detached)
            data_disks_remove(&vm->data_disks, &vm->data_disks.items[i]);
    for (size_t i = 0; i < vm->data_disks.n; i++) {
        if (!is_missing(vm, &vm->data_disks.items[i]))
            continue;
        struct refusal *refusal = attach_missing(vm, &vm->data_disks.items[i]);
        if (first)
            refusal_free(refusal);
        else
            first = refusal;
    }
    return first;
}

static void vm_remove(struct vm *vm)
{
    struct model *model = vm->model;
    struct list *link;

    while ((link = vm->attachments.next) != &vm->attachments)
        attachment_end(ATTACHMENT_OF_VM(link));
    model_set_removed(model, vm->spec.name, true);
    model_gone(model, "vms", vm->key);
    vm_free(vm);
}

struct refusal *vm_operation_due(struct operation *operation)
{
    struct vm *vm = vm_find(operation->model, operation->target);

    if (operation->kind != OPERATION_VM_DELETE)
        return settle(vm);
    vm_remove(vm);
    return NULL;
}

void vm_operation_ended(struct operation *operation)
{
    struct vm *vm = vm_find(operation->model, operation->target);

    if (!vm || vm->operation != operation)
        return; /* gone, or a newer operation goes on with the work */
    vm->operation = NULL;
    vm->provisioning = operation->refusal ? PROVISIONING_FAILED : PROVISIONING_SUCCEEDED;
    free(vm->failure);
    vm->failure = operation->refusal ? mem_strdup(operation->refusal->code) : NULL;
    vm->updated_us = model_now_us(vm->model);
    model_changed_vm(vm->model, vm);
}
