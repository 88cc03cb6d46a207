#include "provisioner-lib/azure/vm_update.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/azure/azure_metrics.h"
#include "provisioner-lib/azure/resource_id.h"
#include "provisioner-lib/azure/vm_model.h"

static struct arm_request request_of(const char *vm_id, const struct vm_update *update,
                                     const char *method, const char *path, const json_t *body)
{
    return (struct arm_request){
        .kind = vm_id_is_instance(vm_id) ? ARM_INSTANCE_UPDATE : ARM_VM_UPDATE,
        .method = method,
        .path = path,
        .body = body,
        .resource = vm_id,
        .urgency = update->urgency,
        .operation_most_ms = update->most_ms,
        .accepted = update->accepted,
        .ctx = update->ctx,
    };
}

/* Where it is not asked for nothing is said, for most VMs have none. */
static void set_accelerator(json_t *entry, const struct vm_attach *attach)
{
    if (attach->write_accelerator)
        json_object_set_new(entry, "writeAcceleratorEnabled", json_true());
}

/* Azure calls it a last resort. */
static void set_detach_option(json_t *entry, const struct vm_detach *detach)
{
    if (detach->forced)
        json_object_set_new(entry, "detachOption", json_string("ForceDetach"));
}

/* ---- by the action ---- */

static json_t *action_json(const struct vm_update *update)
{
    json_t *attach = json_array(), *detach = json_array();

    for (size_t i = 0; i < update->n_attach; i++) {
        const struct vm_attach *item = &update->attach[i];

        json_t *entry = json_pack("{s:s, s:i, s:s}", "diskId", item->disk_id, "lun", item->lun,
                                  "caching", caching_mode_name(item->caching));

        set_accelerator(entry, item);
        json_array_append_new(attach, entry);
    }
    for (size_t i = 0; i < update->n_detach; i++) {
        json_t *entry = json_pack("{s:s}", "diskId", update->detach[i].disk_id);

        set_detach_option(entry, &update->detach[i]);
        json_array_append_new(detach, entry);
    }
    return json_pack("{s:o, s:o}", "dataDisksToAttach", attach, "dataDisksToDetach", detach);
}

static struct err *by_action(struct task *self, struct arm_client *arm, const char *vm_id,
                             const struct vm_update *update)
{
    CLEANUP(json_decrefp) json_t *body = action_json(update);
    CLEANUP(freep) char *path = mem_printf("%s/attachDetachDataDisks", vm_id);
    const struct arm_request request = request_of(vm_id, update, "POST", path, body);

    return arm_client_change(self, arm, &request);
}

/* ---- by the VM's list ---- */

/* NULL: it stays. */
static const struct vm_detach *detach_of(const struct vm_update *update, const json_t *entry)
{
    const json_t *disk = json_object_get(entry, "managedDisk");
    const char *id = json_string_value(json_object_get(disk, "id"));

    for (size_t i = 0; i < update->n_detach; i++)
        if (resource_id_equal(update->detach[i].disk_id, id))
            return &update->detach[i];
    return NULL;
}

static json_t *entry_of(const struct vm_attach *attach)
{
    const char *name = strrchr(attach->disk_id, '/');

    json_t *entry =
        json_pack("{s:i, s:s, s:s, s:s, s:{s:s}}", "lun", attach->lun, "name",
                  name ? name + 1 : attach->disk_id, "createOption", "Attach", "caching",
                  caching_mode_name(attach->caching), "managedDisk", "id", attach->disk_id);
    set_accelerator(entry, attach);
    return entry;
}

/* The list as it is to be; every member of what stays is kept. */
static json_t *changed_list(const json_t *list, const struct vm_update *update,
                            enum vm_update_way way)
{
    json_t *changed = json_array();
    size_t i;
    json_t *entry;

    json_array_foreach(list, i, entry) {
        const struct vm_detach *detach = detach_of(update, entry);

        if (detach && way == VM_UPDATE_BY_SHORT_LIST)
            continue;
        json_t *copy = json_copy(entry);
        json_object_del(copy, "detachOption"); /* of an earlier change */
        if (detach) {
            json_object_set_new(copy, "toBeDetached", json_true());
            set_detach_option(copy, detach);
        }
        json_array_append_new(changed, copy);
    }
    for (i = 0; i < update->n_attach; i++)
        json_array_append_new(changed, entry_of(&update->attach[i]));
    return changed;
}

/* Instances of scale sets cannot be patched; a PUT of a part of them changes that part. */
static const char *method_for(const char *vm_id)
{
    return vm_id_is_instance(vm_id) ? "PUT" : "PATCH";
}

static struct err *by_list(struct task *self, struct arm_client *arm, const char *vm_id,
                           const struct vm_update *update, enum vm_update_way way)
{
    CLEANUP(json_decrefp) json_t *vm = NULL;
    const struct arm_request read = {
        .kind = vm_id_is_instance(vm_id) ? ARM_INSTANCE_READ : ARM_VM_READ,
        .path = vm_id,
        .resource = vm_id,
        .urgency = update->urgency,
    };

    TRY(arm_client_request(self, arm, &read, &vm, NULL));
    const json_t *properties = json_object_get(vm, "properties");
    const json_t *profile = json_object_get(properties, "storageProfile");
    const json_t *disks = json_object_get(profile, "dataDisks");
    /* What is not in the list that is written is detached, so a list that is not known is not
     * changed: a gateway may have answered, or half of the answer have come. */
    if (!json_is_array(disks))
        return err_new(ERR_UNAVAILABLE, "GET %s: the VM has no list of disks", vm_id);
    json_t *list = changed_list(disks, update, way);
    CLEANUP(json_decrefp)
    json_t *body = json_pack("{s:{s:{s:o}}}", "properties", "storageProfile", "dataDisks", list);
    struct arm_request write = request_of(vm_id, update, method_for(vm_id), vm_id, body);
    write.if_match = json_string_value(json_object_get(vm, "etag"));
    return arm_client_change(self, arm, &write);
}

static struct err *again(struct task *self, struct arm_client *arm, const char *vm_id,
                         const struct vm_update *update)
{
    CLEANUP(json_decrefp) json_t *body = json_object();
    const struct arm_request request = request_of(vm_id, update, method_for(vm_id), vm_id, body);

    return arm_client_change(self, arm, &request);
}

/* ---- which way ---- */

/* What a cloud says that does not have the way. */
static bool is_lacking(const struct err *err, enum vm_update_way way)
{
    const char *message = err_message(err);

    switch (way) {
    case VM_UPDATE_BY_ACTION:
        return err_kind(err) == ERR_UNIMPLEMENTED ||
               strcasestr(message, "attach detach data disks API") ||
               strcasestr(message, "not enabled for the region");
    case VM_UPDATE_BY_LIST:
        return strcasestr(message, "Could not find member 'toBeDetached'");
    case VM_UPDATE_BY_SHORT_LIST:
        return false;
    }
    return false;
}

/* Roles that were made for version 1 of Microsoft's driver lack the action, and permit what the
 * other way takes. A role may be completed, and that of another VM be complete: it is not
 * remembered. */
static bool is_denied(const struct err *err, enum vm_update_way way)
{
    return way == VM_UPDATE_BY_ACTION && err_kind(err) == ERR_DENIED &&
           strcasestr(err_message(err), "/attachDetachDataDisks/action");
}

static struct err *send(struct task *self, struct arm_client *arm, const char *vm_id,
                        const struct vm_update *update, enum vm_update_way way)
{
    return way == VM_UPDATE_BY_ACTION ? by_action(self, arm, vm_id, update)
                                      : by_list(self, arm, vm_id, update, way);
}

struct err *vm_update_send(struct task *self, struct arm_client *arm, const char *vm_id,
                           const struct vm_update *update, enum vm_update_way *io_way)
{
    if (update->n_attach + update->n_detach == 0)
        return again(self, arm, vm_id, update);
    for (enum vm_update_way way = *io_way;;) {
        struct err *err = send(self, arm, vm_id, update, way);
        bool lacking = err && is_lacking(err, way);

        if (!err || (!lacking && !is_denied(err, way)))
            return err;
        err_free(err);
        metric_add(&METRIC_AZURE_RETRIES, 1, arm_kind_name(ARM_VM_UPDATE), "other_way");
        way = (enum vm_update_way)(way + 1);
        if (lacking && *io_way < way) /* nobody else has found out meanwhile */
            *io_way = way;
    }
}
