/* What is read of Azure: for the audit all disks page by page, and a VM's model without a word to
 * anybody else; for the rest a model that is kept, and read once for all who wait for it. */
#include "lib/base/alloc.h"
#include "test/unit/provisioner-lib/azure/cloud_world.h"

struct look {
    struct world *world;
    const char *disk; /* list what is beside it; NULL: look at `vm` */
    const char *vm;
    struct cloud_disks disks;
    struct cloud_instance machine;
    struct err *err;
    bool ended;
};

static void run_look(struct task *self, void *arg)
{
    struct look *look = arg;
    struct cloud *cloud = look->world->cloud;

    look->err = look->disk ? cloud->ops->disk_list(self, cloud, look->disk, &look->disks)
                           : cloud->ops->instance_look(self, cloud, look->vm, &look->machine);
    look->ended = true;
}

static void answer_instead(struct world *world, const char *text, const char *body, int times)
{
    world->network.stand_in =
        (struct stand_in){.text = text, .times = times, .status = 200, .body = body};
}

static void take(struct look *look)
{
    loop_spawn(look->world->azure->loop, "look", run_look, look);
    for (int second = 0; second < 120 && !look->ended; second++)
        loop_advance(look->world->azure->loop, 1000);
    assert_true(look->ended);
}

static void test_all_disks_page_by_page(void **state)
{
    static const char *const names[] = {"d1", "d2", "d3", "d4", "d5"};
    struct world *world = world_new();
    struct look look = {.world = world, .disk = DISK("any")};
    struct wish attach = {.kind = ATTACH, .disk = "d2", .vm = VM("vm1")};

    (void)state;
    make_disks(world, names, COUNT_OF(names), 2);
    assert_ok(wish(world, attach));
    world->azure->model->settings.page_size = 2;
    take(&look);
    assert_ok(look.err);
    assert_int_equal(look.disks.n, COUNT_OF(names));
    for (size_t i = 0; i < look.disks.n; i++) {
        CLEANUP(freep) char *id = mem_printf(DISK("%s"), names[i]);

        assert_string_equal(look.disks.items[i].id, id);
        assert_true(look.disks.items[i].mark.is_there);
        assert_string_equal(look.disks.items[i].mark.driver, WORLD_DRIVER);
        assert_string_equal(look.disks.items[i].mark.cluster, WORLD_CLUSTER);
        assert_int_equal(look.disks.items[i].n_instances, i == 1);
    }
    assert_string_equal(look.disks.items[1].instances[0], VM("vm1"));
    assert_int_equal(calls(world, "disks.listByResourceGroup"), 3);
    cloud_disks_fini(&look.disks);
    world_free(world);
}

static void test_a_place_that_is_not_there(void **state)
{
    struct world *world = world_new();
    struct look look = {.world = world,
                        .disk = "/subscriptions/" SUBSCRIPTION "/resourceGroups/nowhere/providers/"
                                "Microsoft.Compute/disks/any"};

    (void)state;
    take(&look);
    assert_non_null(look.err);
    assert_int_equal(err_kind(look.err), ERR_NOT_FOUND);
    err_free(look.err);
    cloud_disks_fini(&look.disks);
    world_free(world);
}

/* Each look is a call, however fresh the model is that is kept. */
static void test_a_look_is_not_from_memory(void **state)
{
    static const char *const names[] = {"d1"};
    struct world *world = world_new();
    struct wish attach = {.kind = ATTACH, .disk = "d1", .vm = VM("vm1"), .lun = 3};
    struct look first = {.world = world, .vm = VM("vm1")}, second = first;

    (void)state;
    make_disks(world, names, COUNT_OF(names), 1);
    assert_ok(wish(world, attach));
    int before = calls(world, "virtualMachines.get");
    take(&first);
    take(&second);
    assert_ok(first.err);
    assert_ok(second.err);
    assert_int_equal(calls(world, "virtualMachines.get"), before + 2);
    assert_int_equal(first.machine.n_slots, 1);
    assert_int_equal(first.machine.slots[0].lun, 3);
    assert_int_equal(first.machine.state, CLOUD_INSTANCE_SETTLED);
    cloud_instance_fini(&first.machine);
    cloud_instance_fini(&second.machine);
    world_free(world);
}

static void get(struct world *world)
{
    struct cloud_instance model = model_of(world, VM("vm1"));

    cloud_instance_fini(&model);
}

/* It is read while the change goes on, the last time a moment before its end. */
static void test_a_model_from_before_a_change_ended_is_not_its_outcome(void **state)
{
    static const char *const names[] = {"d1"};
    struct world *world = world_new();
    struct wish detach = {.kind = DETACH, .disk = "d1", .vm = VM("vm1")};

    (void)state;
    make_disks(world, names, COUNT_OF(names), 1);
    assert_ok(wish(world, (struct wish){.kind = ATTACH, .disk = "d1", .vm = VM("vm1")}));
    begin(world, &detach);
    for (int looks = 0; looks < 600 && !detach.ended; looks++) {
        struct wish look = {.kind = LOOK, .vm = VM("vm1")};

        begin(world, &look);
        loop_advance(world->azure->loop, 100);
        assert_true(look.ended);
        assert_ok(look.err);
        cloud_instance_fini(&look.instance);
    }
    assert_true(detach.ended);
    assert_ok(detach.err);
    world_free(world);
}

/* What was read before the change is not what is there after it, however young it is. */
static void test_a_model_that_cannot_be_read_is_not_the_former_one(void **state)
{
    struct world *world = world_new();
    struct wish b = {.kind = ATTACH, .vm = VM("vm1"), .disk = "b", .lun = 1};

    (void)state;
    make_disks(world, (const char *const[]){"a", "b"}, 2, 1);
    assert_ok(wish(world, (struct wish){.kind = ATTACH, .vm = VM("vm1"), .disk = "a"}));
    world->network.stand_in = (struct stand_in){
        .text = "virtualMachines/vm1?", .method = "GET", .times = 1, .status = 503, .body = "{}"};
    struct err *err = wish(world, b);
    assert_non_null(err);
    err_free(err);
    assert_int_equal(world->network.stand_in.times, 0);
    struct cloud_instance model = model_of(world, VM("vm1"));
    assert_int_equal(model.n_slots, 2);
    cloud_instance_fini(&model);
    world_free(world);
}

static void test_a_model_is_kept_until_it_is_to_be_forgotten(void **state)
{
    struct world *world = world_new();

    (void)state;
    get(world);
    int before = calls(world, "virtualMachines.get");
    get(world);
    assert_int_equal(calls(world, "virtualMachines.get"), before);
    world->cloud->ops->instance_forget(world->cloud, VM("VM1"));
    get(world);
    assert_int_equal(calls(world, "virtualMachines.get"), before + 1);
    world_free(world);
}

static void get_anew(struct task *self, void *arg)
{
    struct look *look = arg;
    struct cloud *cloud = look->world->cloud;

    look->err =
        cloud->ops->instance_get(self, cloud, look->vm, 0, CLOUD_FOR_PRIMARY, &look->machine);
    look->ended = true;
}

static void test_those_who_ask_at_one_moment_share_a_read(void **state)
{
    struct world *world = world_new();
    struct look looks[3];

    (void)state;
    get(world);
    assert_ok(latencies_set(&world->azure->model->latencies, "get=100ms"));
    int before = calls(world, "virtualMachines.get");
    for (size_t i = 0; i < COUNT_OF(looks); i++) {
        looks[i] = (struct look){.world = world, .vm = VM("vm1")};
        loop_spawn(world->azure->loop, "look", get_anew, &looks[i]);
    }
    loop_advance(world->azure->loop, 60 * 1000);
    for (size_t i = 0; i < COUNT_OF(looks); i++) {
        assert_true(looks[i].ended);
        assert_ok(looks[i].err);
        cloud_instance_fini(&looks[i].machine);
    }
    assert_int_equal(calls(world, "virtualMachines.get"), before + 1);
    world_free(world);
}

/* Numbers and members that no disk has decide nothing. */
static void test_a_disk_that_makes_no_sense(void **state)
{
    static const struct {
        const char *body;
        int64_t bytes;
    } disks[] = {
        {"{'id': '/d', 'zones': ['1'], 'properties': {'diskSizeGB': 4}}", 4LL << 30},
        {"{'id': '/d', 'properties': {'diskSizeGB': -4}}", 0},
        {"{'id': '/d', 'properties': {'diskSizeGB': 8589934592}}", 0},
        {"{'id': '/d', 'properties': {'diskSizeGB': 9223372036854775807}}", 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(disks); i++) {
        CLEANUP(freep) char *page = mem_printf("{'value': [%s]}", disks[i].body);
        struct world *world = world_new();
        struct look look = {.world = world, .disk = DISK("any")};

        answer_instead(world, "/disks?", page, 1);
        take(&look);
        assert_ok(look.err);
        assert_int_equal(look.disks.n, 1);
        assert_int_equal(look.disks.items[0].size_bytes, disks[i].bytes);
        assert_string_equal(look.disks.items[0].zone, "");
        cloud_disks_fini(&look.disks);
        world_free(world);
    }
}

/* A list whose page names itself as the next one. */
static void test_a_list_without_an_end(void **state)
{
    struct world *world = world_new();
    struct look look = {.world = world, .disk = DISK("any")};

    (void)state;
    answer_instead(world, "/disks",
                   "{'value': [], 'nextLink': 'https://management.azure.com/subscriptions/x/disks?"
                   "api-version=2024-03-02'}",
                   5000);
    take(&look);
    assert_fails(look.err, ERR_INTERNAL, "the list has more than 1000 pages");
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_disks_page_by_page),
        cmocka_unit_test(test_a_disk_that_makes_no_sense),
        cmocka_unit_test(test_a_list_without_an_end),
        cmocka_unit_test(test_a_place_that_is_not_there),
        cmocka_unit_test(test_a_look_is_not_from_memory),
        cmocka_unit_test(test_a_model_from_before_a_change_ended_is_not_its_outcome),
        cmocka_unit_test(test_a_model_that_cannot_be_read_is_not_the_former_one),
        cmocka_unit_test(test_a_model_is_kept_until_it_is_to_be_forgotten),
        cmocka_unit_test(test_those_who_ask_at_one_moment_share_a_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
