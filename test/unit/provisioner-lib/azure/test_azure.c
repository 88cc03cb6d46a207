/* The driver's client of Azure against the simulated one, in virtual time: what it asks for, how
 * often, and what comes of it when something goes wrong. */
#include "provisioner-lib/azure/azure.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "test/azsim/model/attachment.h"
#include "test/azsim/model/vm.h"
#include "test/unit/expect.h"
#include "test/unit/test/azsim/arm/azure.h"

#define VM(name)                                                                                   \
    "/subscriptions/" SUBSCRIPTION "/resourceGroups/rg/providers/Microsoft.Compute/"               \
    "virtualMachines/" name
#define DISK(name)                                                                                 \
    "/subscriptions/" SUBSCRIPTION "/resourceGroups/rg/providers/Microsoft.Compute/disks/" name

/* A transport that can lose the answer to a request that changes something, or lose the request. */
struct lossy {
    struct http_transport transport;
    struct http_transport *inner;
    int lose_answers, lose_requests; /* so many more */
};

struct world {
    struct azure *azure;
    struct lossy lossy;
    struct azure_config config;
    struct task_group group;
    struct cloud *cloud;
};

static struct err *lossy_exchange(struct http_transport *transport, struct task *self,
                                  const struct http_request *request, struct http_response *ret)
{
    struct lossy *lossy = CONTAINER_OF(transport, struct lossy, transport);
    bool changes =
        request->method && strcmp(request->method, "GET") != 0 && !strstr(request->url, "oauth2");

    if (changes && lossy->lose_requests > 0) {
        lossy->lose_requests--;
        return err_new(ERR_UNAVAILABLE, "connection refused");
    }
    TRY(http_exchange(self, lossy->inner, request, ret));
    if (changes && lossy->lose_answers > 0) {
        lossy->lose_answers--;
        http_response_fini(ret);
        return err_new(ERR_UNAVAILABLE, "connection reset");
    }
    return NULL;
}

static struct world *world_new(void)
{
    static const char text[] =
        "{tenantId: '" TENANT "', subscriptionId: '" SUBSCRIPTION "', resourceGroup: rg, "
        "location: eastus, aadClientId: '" CLIENT "', aadClientSecret: 's3cr+t&='}";
    struct world *world = mem_alloc(sizeof *world);

    world->azure = azure_new(NULL);
    world->lossy = (struct lossy){.transport = {.exchange = lossy_exchange},
                                  .inner = arm_transport_http(world->azure->transport)};
    assert_ok(azure_config_parse(text, strlen(text), &world->config));
    group_init(&world->group, world->azure->loop);
    world->cloud =
        azure_cloud_new(&world->group, &world->config, &world->lossy.transport, world->lossy.inner);
    json_array_clear(world->azure->records);
    return world;
}

static void close_group(struct task *self, void *arg)
{
    struct world *world = arg;

    group_close(self, &world->group);
}

static void world_free(struct world *world)
{
    loop_spawn(world->azure->loop, "close", close_group, world);
    loop_advance(world->azure->loop, 0);
    azure_cloud_free(world->cloud);
    azure_config_fini(&world->config);
    azure_free(world->azure);
    free(world);
}

/* ---- what is asked of the cloud ---- */

enum wish_kind { CREATE, DELETE, ATTACH, DETACH, REPAIR, LOOK };

struct wish {
    struct world *world;
    enum wish_kind kind;
    const char *vm;
    const char *disk;
    int lun;
    int max_shares;
    struct err *err;
    bool ended;
    struct cloud_instance instance; /* of LOOK */
};

static struct err *create(struct task *self, struct wish *wish)
{
    struct volume_parameters parameters = {.sku = "Premium_LRS",
                                           .max_shares = wish->max_shares ? wish->max_shares : 1};
    struct cloud_disk_spec spec = {
        .name = wish->disk, .size_gib = 10, .zone = "eastus-1", .parameters = &parameters};
    CLEANUP(cloud_disk_fini) struct cloud_disk disk = {0};
    struct cloud *cloud = wish->world->cloud;

    return cloud->ops->disk_create(self, cloud, &spec, &disk);
}

static void run_wish(struct task *self, void *arg)
{
    struct wish *wish = arg;
    struct cloud *cloud = wish->world->cloud;
    CLEANUP(freep) char *disk = wish->disk ? mem_printf(DISK("%s"), wish->disk) : NULL;

    switch (wish->kind) {
    case CREATE:
        wish->err = create(self, wish);
        break;
    case DELETE:
        wish->err = cloud->ops->disk_delete(self, cloud, disk);
        break;
    case ATTACH:
        wish->err = cloud->ops->disk_attach(self, cloud, wish->vm, disk, wish->lun, CACHING_NONE);
        break;
    case DETACH:
        wish->err = cloud->ops->disk_detach(self, cloud, wish->vm, disk);
        break;
    case REPAIR:
        wish->err = cloud->ops->instance_repair(self, cloud, wish->vm);
        break;
    case LOOK:
        wish->err = cloud->ops->instance_get(self, cloud, wish->vm, 60 * 1000, &wish->instance);
        break;
    }
    wish->ended = true;
}

static void begin(struct world *world, struct wish *wish)
{
    wish->world = world;
    loop_spawn(world->azure->loop, "wish", run_wish, wish);
}

/* Until all of them have ended; at most two minutes. */
static void finish(struct world *world, struct wish *wishes, size_t n)
{
    size_t ended = 0;

    for (int second = 0; second < 120 && ended < n; second++) {
        loop_advance(world->azure->loop, 1000);
        for (size_t i = ended = 0; i < n; i++)
            ended += wishes[i].ended;
    }
    assert_int_equal(ended, n);
}

static struct err *wish(struct world *world, struct wish one)
{
    begin(world, &one);
    finish(world, &one, 1);
    return one.err;
}

static int calls(const struct world *world, const char *kind)
{
    int n = 0;
    size_t i;
    json_t *record;

    json_array_foreach(world->azure->records, i, record) {
        const char *is = json_string_value(json_object_get(record, "kind"));

        n += is && strcmp(is, kind) == 0;
    }
    return n;
}

static int attached(const struct world *world, const char *vm)
{
    int n = 0;

    LIST_FOREACH(&vm_find_by_name(world->azure->model, vm)->attachments, link)
        n++;
    return n;
}

#define CHANGES "virtualMachines.attachDetachDataDisks"

/* ---- disks ---- */

static void test_a_disk_is_made_once(void **state)
{
    struct world *world = world_new();
    struct wish d = {.kind = CREATE, .disk = "d", .max_shares = 2};
    struct wish other = {.kind = CREATE, .disk = "d", .max_shares = 3};

    (void)state;
    assert_ok(wish(world, d));
    assert_ok(wish(world, d));
    assert_int_equal(calls(world, "disks.createOrUpdate"), 1);
    struct err *err = wish(world, other);
    assert_int_equal(err_kind(err), ERR_EXISTS);
    err_free(err);
    d.kind = DELETE;
    assert_ok(wish(world, d));
    assert_ok(wish(world, d));
    assert_null(world->azure->model->disks);
    world_free(world);
}

static void test_a_lost_answer_is_followed_by_a_look(void **state)
{
    struct world *world = world_new();
    struct wish d = {.kind = CREATE, .disk = "d"};

    (void)state;
    world->lossy.lose_answers = 1;
    struct err *err = wish(world, d);
    assert_int_equal(err_kind(err), ERR_UNAVAILABLE);
    err_free(err);
    assert_ok(wish(world, d));
    assert_int_equal(calls(world, "disks.createOrUpdate"), 1);
    world_free(world);
}

/* ---- batches ---- */

enum { MANY = 8 };

static void make_disks(struct world *world, const char *const *names, size_t n, int max_shares)
{
    for (size_t i = 0; i < n; i++)
        assert_ok(
            wish(world, (struct wish){.kind = CREATE, .disk = names[i], .max_shares = max_shares}));
    json_array_clear(world->azure->records);
}

static const char *const names[MANY] = {"a", "b", "c", "d", "e", "f", "g", "h"};

static void test_many_disks_are_two_changes(void **state)
{
    struct world *world = world_new();
    struct wish wishes[MANY];

    (void)state;
    make_disks(world, names, MANY, 1);
    for (int i = 0; i < MANY; i++) {
        wishes[i] = (struct wish){.kind = ATTACH, .vm = VM("vm1"), .disk = names[i], .lun = i};
        begin(world, &wishes[i]);
    }
    finish(world, wishes, MANY);
    for (int i = 0; i < MANY; i++)
        assert_ok(wishes[i].err);
    assert_int_equal(attached(world, "vm1"), MANY);
    assert_in_range(calls(world, CHANGES), 1, 2);
    assert_in_range(calls(world, "virtualMachines.get"), 1, 2);
    world_free(world);
}

static void test_one_bad_disk_does_not_hold_up_the_others(void **state)
{
    struct world *world = world_new();
    struct wish wishes[MANY];

    (void)state;
    make_disks(world, names, MANY - 1, 1);
    for (int i = 0; i < MANY; i++) {
        wishes[i] = (struct wish){.kind = ATTACH, .vm = VM("vm1"), .disk = names[i], .lun = i};
        begin(world, &wishes[i]);
    }
    finish(world, wishes, MANY);
    for (int i = 0; i < MANY - 1; i++)
        assert_ok(wishes[i].err);
    assert_int_equal(err_kind(wishes[MANY - 1].err), ERR_NOT_FOUND);
    err_free(wishes[MANY - 1].err);
    assert_int_equal(attached(world, "vm1"), MANY - 1);
    world_free(world);
}

static void test_changes_of_a_shared_disk_come_one_after_the_other(void **state)
{
    struct world *world = world_new();
    struct wish wishes[] = {
        {.kind = ATTACH, .vm = VM("vm1"), .disk = "a", .lun = 0},
        {.kind = ATTACH, .vm = VM("vm2"), .disk = "a", .lun = 3},
        {.kind = ATTACH, .vm = VM("VM2"), .disk = "b", .lun = 0},
    };

    (void)state;
    make_disks(world, names, 2, 2);
    for (size_t i = 0; i < COUNT_OF(wishes); i++)
        begin(world, &wishes[i]);
    loop_advance(world->azure->loop, 16 * 1000);
    assert_true(wishes[2].ended);
    assert_int_equal(wishes[0].ended + wishes[1].ended, 1);
    finish(world, wishes, COUNT_OF(wishes));
    for (size_t i = 0; i < COUNT_OF(wishes); i++)
        assert_ok(wishes[i].err);
    assert_int_equal(attached(world, "vm2"), 2);
    assert_in_range(calls(world, CHANGES), 2, 3);
    world_free(world);
}

static void test_attach_and_detach_go_together(void **state)
{
    struct world *world = world_new();
    struct wish wishes[] = {
        {.kind = ATTACH, .vm = VM("vm1"), .disk = "b", .lun = 1},
        {.kind = ATTACH, .vm = VM("vm1"), .disk = "c", .lun = 2},
        {.kind = DETACH, .vm = VM("vm1"), .disk = "a"},
    };

    (void)state;
    make_disks(world, names, 3, 1);
    assert_ok(wish(world, (struct wish){.kind = ATTACH, .vm = VM("vm1"), .disk = "a", .lun = 0}));
    json_array_clear(world->azure->records);
    for (size_t i = 0; i < COUNT_OF(wishes); i++)
        begin(world, &wishes[i]);
    finish(world, wishes, COUNT_OF(wishes));
    for (size_t i = 0; i < COUNT_OF(wishes); i++)
        assert_ok(wishes[i].err);
    assert_in_range(calls(world, CHANGES), 1, 2);
    assert_int_equal(attached(world, "vm1"), 2);
    world_free(world);
}

/* ---- trouble ---- */

static void test_a_change_whose_answer_was_lost_is_not_sent_again_blindly(void **state)
{
    struct world *world = world_new();
    struct wish a = {.kind = ATTACH, .vm = VM("vm1"), .disk = "a", .lun = 5};
    struct wish look = {.kind = LOOK, .vm = VM("vm1")};

    (void)state;
    make_disks(world, names, 1, 1);
    world->lossy.lose_answers = 1;
    struct err *err = wish(world, a);
    assert_int_equal(err_kind(err), ERR_UNAVAILABLE);
    err_free(err);

    begin(world, &look);
    finish(world, &look, 1);
    assert_ok(look.err);
    assert_int_equal(look.instance.n_slots, 1);
    assert_int_equal(look.instance.slots[0].lun, 5);
    assert_int_equal(look.instance.state, CLOUD_INSTANCE_CHANGING);
    cloud_instance_fini(&look.instance);

    loop_advance(world->azure->loop, 15 * 1000);
    look = (struct wish){.kind = LOOK, .vm = VM("vm1")};
    begin(world, &look);
    finish(world, &look, 1);
    assert_int_equal(look.instance.state, CLOUD_INSTANCE_SETTLED);
    cloud_instance_fini(&look.instance);
    assert_int_equal(calls(world, CHANGES), 1);
    world_free(world);
}

static void test_a_request_that_never_arrived(void **state)
{
    struct world *world = world_new();
    struct wish a = {.kind = ATTACH, .vm = VM("vm1"), .disk = "a", .lun = 5};

    (void)state;
    make_disks(world, names, 1, 1);
    world->lossy.lose_requests = 1;
    struct err *err = wish(world, a);
    assert_int_equal(err_kind(err), ERR_UNAVAILABLE);
    err_free(err);
    assert_ok(wish(world, a));
    assert_int_equal(attached(world, "vm1"), 1);
    world_free(world);
}

static void test_refusals_have_their_kinds(void **state)
{
    struct world *world = world_new();
    static const struct {
        const char *vm, *disk;
        int lun;
        enum err_kind kind;
    } rows[] = {
        {VM("vm9"), "a", 0, ERR_NOT_FOUND},
        {VM("vm1"), "z", 0, ERR_NOT_FOUND},
        {VM("vm1"), "a", 0, ERR_CONFLICT}, /* LUN 0 has another disk */
        {VM("vm1"), "a", 64, ERR_INVALID},
    };

    (void)state;
    make_disks(world, names, 2, 1);
    assert_ok(wish(world, (struct wish){.kind = ATTACH, .vm = VM("vm1"), .disk = "b", .lun = 0}));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(err_freep)
        struct err *err = wish(
            world, (struct wish){
                       .kind = ATTACH, .vm = rows[i].vm, .disk = rows[i].disk, .lun = rows[i].lun});
        assert_non_null(err);
        assert_int_equal(err_kind(err), rows[i].kind);
        assert_non_null(err_code(err));
    }
    world_free(world);
}

static void test_a_token_is_asked_for_once_and_anew_when_it_is_refused(void **state)
{
    struct world *world = world_new();

    (void)state;
    make_disks(world, names, 2, 1);
    json_array_clear(world->azure->records);
    loop_advance(world->azure->loop, 50 * 60 * 1000);
    make_disks(world, names, 2, 1);
    loop_advance(world->azure->loop, 8 * 60 * 1000);
    assert_ok(wish(world, (struct wish){.kind = DELETE, .disk = "a"}));
    assert_int_equal(calls(world, "entra.token"), 1);
    world_free(world);
}

static void test_closing_while_a_change_is_under_way(void **state)
{
    struct world *world = world_new();
    struct wish wishes[] = {
        {.kind = ATTACH, .vm = VM("vm1"), .disk = "a", .lun = 1},
        {.kind = ATTACH, .vm = VM("vm1"), .disk = "b", .lun = 2},
    };

    (void)state;
    make_disks(world, names, 2, 1);
    begin(world, &wishes[0]);
    loop_advance(world->azure->loop, 2000);
    begin(world, &wishes[1]);
    loop_advance(world->azure->loop, 1000);
    loop_spawn(world->azure->loop, "close", close_group, world);
    loop_advance(world->azure->loop, 0);
    for (size_t i = 0; i < COUNT_OF(wishes); i++) {
        assert_true(wishes[i].ended);
        assert_int_equal(err_kind(wishes[i].err), ERR_CANCELED);
        err_free(wishes[i].err);
    }
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_disk_is_made_once),
        cmocka_unit_test(test_a_lost_answer_is_followed_by_a_look),
        cmocka_unit_test(test_many_disks_are_two_changes),
        cmocka_unit_test(test_one_bad_disk_does_not_hold_up_the_others),
        cmocka_unit_test(test_changes_of_a_shared_disk_come_one_after_the_other),
        cmocka_unit_test(test_attach_and_detach_go_together),
        cmocka_unit_test(test_a_change_whose_answer_was_lost_is_not_sent_again_blindly),
        cmocka_unit_test(test_a_request_that_never_arrived),
        cmocka_unit_test(test_refusals_have_their_kinds),
        cmocka_unit_test(test_a_token_is_asked_for_once_and_anew_when_it_is_refused),
        cmocka_unit_test(test_closing_while_a_change_is_under_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
