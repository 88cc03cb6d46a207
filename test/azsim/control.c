#include "test/azsim/control.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "test/azsim/behaviour.h"
#include "test/azsim/model/attachment.h"
#include "test/azsim/model/snapshot.h"

enum { DEFAULT_ENTRIES = 1000 };

/* ---- looking ---- */

static json_t *attachment_json(const struct attachment *attachment, const char *what,
                               const char *name)
{
    return json_pack("{s:s, s:i}", what, name, "lun", (int)attachment->lun);
}

static json_t *disk_view(const struct disk *disk)
{
    json_t *attached = json_array(), *attaching = json_array();

    LIST_FOREACH(&disk->attachments, link) {
        const struct attachment *attachment = ATTACHMENT_OF_DISK(link);

        json_array_append_new(attachment->attached ? attached : attaching,
                              attachment_json(attachment, "vm", attachment->vm->spec.name));
    }
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:s, s:s, s:s, s:o, s:o}",
                     "name", disk->name, "id", disk->id, "resourceGroup", disk->group->name,
                     "location", disk_location(disk), "sku", disk->spec.sku->name, "sizeGiB",
                     (json_int_t)disk->spec.size_gib, "iops", (json_int_t)disk->spec.iops, "mbps",
                     (json_int_t)disk->spec.mbps, "maxShares", (json_int_t)disk->spec.max_shares,
                     "zone", disk->spec.zone, "state", disk_state_name(disk_state(disk)),
                     "provisioningState", provisioning_name(disk->provisioning), "attachedTo",
                     attached, "attachingTo", attaching);
}

static void get_disks(struct visit *visit)
{
    json_t *list = json_array();

    HASH_FOREACH(visit->model->disks, disk) {
        json_array_append_new(list, disk_view(disk));
    }
    visit_answer(visit, 200, json_pack("{s:o}", "disks", list));
}

static void get_snapshots(struct visit *visit)
{
    json_t *list = json_array();

    HASH_FOREACH(visit->model->snapshots, snapshot) {
        json_array_append_new(
            list,
            json_pack("{s:s, s:s, s:s, s:s, s:s, s:b, s:I, s:f, s:s}", "name", snapshot->name, "id",
                      snapshot->id, "resourceGroup", snapshot->group->name, "location",
                      snapshot_location(snapshot), "source",
                      resource_text(snapshot->body, "properties.creationData.sourceResourceId", ""),
                      "incremental", snapshot->incremental, "sizeGiB",
                      (json_int_t)snapshot->size_gib, "completionPercent",
                      copy_percent(&snapshot->copy, model_now_us(visit->model)),
                      "provisioningState", provisioning_name(snapshot->provisioning)));
    }
    visit_answer(visit, 200, json_pack("{s:o}", "snapshots", list));
}

static json_t *vm_view(const struct vm *vm)
{
    json_t *json = vm_spec_json(&vm->spec);
    json_t *wanted = json_array(), *attached = json_array();

    for (size_t i = 0; i < vm->data_disks.n; i++)
        json_array_append_new(wanted,
                              json_pack("{s:s, s:i, s:b}", "disk",
                                        resource_text(vm->data_disks.items[i].entry, "name", ""),
                                        "lun", (int)vm->data_disks.items[i].lun, "toBeDetached",
                                        vm->data_disks.items[i].to_be_detached));
    LIST_FOREACH(&vm->attachments, link) {
        const struct attachment *attachment = ATTACHMENT_OF_VM(link);

        if (attachment->attached)
            json_array_append_new(attached,
                                  attachment_json(attachment, "disk", attachment->disk->name));
    }
    json_object_set_new(json, "id", json_string(vm->id));
    json_object_set_new(json, "maxDataDisks", json_integer(vm->size->max_data_disks));
    json_object_set_new(json, "power", json_string(power_name(vm->power)));
    json_object_set_new(json, "provisioningState",
                        json_string(provisioning_name(vm->provisioning)));
    json_object_set_new(json, "wanted", wanted);
    json_object_set_new(json, "attached", attached);
    if (vm->failure)
        json_object_set_new(json, "failure", json_string(vm->failure));
    return json;
}

static void get_vms(struct visit *visit)
{
    json_t *list = json_array();

    HASH_FOREACH(visit->model->vms, vm) {
        json_array_append_new(list, vm_view(vm));
    }
    visit_answer(visit, 200, json_pack("{s:o}", "vms", list));
}

/* Nothing is left when there is no disk, nobody wants one, and nothing is under way. */
static void get_summary(struct visit *visit)
{
    unsigned wanted = 0, attachments = 0, operations = 0;

    HASH_FOREACH(visit->model->vms, vm) {
        wanted += (unsigned)vm->data_disks.n;
        LIST_FOREACH(&vm->attachments, link) {
            attachments += ATTACHMENT_OF_VM(link)->attached;
        }
    }
    HASH_FOREACH(visit->model->operations, operation) {
        operations += operation->status == OPERATION_IN_PROGRESS;
    }
    unsigned disks = HASH_COUNT(visit->model->disks);
    unsigned snapshots = HASH_COUNT(visit->model->snapshots);
    visit_answer(visit, 200,
                 json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:I, s:b}", "disks", (int)disks,
                           "snapshots", (int)snapshots, "vms", (int)HASH_COUNT(visit->model->vms),
                           "wantedDataDisks", (int)wanted, "attachments", (int)attachments,
                           "operationsInProgress", (int)operations, "requests",
                           (json_int_t)journal_last(visit->control->journal), "nothingLeft",
                           disks + snapshots + wanted + attachments + operations == 0));
}

static uint64_t number_argument(const struct visit *visit, const char *name, uint64_t fallback)
{
    const char *text = http_header_find(visit->call->arguments, visit->call->n_arguments, name);

    return text ? strtoull(text, NULL, 10) : fallback;
}

static void get_journal(struct visit *visit)
{
    http_reply_body(visit->reply, 200, "application/json",
                    journal_text(visit->control->journal, number_argument(visit, "after", 0),
                                 number_argument(visit, "limit", DEFAULT_ENTRIES)));
}

/* ---- VMs ---- */

static struct err *add_vm(const struct visit *visit, struct vm **ret)
{
    CLEANUP(json_decrefp) json_t *json = NULL;
    CLEANUP(vm_spec_finip) struct vm_spec spec = {0};
    struct group *group;

    TRY(visit_body(visit, &json));
    TRY(vm_spec_read(json, "vm", &spec));
    TRY(vm_group_for(visit->model, &spec, &group));
    return vm_add(visit->model, group, &spec, ret);
}

static void post_vm(struct visit *visit)
{
    struct vm *vm;
    struct err *err = add_vm(visit, &vm);

    if (err)
        visit_refuse(visit, err_kind(err) == ERR_EXISTS ? 409 : 400, err);
    else
        visit_answer(visit, 201, vm_view(vm));
}

static struct vm *find_vm(struct visit *visit)
{
    struct vm *vm = vm_find_by_name(visit->model, visit->name);

    if (!vm)
        visit_refuse(visit, 404, err_new(ERR_NOT_FOUND, "VM \"%s\" does not exist", visit->name));
    return vm;
}

static void get_vm(struct visit *visit)
{
    const struct vm *vm = find_vm(visit);

    if (vm)
        visit_answer(visit, 200, vm_view(vm));
}

static void delete_vm(struct visit *visit)
{
    struct vm *vm = find_vm(visit);

    if (!vm)
        return;
    vm_delete(vm);
    visit_answer(visit, 202, vm_view(vm));
}

static void post_power(struct visit *visit)
{
    static const struct {
        const char *verb;
        enum power power;
    } verbs[] = {{"start", POWER_RUNNING},
                 {"powerOff", POWER_STOPPED},
                 {"deallocate", POWER_DEALLOCATED},
                 {"hibernate", POWER_HIBERNATED}};
    struct vm *vm = find_vm(visit);

    for (size_t i = 0; vm && i < COUNT_OF(verbs); i++) {
        if (strcmp(verbs[i].verb, visit->verb) != 0)
            continue;
        vm_set_power(vm, verbs[i].power);
        visit_answer(visit, 200, vm_view(vm));
        return;
    }
    if (vm)
        visit_refuse(visit, 404,
                     err_new(ERR_NOT_FOUND,
                             "\"%s\" is not one of start, powerOff, deallocate and hibernate",
                             visit->verb));
}

/* ---- routes ---- */

static const struct {
    const char *method, *path; /* * stands for one word */
    void (*handle)(struct visit *visit);
} routes[] = {
    {"GET", "/azsim/summary", get_summary},
    {"GET", "/azsim/disks", get_disks},
    {"GET", "/azsim/snapshots", get_snapshots},
    {"GET", "/azsim/vms", get_vms},
    {"POST", "/azsim/vms", post_vm},
    {"GET", "/azsim/vms/*", get_vm},
    {"DELETE", "/azsim/vms/*", delete_vm},
    {"POST", "/azsim/vms/*/*", post_power},
    {"GET", "/azsim/latency", behaviour_get_latency},
    {"PATCH", "/azsim/latency", behaviour_patch_latency},
    {"GET", "/azsim/throttling", behaviour_get_throttling},
    {"PATCH", "/azsim/throttling", behaviour_patch_throttling},
    {"GET", "/azsim/faults", behaviour_get_faults},
    {"POST", "/azsim/faults", behaviour_post_fault},
    {"DELETE", "/azsim/faults", behaviour_delete_faults},
    {"DELETE", "/azsim/faults/*", behaviour_delete_fault},
    {"GET", "/azsim/settings", behaviour_get_settings},
    {"PATCH", "/azsim/settings", behaviour_patch_settings},
    {"GET", "/azsim/journal", get_journal},
};

static bool path_fits(const char *pattern, const char *path)
{
    for (; *pattern; pattern++) {
        if (*pattern != '*') {
            if (*path++ != *pattern)
                return false;
            continue;
        }
        size_t length = strcspn(path, "/");
        if (length == 0)
            return false;
        path += length;
    }
    return *path == '\0';
}

static bool is_admitted(const struct visit *visit)
{
    CLEANUP(freep) char *wanted = mem_printf("Bearer %s", visit->control->key);
    const char *given =
        http_header_find(visit->call->headers, visit->call->n_headers, "Authorization");

    return given && strlen(given) == strlen(wanted) &&
           CRYPTO_memcmp(given, wanted, strlen(wanted)) == 0;
}

/* The words behind /azsim/vms/. */
static void read_words(struct visit *visit)
{
    static const char prefix[] = "/azsim/vms/";
    const char *path = visit->call->path;
    bool is_vm = strncmp(path, prefix, strlen(prefix)) == 0;
    const char *name = is_vm ? path + strlen(prefix) : "";
    size_t length = strcspn(name, "/");

    visit->name = mem_strndup(name, length);
    visit->verb = mem_strdup(name[length] == '/' ? name + length + 1 : "");
}

static void handle(void *arg)
{
    struct visit *visit = arg;

    if (!is_admitted(visit)) {
        visit_refuse(
            visit, 401,
            err_new(ERR_DENIED, "the key in control.key of the state directory is required"));
        return;
    }
    for (size_t i = 0; i < COUNT_OF(routes); i++)
        if (strcmp(routes[i].method, visit->call->method) == 0 &&
            path_fits(routes[i].path, visit->call->path)) {
            routes[i].handle(visit);
            return;
        }
    visit_refuse(
        visit, 404,
        err_new(ERR_NOT_FOUND, "%s %s does not exist", visit->call->method, visit->call->path));
}

void control_handle(struct task *self, void *ctx, const struct http_call *call,
                    struct http_reply *reply)
{
    const struct control *control = ctx;
    struct visit visit = {
        .control = control, .model = arm_model(control->arm), .call = call, .reply = reply};

    read_words(&visit);
    loop_call(self, handle, &visit);
    free(visit.name);
    free(visit.verb);
}
