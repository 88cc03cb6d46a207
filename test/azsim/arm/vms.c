#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "test/azsim/arm/api_version.h"
#include "test/azsim/arm/handlers.h"

/* Since when an attach says more than disk and LUN. */
#define ATTACH_DETAILS_SINCE "2024-03-01"

/* ---- finding ---- */

/* An instance by its number below a uniform scale set. */
static struct refusal *find_instance(const struct exchange *exchange, struct vm **ret)
{
    const char *instance = exchange->match.instance;
    struct scale_set *set = scale_set_find_of_path(exchange);

    if (!set && strcmp(exchange->call->method, "GET") != 0)
        return refuse(PARENT_NOT_FOUND, exchange->match.name, exchange->match.group);
    if (!set)
        return refuse(RESOURCE_NOT_FOUND, "virtualMachineScaleSets", exchange->match.name,
                      exchange->match.group);
    if (!set->uniform)
        return refuse(SCALE_SET_IS_FLEXIBLE, set->name);
    if (instance[strspn(instance, "0123456789")])
        return refuse(INSTANCE_NOT_A_NUMBER);

    CLEANUP(freep) char *id = mem_printf("%s/virtualMachines/%s", set->id, instance);
    CLEANUP(freep) char *key = resource_key(id);
    *ret = vm_find(exchange->model, key);
    return *ret ? NULL : refuse(INSTANCE_NOT_ACTIVE, instance);
}

static struct refusal *find_by_name(const struct exchange *exchange, struct vm **ret)
{
    CLEANUP(freep)
    char *id = group_resource_id(exchange->group, "virtualMachines", exchange->match.name);
    CLEANUP(freep) char *key = resource_key(id);

    *ret = vm_find(exchange->model, key);
    return *ret ? NULL
                : refuse(RESOURCE_NOT_FOUND, "virtualMachines", exchange->match.name,
                         exchange->match.group);
}

struct refusal *vm_find_of_path(const struct exchange *exchange, struct vm **ret)
{
    return exchange->match.instance ? find_instance(exchange, ret) : find_by_name(exchange, ret);
}

struct vm *vm_of_path(struct exchange *exchange)
{
    struct vm *vm = NULL;
    struct refusal *refusal = vm_find_of_path(exchange, &vm);

    if (!refusal)
        exchange_note_vm(exchange, vm);
    else if (refusal->status == 404)
        answer_gateway(exchange, refusal);
    else
        answer_refusal(exchange, refusal);
    return vm;
}

/* ---- reading ---- */

static bool expands(const struct exchange *exchange, const char *what)
{
    const char *expand = exchange_argument(exchange, "$expand");

    return expand && strcasestr(expand, what);
}

static void answer_vm(struct exchange *exchange, int status, const struct vm *vm)
{
    CLEANUP(freep) char *etag = vm_etag(vm);
    json_t *json = vm_json(vm);

    if (expands(exchange, "instanceView"))
        json_object_set_new(json_object_get(json, "properties"), "instanceView",
                            vm_instance_view_json(vm));
    if (strcmp(exchange->api_version, ETAG_SINCE) >= 0)
        answer_header(exchange, "ETag", "%s", etag);
    answer(exchange, status, json);
}

void vms_get(struct exchange *exchange)
{
    const struct vm *vm = vm_of_path(exchange);

    if (vm)
        answer_vm(exchange, 200, vm);
}

void vms_instance_view(struct exchange *exchange)
{
    const struct vm *vm = vm_of_path(exchange);

    if (vm)
        answer(exchange, 200, vm_instance_view_json(vm));
}

void vms_sizes(struct exchange *exchange)
{
    if (vm_of_path(exchange))
        vm_sizes_list(exchange);
}

/* The scale set that a filter asks for, "'virtualMachineScaleSet/id' eq '/subscriptions/...'"; its
 * key. NULL: every VM. */
static char *filter_scale_set(const struct exchange *exchange)
{
    const char *filter = exchange_argument(exchange, "$filter");
    const char *value = filter && strcasestr(filter, "virtualMachineScaleSet/id")
                            ? strstr(filter, "'/subscriptions/")
                            : NULL;

    if (!value)
        return NULL;
    CLEANUP(freep) char *id = mem_strndup(value + 1, strcspn(value + 1, "'"));
    return resource_key(id);
}

/* Instances of uniform scale sets are listed with their scale set only. */
static bool is_listed(const struct exchange *exchange, const struct scale_set *set,
                      const char *filter, const struct vm *vm)
{
    if (set)
        return vm->scale_set == set;
    return !vm_is_instance(vm) && exchange_lists(exchange, vm->group) &&
           (!filter || (vm->scale_set && strcmp(vm->scale_set->key, filter) == 0));
}

/* All VMs, or those of a scale set. */
static void list(struct exchange *exchange, const struct scale_set *set)
{
    uint64_t after = exchange_page_after(exchange), last = 0, next = 0;
    CLEANUP(freep) char *filter = filter_scale_set(exchange);
    bool views = expands(exchange, "instanceView");
    json_t *items = json_array();

    HASH_FOREACH(exchange->model->vms, vm) {
        if (vm->sequence <= after || !is_listed(exchange, set, filter, vm))
            continue;
        if (json_array_size(items) == exchange->model->settings.page_size) {
            next = last;
            break;
        }
        json_t *json = vm_json(vm);
        if (views)
            json_object_set_new(json_object_get(json, "properties"), "instanceView",
                                vm_instance_view_json(vm));
        json_array_append_new(items, json);
        last = vm->sequence;
    }
    answer_page(exchange, items, next);
}

void vms_list(struct exchange *exchange)
{
    list(exchange, NULL);
}

void vms_list_of_scale_set(struct exchange *exchange)
{
    const struct scale_set *set = scale_set_of_path(exchange);

    if (set)
        list(exchange, set);
}

/* ---- changing ---- */

/* The etag as a header says it: with quotes, without, or any. */
static bool etag_is(const struct vm *vm, const char *header)
{
    CLEANUP(freep) char *etag = vm_etag(vm);
    CLEANUP(freep) char *bare = mem_printf("%u", vm->etag);

    return strcmp(header, "*") == 0 || strcmp(header, etag) == 0 || strcmp(header, bare) == 0;
}

static struct refusal *check_preconditions(const struct exchange *exchange, const struct vm *vm)
{
    const char *match = exchange_header(exchange, "If-Match");
    const char *none_match = exchange_header(exchange, "If-None-Match");
    CLEANUP(freep) char *etag = vm_etag(vm);

    if (strcmp(exchange->api_version, ETAG_SINCE) < 0)
        return NULL;
    if (match && !etag_is(vm, match))
        return refuse(ETAG_DIFFERS, match, etag);
    if (none_match && etag_is(vm, none_match))
        return refuse(VM_EXISTS, none_match);
    return NULL;
}

static struct refusal *change(struct exchange *exchange, struct vm *vm, const json_t *body,
                              struct operation **ret)
{
    CLEANUP(data_disks_finip) struct data_disks before = {0};

    REQUIRE(check_preconditions(exchange, vm));
    REQUIRE(api_version_check(exchange,
                              exchange->match.instance
                                  ? "Microsoft.Compute/virtualMachineScaleSets/virtualMachines"
                                  : "Microsoft.Compute/virtualMachines",
                              body));
    data_disks_copy(&before, &vm->data_disks);
    REQUIRE(vm_patch(vm, body, ret));
    exchange_note_disks(exchange, &before, &vm->data_disks);
    return NULL;
}

/* PUT of a VM that exists leaves alone what it does not mention, as PATCH does. */
void vms_patch(struct exchange *exchange)
{
    struct vm *vm = vm_of_path(exchange);
    struct operation *operation;
    json_t *body;

    if (!vm || !exchange_body(exchange, &body))
        return;
    struct refusal *refusal = change(exchange, vm, body, &operation);
    json_decref(body);
    if (refusal) {
        answer_refusal(exchange, refusal);
        return;
    }
    if (operation)
        operation_headers(exchange, operation, false);
    answer_vm(exchange, 200, vm);
}

/* VMs come from the configuration; the subscription has no cores left for one more. Instances are
 * made by their scale set only. */
void vms_put(struct exchange *exchange)
{
    CLEANUP(refusal_freep) struct refusal *refusal = NULL;
    struct vm *vm = NULL;

    if (!exchange->match.instance)
        refusal = find_by_name(exchange, &vm);
    if (!refusal)
        vms_patch(exchange);
    else
        answer_refusal(exchange, refuse(QUOTA_EXCEEDED, "Total Regional Cores",
                                        exchange->model->location, 0LL, 0LL));
}

/* Refuses members that this api-version does not know. */
static struct refusal *check_members(const struct exchange *exchange, const json_t *body)
{
    static const char *const members[] = {"caching", "deleteOption", "diskEncryptionSet",
                                          "writeAcceleratorEnabled"};
    size_t i;
    json_t *entry;

    if (strcmp(exchange->api_version, ATTACH_DETAILS_SINCE) >= 0)
        return NULL;
    json_array_foreach(resource_get(body, "dataDisksToAttach"), i, entry)
        for (size_t j = 0; j < COUNT_OF(members); j++)
            if (json_object_get(entry, members[j]))
                return refuse(400, "BadRequest", NULL,
                              "Could not find member '%s' on object of type 'DataDisksToAttach'. "
                              "Path 'dataDisksToAttach[%zu].%s'.",
                              members[j], i, members[j]);
    return NULL;
}

static struct refusal *attach_detach(struct exchange *exchange, struct vm *vm, const json_t *body,
                                     struct operation **ret)
{
    CLEANUP(data_disks_finip) struct data_disks before = {0};

    REQUIRE(check_members(exchange, body));
    data_disks_copy(&before, &vm->data_disks);
    REQUIRE(vm_attach_detach(vm, body, ret));
    exchange_note_disks(exchange, &before, &vm->data_disks);
    return NULL;
}

void vms_attach_detach(struct exchange *exchange)
{
    struct vm *vm = vm_of_path(exchange);
    struct operation *operation;
    json_t *body;

    if (!vm || !exchange_body(exchange, &body))
        return;
    struct refusal *refusal = attach_detach(exchange, vm, body, &operation);
    json_decref(body);
    if (refusal) {
        answer_refusal(exchange, refusal);
        return;
    }
    operation_headers(exchange, operation, true);
    answer(exchange, 202, NULL);
}
