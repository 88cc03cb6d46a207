#include "test/unit/test/azsim/model/world.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "lib/base/duration.h"
#include "test/azsim/model/attachment.h"
#include "test/azsim/model/record.h"
#include "test/azsim/model/snapshot.h"
#include "test/unit/expect.h"

enum { MAX_WORDS = 16 };

json_t *json_of(const char *text)
{
    CLEANUP(freep) char *proper = mem_strdup(text);
    json_error_t error;

    for (char *c = proper; *c; c++)
        if (*c == '\'')
            *c = '"';
    json_t *json = json_loads(proper, 0, &error);
    if (!json)
        fail_msg("%s: %s", text, error.text);
    return json;
}

/* ---- devices that remember ---- */

static struct err *devices_attach(void *ctx, const struct vm *vm, unsigned lun,
                                  const struct disk *disk)
{
    struct world *world = ctx;

    if (world->broken && strcmp(world->broken, disk->name) == 0)
        return err_new(ERR_INTERNAL, "the host is on fire");
    buffer_printf(&world->devices, "+%s@%s:%u ", disk->name, vm->spec.name, lun);
    return NULL;
}

static void devices_detach(void *ctx, const struct vm *vm, unsigned lun, const struct disk *disk)
{
    struct world *world = ctx;

    buffer_printf(&world->devices, "-%s@%s:%u ", disk->name, vm->spec.name, lun);
}

static void devices_resize(void *ctx, const struct disk *disk)
{
    struct world *world = ctx;

    buffer_printf(&world->devices, "=%s:%lld ", disk->name, (long long)disk->spec.size_gib);
}

/* Whose content that is. */
static const char *owner_of(const struct world *world, const char *unique_id)
{
    HASH_FOREACH(world->model->disks, disk) {
        if (strcmp(disk->unique_id, unique_id) == 0)
            return disk->name;
    }
    HASH_FOREACH(world->model->snapshots, snapshot) {
        if (strcmp(snapshot->unique_id, unique_id) == 0)
            return snapshot->name;
    }
    fail_msg("%s is the content of nothing", unique_id);
    return NULL;
}

static struct err *devices_copy(void *ctx, const char *from, const char *to)
{
    struct world *world = ctx;

    if (world->broken && strcmp(world->broken, owner_of(world, from)) == 0)
        return err_new(ERR_INTERNAL, "the host is on fire");
    buffer_printf(&world->devices, "%s>%s ", owner_of(world, from), owner_of(world, to));
    return NULL;
}

static void devices_remove(void *ctx, const char *unique_id)
{
    struct world *world = ctx;

    buffer_printf(&world->devices, "x%s ", owner_of(world, unique_id));
}

static void devices_start(void *ctx, const struct vm *vm)
{
    struct world *world = ctx;

    buffer_printf(&world->devices, "^%s ", vm->spec.name);
}

static const struct model_devices devices = {devices_attach, devices_detach, devices_start,
                                             devices_resize, devices_copy,   devices_remove};

/* ---- the world ---- */

static void on_commit(void *ctx, json_t *changes)
{
    struct world *world = ctx;

    records_apply(world->snapshot, changes);
}

static struct model *make_model(struct world *world)
{
    const struct model_config config = {
        .loop = world->loop,
        .tenant_id = "11111111-1111-1111-1111-111111111111",
        .subscription_id = "22222222-2222-2222-2222-222222222222",
        .location = "eastus",
        .devices = &devices,
        .devices_ctx = world,
        .commit = on_commit,
        .commit_ctx = world,
    };
    struct model *model = model_new(&config);

    model_add_group(model, "rg");
    model_add_group(model, "Other");
    assert_ok(latencies_set(&model->latencies,
                            "create=1s,update=2s,delete=1s,attach=10s,detach=5s,power=3s,"
                            "snapshot=1s,copy=100s,get=0,accept=0"));
    return model;
}

struct world *world_new(void)
{
    static const struct {
        const char *name, *size, *zone, *scale_set, *instance_id;
    } vms[] = {
        {"vm1", "Standard_D4s_v5", "1", NULL, NULL},
        {"vm2", "Standard_D4s_v5", "1", NULL, NULL},
        {"far", "Standard_D4s_v5", "2", NULL, NULL},
        {"regional", "Standard_D4s_v5", "", NULL, NULL},
        {"small", "Standard_B1s", "1", NULL, NULL},
        {"plain", "Standard_D2_v3", "1", NULL, NULL},
        {"ultra", "Standard_D4s_v5", "1", NULL, NULL},
        {"uniform", "Standard_D4s_v5", "1", "pool", "7"},
        {"flexible", "Standard_D4s_v5", "1", "flex", NULL},
    };
    struct world *world = mem_alloc(sizeof *world);

    world->loop = loop_new_virtual(1);
    world->snapshot = json_object();
    buffer_init(&world->devices, 4096);
    world->model = make_model(world);
    for (size_t i = 0; i < COUNT_OF(vms); i++) {
        struct vm_spec spec = {.name = mem_strdup(vms[i].name),
                               .size = vm_size_find(vms[i].size),
                               .zone = mem_strdup(vms[i].zone),
                               .identity = true,
                               .scale_set = mem_strdup(vms[i].scale_set),
                               .instance_id = mem_strdup(vms[i].instance_id),
                               .ultra_disks = strcmp(vms[i].name, "ultra") == 0};
        struct vm *vm;

        assert_ok(vm_add(world->model, world->model->groups[0], &spec, &vm));
    }
    return world;
}

void world_free(struct world *world)
{
    model_free(world->model);
    loop_free(world->loop);
    json_decref(world->snapshot);
    buffer_fini(&world->devices);
    for (size_t i = 0; i < world->n_operations; i++)
        free(world->operations[i]);
    free(world->broken);
    free(world);
}

void world_forget_operations(struct world *world)
{
    while (world->n_operations > 0)
        free(world->operations[--world->n_operations]);
}

struct model *world_model(struct world *world)
{
    return world->model;
}

struct loop *world_loop(struct world *world)
{
    return world->loop;
}

/* ---- things by name ---- */

static struct vm *vm_named(struct world *world, const char *name)
{
    struct vm *vm = vm_find_by_name(world->model, name);

    if (!vm)
        fail_msg("no VM %s", name);
    return vm;
}

static char *disk_id(struct world *world, const char *name)
{
    return group_resource_id(world->model->groups[0], "disks", name);
}

struct disk *find_disk(struct world *world, const char *name)
{
    CLEANUP(freep) char *id = disk_id(world, name);
    CLEANUP(freep) char *key = resource_key(id);

    return disk_find(world->model, key);
}

struct refusal *note_operation(struct world *world, struct refusal *refusal,
                               const struct operation *operation)
{
    if (!refusal && operation)
        world->operations[world->n_operations++] = mem_strdup(operation->id);
    return refusal;
}

int number_of(const char *word)
{
    return (int)strtol(word, NULL, 10);
}

/* "name@lun", with marks behind it cut off. */
static char *take_name(const char *word, int *ret_lun)
{
    char *name = mem_strndup(word, strcspn(word, "@-!"));

    *ret_lun = strchr(word, '@') ? number_of(strchr(word, '@') + 1) : -1;
    return name;
}

/* ---- commands ---- */

const char *word_or(char **words, size_t n, size_t i, const char *fallback)
{
    return i < n && strcmp(words[i], "-") != 0 ? words[i] : fallback;
}

static struct refusal *do_disk(struct world *world, char **words, size_t n)
{
    const char *zone = word_or(words, n, 5, strstr(word_or(words, n, 4, ""), "ZRS") ? "" : "1");
    json_t *body =
        json_pack("{s:s, s:{s:s}, s:{s:{s:s}, s:i, s:i}}", "location", "eastus", "sku", "name",
                  word_or(words, n, 4, "Premium_LRS"), "properties", "creationData", "createOption",
                  "Empty", "diskSizeGB", number_of(word_or(words, n, 2, "10")), "maxShares",
                  number_of(word_or(words, n, 3, "1")));
    struct operation *operation = NULL;
    struct disk *disk;

    if (strcmp(zone, "none") != 0 && *zone)
        json_object_set_new(body, "zones", json_pack("[s]", zone));
    struct refusal *refusal =
        disk_put(world->model, world->model->groups[0], words[1], body, &disk, &operation);
    json_decref(body);
    note_operation(world, refusal, operation);
    if (!refusal)
        loop_advance(world->loop, 1000);
    return refusal;
}

static struct refusal *do_delete(struct world *world, char **words, size_t n)
{
    struct operation *operation = NULL;
    struct refusal *refusal = disk_delete(find_disk(world, words[1]), &operation);

    (void)n;
    return note_operation(world, refusal, operation);
}

static struct refusal *attach_detach(struct world *world, char **words, size_t n, bool attach)
{
    json_t *list = json_array();
    json_t *body = json_pack("{s:o}", attach ? "dataDisksToAttach" : "dataDisksToDetach", list);
    struct operation *operation = NULL;

    for (size_t i = 2; i < n; i++) {
        int lun;
        CLEANUP(freep) char *name = take_name(words[i], &lun);
        CLEANUP(freep) char *id = disk_id(world, name);
        json_t *entry = json_pack("{s:s}", "diskId", id);

        if (lun >= 0)
            json_object_set_new(entry, "lun", json_integer(lun));
        if (strchr(words[i], '!'))
            json_object_set_new(entry, "detachOption", json_string("ForceDetach"));
        json_array_append_new(list, entry);
    }
    struct refusal *refusal = vm_attach_detach(vm_named(world, words[1]), body, &operation);
    json_decref(body);
    return note_operation(world, refusal, operation);
}

static struct refusal *do_attach(struct world *world, char **words, size_t n)
{
    return attach_detach(world, words, n, true);
}

static struct refusal *do_detach(struct world *world, char **words, size_t n)
{
    return attach_detach(world, words, n, false);
}

static struct refusal *do_list(struct world *world, char **words, size_t n)
{
    json_t *list = json_array();
    json_t *body = json_pack("{s:{s:{s:o}}}", "properties", "storageProfile", "dataDisks", list);
    struct operation *operation = NULL;

    for (size_t i = 2; i < n; i++) {
        int lun;
        CLEANUP(freep) char *name = take_name(words[i], &lun);
        CLEANUP(freep) char *id = disk_id(world, name);

        json_array_append_new(list, json_pack("{s:i, s:s, s:s, s:{s:s}, s:b}", "lun", lun, "name",
                                              name, "createOption", "Attach", "managedDisk", "id",
                                              id, "toBeDetached", strchr(words[i], '-') != NULL));
    }
    struct refusal *refusal = vm_patch(vm_named(world, words[1]), body, &operation);
    json_decref(body);
    return note_operation(world, refusal, operation);
}

static struct refusal *do_touch(struct world *world, char **words, size_t n)
{
    json_t *nothing = json_object();
    struct operation *operation = NULL;
    struct refusal *refusal = vm_patch(vm_named(world, words[1]), nothing, &operation);

    (void)n;
    json_decref(nothing);
    return note_operation(world, refusal, operation);
}

static struct refusal *do_remove(struct world *world, char **words, size_t n)
{
    (void)n;
    return note_operation(world, NULL, vm_delete(vm_named(world, words[1])));
}

static struct refusal *do_power(struct world *world, char **words, size_t n)
{
    enum power power;

    (void)n;
    assert_true(power_from_name(words[2], &power));
    vm_set_power(vm_named(world, words[1]), power);
    return NULL;
}

static struct refusal *do_wait(struct world *world, char **words, size_t n)
{
    uint64_t ms;

    (void)n;
    assert_ok(duration_parse(words[1], &ms));
    loop_advance(world->loop, ms);
    return NULL;
}

static struct refusal *do_stop(struct world *world, char **words, size_t n)
{
    (void)words, (void)n;
    model_free(TAKE_PTR(world->model));
    return NULL;
}

static struct refusal *do_start(struct world *world, char **words, size_t n)
{
    (void)words, (void)n;
    world->model = make_model(world);
    assert_ok(records_restore(world->model, world->snapshot));
    loop_advance(world->loop, 0);
    return NULL;
}

static struct refusal *do_break(struct world *world, char **words, size_t n)
{
    (void)n;
    free(world->broken);
    world->broken = mem_strdup(words[1]);
    return NULL;
}

static struct refusal *do_mend(struct world *world, char **words, size_t n)
{
    (void)words, (void)n;
    free(TAKE_PTR(world->broken));
    return NULL;
}

static struct refusal *do_act(struct world *world, char **words, size_t n)
{
    struct operation *operation = NULL;
    enum operation_kind kind;

    (void)n;
    assert_true(operation_kind_from_name(words[2], &kind));
    return note_operation(world, vm_act(vm_named(world, words[1]), kind, &operation), operation);
}

static struct refusal *do_latency(struct world *world, char **words, size_t n)
{
    (void)n;
    assert_ok(latencies_set(&world->model->latencies, words[1]));
    return NULL;
}

static struct refusal *do_setting(struct world *world, char **words, size_t n)
{
    json_t *json = json_pack("{s:s}", words[1], words[2]);

    (void)n;
    assert_ok(settings_change(&world->model->settings, json));
    json_decref(json);
    return NULL;
}

/* ---- looks ---- */

static void join(struct buffer *text, char **words, size_t from, size_t n)
{
    for (size_t i = from; i < n; i++)
        buffer_printf(text, "%s ", words[i]);
}

void expect_words(const char *found, char **words, size_t from, size_t n)
{
    struct buffer expected = {.limit = 4096};

    join(&expected, words, from, n);
    bool same = strcmp(found, expected.data ? expected.data : "") == 0;
    if (!same)
        print_error("%s %s: expected %s, found %s\n", words[0], words[1],
                    expected.data ? expected.data : "nothing", *found ? found : "nothing");
    buffer_fini(&expected);
    if (!same)
        fail();
}

static struct refusal *look_model(struct world *world, char **words, size_t n)
{
    const struct vm *vm = vm_named(world, words[1]);
    struct buffer found = {.limit = 4096};

    for (size_t i = 0; i < vm->data_disks.n; i++) {
        const struct data_disk *item = &vm->data_disks.items[i];

        buffer_printf(&found, "%s@%u%s ", resource_text(item->entry, "name", ""), item->lun,
                      item->to_be_detached ? "-" : "");
    }
    expect_words(found.data ? found.data : "", words, 2, n);
    buffer_fini(&found);
    return NULL;
}

static struct refusal *look_actual(struct world *world, char **words, size_t n)
{
    const struct vm *vm = vm_named(world, words[1]);
    struct buffer found = {.limit = 4096};

    LIST_FOREACH(&vm->attachments, link) {
        if (ATTACHMENT_OF_VM(link)->attached)
            buffer_printf(&found, "%s@%u ", ATTACHMENT_OF_VM(link)->disk->name,
                          ATTACHMENT_OF_VM(link)->lun);
    }
    expect_words(found.data ? found.data : "", words, 2, n);
    buffer_fini(&found);
    return NULL;
}

static struct refusal *look_devices(struct world *world, char **words, size_t n)
{
    expect_words(world->devices.data ? world->devices.data : "", words, 1, n);
    buffer_fini(&world->devices);
    return NULL;
}

static struct refusal *look_state(struct world *world, char **words, size_t n)
{
    const struct disk *disk = find_disk(world, words[1]);
    struct buffer found = {.limit = 4096};

    buffer_printf(&found, "%s ", disk ? disk_state_name(disk_state(disk)) : "gone");
    if (disk)
        LIST_FOREACH(&disk->attachments, link) {
            if (ATTACHMENT_OF_DISK(link)->attached)
                buffer_printf(&found, "%s ", ATTACHMENT_OF_DISK(link)->vm->spec.name);
        }
    expect_words(found.data, words, 2, n);
    buffer_fini(&found);
    return NULL;
}

static struct refusal *look_shown(struct world *world, char **words, size_t n)
{
    const struct ownership *shown = &find_disk(world, words[1])->shown;
    struct buffer found = {.limit = 4096};
    size_t i;
    json_t *vm;

    buffer_printf(&found, "%s ", disk_state_name(shown->state));
    json_array_foreach(shown->vms, i, vm)
        buffer_printf(&found, "%s ", strrchr(json_string_value(vm), '/') + 1);
    expect_words(found.data, words, 2, n);
    buffer_fini(&found);
    return NULL;
}

static struct refusal *look_runs(struct world *world, char **words, size_t n)
{
    CLEANUP(freep) char *found = mem_printf("%s ", vm_power_name(vm_named(world, words[1])));

    expect_words(found, words, 2, n);
    return NULL;
}

static struct refusal *look_vm(struct world *world, char **words, size_t n)
{
    const struct vm *vm = vm_find_by_name(world->model, words[1]);
    struct buffer found = {.limit = 4096};

    buffer_printf(&found, "%s ", vm ? provisioning_name(vm->provisioning) : "gone");
    if (vm && vm->failure)
        buffer_printf(&found, "%s ", vm->failure);
    expect_words(found.data, words, 2, n);
    buffer_fini(&found);
    return NULL;
}

static struct refusal *look_operation(struct world *world, char **words, size_t n)
{
    size_t i = (size_t)number_of(words[1]);

    assert_in_range(i, 1, world->n_operations);
    const struct operation *operation = operation_find(world->model, world->operations[i - 1]);
    struct buffer found = {.limit = 4096};
    buffer_printf(&found, "%s ", operation ? operation_status_name(operation->status) : "gone");
    if (operation && operation->refusal)
        buffer_printf(&found, "%s ", operation->refusal->code);
    expect_words(found.data, words, 2, n);
    buffer_fini(&found);
    return NULL;
}

/* ---- the interpreter ---- */

static const struct {
    const char *name;
    word_fn *run;
} commands[] = {
    {"disk", do_disk},        {"delete", do_delete},     {"attach", do_attach},
    {"detach", do_detach},    {"list", do_list},         {"touch", do_touch},
    {"remove", do_remove},    {"power", do_power},       {"wait", do_wait},
    {"stop", do_stop},        {"start", do_start},       {"break", do_break},
    {"mend", do_mend},        {"act", do_act},           {"latency", do_latency},
    {"setting", do_setting},  {"snapshot", do_snapshot}, {"restore", do_restore},
    {"grow", do_grow},        {"forget", do_forget},     {"model", look_model},
    {"actual", look_actual},  {"devices", look_devices}, {"state", look_state},
    {"shown", look_shown},    {"runs", look_runs},       {"kept", look_snapshot},
    {"copied", look_percent}, {"vm", look_vm},           {"operation", look_operation},
};

static void run_line(struct world *world, char *line)
{
    char *arrow = strstr(line, "->"), *words[MAX_WORDS], *position = NULL;
    char *expected = NULL;
    size_t n = 0;

    if (arrow) {
        *arrow = '\0';
        expected = strtok_r(arrow + 2, " ", &position);
    }
    for (char *word = strtok_r(line, " ", &position); word && n < MAX_WORDS;
         word = strtok_r(NULL, " ", &position))
        words[n++] = word;
    for (size_t i = 0; n > 0 && i < COUNT_OF(commands); i++) {
        if (strcmp(commands[i].name, words[0]) != 0)
            continue;
        CLEANUP(refusal_freep) struct refusal *refusal = commands[i].run(world, words, n);
        if (strcmp(refusal ? refusal->code : "", expected ? expected : "") != 0)
            fail_msg("%s %s: refused with %s: %s", words[0], n > 1 ? words[1] : "",
                     refusal ? refusal->code : "nothing", refusal ? refusal->message : "");
        return;
    }
    if (n > 0)
        fail_msg("no command %s", words[0]);
}

void world_run(struct world *world, const char *script)
{
    CLEANUP(freep) char *copy = mem_strdup(script);
    char *position = NULL;

    for (char *line = strtok_r(copy, "\n", &position); line;
         line = strtok_r(NULL, "\n", &position)) {
        run_line(world, line);
    }
}
