/* A change of a VM waits for requests that are known to be on their way, and not for long. */
#include "lib/rt/wait.h"
#include "test/unit/provisioner-lib/azure/cloud_world.h"

static void announce(struct world *world, bool coming)
{
    world->cloud->ops->instance_announce(world->cloud, VM("vm1"), coming);
}

static void test_what_is_on_its_way_goes_along(void **state)
{
    struct world *world = world_new();
    const char *const names[] = {"a", "b", "c"};
    struct wish wishes[COUNT_OF(names)];

    (void)state;
    make_disks(world, names, COUNT_OF(names), 1);
    announce(world, true);
    announce(world, true);
    for (int i = 0; i < (int)COUNT_OF(names); i++) {
        wishes[i] = (struct wish){.kind = ATTACH, .vm = VM("vm1"), .disk = names[i], .lun = i};
        begin(world, &wishes[i]);
        loop_advance(world->azure->loop, 0); /* it is in the queue */
        if (i > 0)
            announce(world, false);
        loop_advance(world->azure->loop, 500);
    }
    finish(world, wishes, COUNT_OF(names));
    for (size_t i = 0; i < COUNT_OF(names); i++)
        assert_ok(wishes[i].err);
    assert_int_equal(calls(world, CHANGES), 1);
    world_free(world);
}

static void test_what_does_not_come_is_not_waited_for(void **state)
{
    struct world *world = world_new();
    const char *const names[] = {"a"};
    uint64_t start;

    (void)state;
    make_disks(world, names, 1, 1);
    announce(world, true);
    start = now_of(world);
    assert_ok(wish(world, (struct wish){.kind = ATTACH, .vm = VM("vm1"), .disk = "a", .lun = 0}));
    assert_in_range(now_of(world) - start, 12 * 1000, 16 * 1000);
    announce(world, false);
    world_free(world);
}

static void test_nothing_is_held_back_for_what_went_elsewhere(void **state)
{
    struct world *world = world_new();
    const char *const names[] = {"a"};
    uint64_t start;

    (void)state;
    make_disks(world, names, 1, 2);
    world->cloud->ops->instance_announce(world->cloud, VM("vm2"), true);
    start = now_of(world);
    assert_ok(wish(world, (struct wish){.kind = ATTACH, .vm = VM("vm1"), .disk = "a", .lun = 0}));
    assert_in_range(now_of(world) - start, 10 * 1000, 12 * 1000 - 1);
    world->cloud->ops->instance_announce(world->cloud, VM("vm2"), false);
    world_free(world);
}

/* The one whose change has ended tells of another, which comes a second later. */
static void attach_and_go_on(struct task *self, void *arg)
{
    struct wish *next = arg;
    struct world *world = next->world;
    const struct cloud_attach attach = {
        .instance_id = VM("vm1"), .disk_id = DISK("a"), .lun = 0, .caching = CACHING_NONE};

    assert_ok(world->cloud->ops->disk_attach(self, world->cloud, &attach));
    announce(world, true);
    assert_ok(task_sleep(self, 1000));
    begin(world, next);
    assert_ok(task_sleep(self, 0)); /* it is in the queue */
    announce(world, false);
}

static void test_what_comes_after_a_change_goes_along(void **state)
{
    struct world *world = world_new();
    const char *const names[] = {"a", "b", "c"};
    struct wish wishes[] = {
        {.kind = ATTACH, .vm = VM("vm1"), .disk = "b", .lun = 1},
        {.world = world, .kind = ATTACH, .vm = VM("vm1"), .disk = "c", .lun = 2},
    };

    (void)state;
    make_disks(world, names, COUNT_OF(names), 1);
    loop_spawn(world->azure->loop, "attach", attach_and_go_on, &wishes[1]);
    loop_advance(world->azure->loop, 1000);
    begin(world, &wishes[0]); /* waits for the change that is under way */
    finish(world, wishes, COUNT_OF(wishes));
    for (size_t i = 0; i < COUNT_OF(wishes); i++)
        assert_ok(wishes[i].err);
    assert_int_equal(calls(world, CHANGES), 2);
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_on_its_way_goes_along),
        cmocka_unit_test(test_what_does_not_come_is_not_waited_for),
        cmocka_unit_test(test_what_comes_after_a_change_goes_along),
        cmocka_unit_test(test_nothing_is_held_back_for_what_went_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
