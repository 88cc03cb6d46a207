/* How VMs change: what a request asks for, and what its operation makes of it. */
#include <string.h>

#include "lib/base/alloc.h"
#include "test/azsim/model/attachment.h"
#include "test/azsim/model/fault_code.h"
#include "test/azsim/model/fault_site.h"
#include "test/azsim/model/scale_set.h"

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

static bool changes_power(enum operation_kind kind)
{
    return kind == OPERATION_VM_START || kind == OPERATION_VM_POWER_OFF ||
           kind == OPERATION_VM_DEALLOCATE || kind == OPERATION_VM_HIBERNATE;
}

/* Makes the claims of the VM those of its list; returns what the change will take. */
static uint64_t plan(struct vm *vm, enum operation_kind kind)
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
    if (detaches)
        return model_draw(model, LATENCY_DETACH);
    return model_draw(model, changes_power(kind) ? LATENCY_POWER : LATENCY_UPDATE);
}

/* Accepts a change whose data disks have been checked; takes them. */
static struct operation *begin(struct vm *vm, enum operation_kind kind, struct data_disks *wanted)
{
    struct operation *running = TAKE_PTR(vm->operation);

    if (running)
        operation_end(running, wanted->force ? refuse(FORCE_DETACHED, vm->name)
                                             : refuse(OPERATION_PREEMPTED));
    data_disks_fini(&vm->data_disks);
    vm->data_disks = *wanted;
    *wanted = (struct data_disks){0};
    vm->etag++;
    vm->provisioning = PROVISIONING_UPDATING;
    vm->updated_us = model_now_us(vm->model);
    uint64_t duration_ms = plan(vm, kind);
    vm->operation = vm->data_disks.force ? operation_force(vm->model, kind, vm->key, duration_ms)
                                         : operation_start(vm->model, kind, vm->key, duration_ms);
    model_changed_vm(vm->model, vm);
    model_commit(vm->model);
    return vm->operation;
}

static struct refusal *check_alive(const struct vm *vm, const char *what)
{
    return vm->provisioning == PROVISIONING_DELETING ? refuse(VM_BEING_DELETED, what, vm->name)
                                                     : NULL;
}

/* Whether a change may begin while another one runs. */
static struct refusal *check_turn(const struct vm *vm, enum operation_kind kind, bool force)
{
    enum concurrency concurrency = vm->model->settings.concurrency;
    bool alone = concurrency == CONCURRENCY_REFUSED ||
                 (concurrency == CONCURRENCY_AZURE && kind == OPERATION_VM_ATTACH_DETACH);

    return vm->operation && alone && !force ? refuse(CONCURRENT_REQUEST) : NULL;
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

static struct refusal *check_ultra_change(const struct vm *vm, const json_t *change)
{
    const json_t *wanted =
        resource_get(change, "properties.additionalCapabilities.ultraSSDEnabled");

    if (!wanted || json_is_true(wanted) == vm_takes_ultra_disks(vm) ||
        vm->power == POWER_DEALLOCATED)
        return NULL;
    return refuse(ULTRA_WHILE_RUNNING, vm->name);
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
    REQUIRE(check_turn(vm, OPERATION_VM_UPDATE, wanted.force));
    REQUIRE(check_ultra_change(vm, change));
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
    REQUIRE(check_turn(vm, OPERATION_VM_ATTACH_DETACH, wanted.force));
    REQUIRE(data_disks_check(vm, vm->size, &wanted));
    *ret = begin(vm, OPERATION_VM_ATTACH_DETACH, &wanted);
    return NULL;
}

static bool is_in_guest(enum operation_kind kind)
{
    return kind == OPERATION_VM_RUN_COMMAND || kind == OPERATION_VM_ASSESS_PATCHES ||
           kind == OPERATION_VM_INSTALL_PATCHES;
}

/* A guest has to run for what happens in it, and waits for its VM; a template does not start. */
static struct refusal *check_guest(const struct vm *vm, enum operation_kind kind)
{
    if (vm->is_generalized && kind == OPERATION_VM_START)
        return refuse(VM_GENERALIZED, operation_kind_name(kind), vm->name);
    if (!is_in_guest(kind))
        return NULL;
    if (vm->power != POWER_RUNNING)
        return refuse(VM_NOT_RUNNING);
    return vm->operation ? refuse(CONCURRENT_REQUEST) : NULL;
}

struct refusal *vm_generalize(struct vm *vm)
{
    REQUIRE(check_alive(vm, "generalize"));
    if (vm->power == POWER_RUNNING)
        return refuse(VM_RUNNING, "generalize", vm->name);
    vm->is_generalized = true;
    model_changed_vm(vm->model, vm);
    model_commit(vm->model);
    return NULL;
}

struct refusal *vm_act(struct vm *vm, enum operation_kind kind, struct operation **ret)
{
    CLEANUP(data_disks_finip) struct data_disks wanted = {0};

    REQUIRE(check_alive(vm, operation_kind_name(kind)));
    REQUIRE(check_guest(vm, kind));
    REQUIRE(check_turn(vm, kind, false));
    data_disks_copy(&wanted, &vm->data_disks);
    *ret = begin(vm, kind, &wanted);
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

/* ---- faults ---- */

/* Whether a fault keeps a disk attached that was to go; nothing withstands force. */
static bool stays(const struct vm *vm, const struct attachment *attachment, struct refusal **first)
{
    const char *disk = attachment->disk->name;
    const struct fault *fault = attachment->attached && !vm->data_disks.force
                                    ? fault_of_disk(vm, disk, FAULT_AT_DETACH)
                                    : NULL;

    if (fault && fault->type == FAULT_FAIL_DETACH && !*first)
        *first = fault_refusal(fault, disk);
    return fault;
}

static bool is_attached(const struct vm *vm, const struct data_disk *item)
{
    const struct disk *disk = data_disk_disk(vm->model, item);
    const struct attachment *attachment = disk ? attachment_find(vm, disk) : NULL;

    return attachment && attachment->attached;
}

/* A fault instead of an attach: the disk stays in the VM's model or is forgotten. */
static struct refusal *attach_badly(struct vm *vm, struct data_disk *item,
                                    const struct fault *fault)
{
    struct disk *disk = data_disk_disk(vm->model, item);
    struct attachment *claim = attachment_find(vm, disk);

    if (claim)
        attachment_end(claim);
    if (fault->type == FAULT_FAIL_ATTACH)
        return fault_refusal(fault, disk->name);
    data_disks_remove(&vm->data_disks, item);
    return NULL;
}

static struct refusal *attach_one(struct vm *vm, struct data_disk *item)
{
    const char *disk = data_disk_disk(vm->model, item)->name;
    const struct fault *fault = fault_of_disk(vm, disk, FAULT_AT_ATTACH);

    return fault ? attach_badly(vm, item, fault) : attach_missing(vm, item);
}

/* Makes what is what is wanted; the first thing that did not succeed is returned, the others are
 * done all the same. */
static struct refusal *settle(struct vm *vm)
{
    struct refusal *first = NULL;

    LIST_FOREACH(&vm->attachments, link) {
        if (is_unwanted(ATTACHMENT_OF_VM(link)) && !stays(vm, ATTACHMENT_OF_VM(link), &first))
            attachment_end(ATTACHMENT_OF_VM(link));
    }
    for (size_t i = vm->data_disks.n; i-- > 0;)
        if (vm->data_disks.items[i].to_be_detached && !is_attached(vm, &vm->data_disks.items[i]))
            data_disks_remove(&vm->data_disks, &vm->data_disks.items[i]);
    for (size_t i = 0, n; i < vm->data_disks.n; i += n == vm->data_disks.n) {
        n = vm->data_disks.n; /* a fault may take one out */
        if (!is_missing(vm, &vm->data_disks.items[i]))
            continue;
        struct refusal *refusal = attach_one(vm, &vm->data_disks.items[i]);
        if (first)
            refusal_free(refusal);
        else
            first = refusal;
    }
    return first;
}

void vm_remove(struct vm *vm)
{
    struct model *model = vm->model;
    struct scale_set *set = vm->scale_set;
    struct list *link;

    while ((link = vm->attachments.next) != &vm->attachments)
        attachment_end_with_vm(ATTACHMENT_OF_VM(link));
    model_set_removed(model, vm->spec.name, true);
    model_gone(model, "vms", vm->key);
    vm_free(vm);
    if (set)
        scale_set_changed(set);
}

struct refusal *vm_operation_due(struct operation *operation)
{
    struct vm *vm = vm_find(operation->model, operation->target);

    switch (operation->kind) {
    case OPERATION_VM_DELETE:
        vm_remove(vm);
        return NULL;
    case OPERATION_VM_START:
        vm_set_power(vm, POWER_RUNNING);
        break;
    case OPERATION_VM_POWER_OFF:
        vm_set_power(vm, POWER_STOPPED);
        break;
    case OPERATION_VM_DEALLOCATE:
        vm_set_power(vm, POWER_DEALLOCATED);
        break;
    case OPERATION_VM_HIBERNATE:
        vm_set_power(vm, POWER_HIBERNATED);
        break;
    default:
        break;
    }
    return settle(vm);
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
