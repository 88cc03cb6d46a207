/* A shared disk is attached to several VMs at once, or detached from several, as far as Azure takes
 * that; everything else that is changed of it comes one after the other. */
#include "test/unit/provisioner-lib/azure/cloud_world.h"

static const char *const names[] = {"a", "b"};

static struct world *world_with_shared_disks(int max_shares)
{
    struct world *world = world_new();

    make_disks(world, names, COUNT_OF(names), max_shares);
    return world;
}

static void refuse_as_taken(struct world *world)
{
    world->network.stand_in = (struct stand_in){
        .text = "vm2/attachDetachDataDisks",
        .times = 1,
        .status = 409,
        .body = "{'error': {'code': 'ConflictingUserInput', 'message': 'It is attached to vm1.'}}"};
}

/* Azure refuses what comes within 200 ms of the first, the third VM's as well as the second's. */
static void test_three_vms_get_it_at_once(void **state)
{
    struct world *world = world_with_shared_disks(3);
    struct wish wishes[] = {
        {.kind = ATTACH, .vm = VM("vm1"), .disk = "a", .lun = 0},
        {.kind = ATTACH, .vm = VM("vm2"), .disk = "a", .lun = 3, .urgency = CLOUD_FOR_REPLICA},
        {.kind = ATTACH, .vm = VM("vm3"), .disk = "a", .lun = 1, .urgency = CLOUD_FOR_REPLICA},
    };
    uint64_t start = now_of(world);

    (void)state;
    azure_add_vm(world->azure, "vm3", false);
    for (size_t i = 0; i < COUNT_OF(wishes); i++)
        begin(world, &wishes[i]);
    finish(world, wishes, COUNT_OF(wishes));
    for (size_t i = 0; i < COUNT_OF(wishes); i++) {
        assert_ok(wishes[i].err);
        assert_true(wishes[i].accepted);
        assert_in_range(wishes[i].ended_at - start, 9 * 1000, 16 * 1000);
    }
    assert_int_equal(calls(world, CHANGES), 3);
    world_free(world);
}

static void test_nobody_else_before_the_first_is_accepted(void **state)
{
    struct world *world = world_with_shared_disks(2);
    struct wish wishes[] = {
        {.kind = ATTACH, .vm = VM("vm1"), .disk = "a", .lun = 0},
        {.kind = ATTACH, .vm = VM("vm2"), .disk = "a", .lun = 3},
    };
    uint64_t start = now_of(world);

    (void)state;
    world->network.lose_answers = 1; /* nobody knows whether vm1's has begun */
    for (size_t i = 0; i < COUNT_OF(wishes); i++)
        begin(world, &wishes[i]);
    finish(world, wishes, COUNT_OF(wishes));
    assert_int_equal(err_kind(wishes[0].err), ERR_UNAVAILABLE);
    err_free(wishes[0].err);
    assert_false(wishes[0].accepted);
    assert_ok(wishes[1].err);
    assert_in_range(wishes[1].ended_at - start, 19 * 1000, 90 * 1000);
    world_free(world);
}

static void test_it_leaves_two_vms_at_once(void **state)
{
    struct world *world = world_with_shared_disks(2);
    struct wish wishes[] = {
        {.kind = DETACH, .vm = VM("vm1"), .disk = "a"},
        {.kind = DETACH, .vm = VM("vm2"), .disk = "a"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(wishes); i++)
        assert_ok(wish(world, (struct wish){.kind = ATTACH, .vm = wishes[i].vm, .disk = "a"}));
    assert_ok(latencies_set(&world->azure->model->latencies, "detach=10s"));
    uint64_t start = now_of(world);
    for (size_t i = 0; i < COUNT_OF(wishes); i++)
        begin(world, &wishes[i]);
    finish(world, wishes, COUNT_OF(wishes));
    for (size_t i = 0; i < COUNT_OF(wishes); i++) {
        assert_ok(wishes[i].err);
        assert_in_range(wishes[i].ended_at - start, 9 * 1000, 16 * 1000);
    }
    world_free(world);
}

static void test_it_leaves_when_nobody_attaches_it(void **state)
{
    struct world *world = world_with_shared_disks(2);
    struct wish wishes[] = {
        {.kind = ATTACH, .vm = VM("vm2"), .disk = "a", .lun = 0},
        {.kind = DETACH, .vm = VM("vm1"), .disk = "a"},
    };

    (void)state;
    assert_ok(wish(world, (struct wish){.kind = ATTACH, .vm = VM("vm1"), .disk = "a", .lun = 0}));
    uint64_t start = now_of(world);
    for (size_t i = 0; i < COUNT_OF(wishes); i++) {
        begin(world, &wishes[i]);
        loop_advance(world->azure->loop, 1000);
    }
    finish(world, wishes, COUNT_OF(wishes));
    for (size_t i = 0; i < COUNT_OF(wishes); i++)
        assert_ok(wishes[i].err);
    assert_in_range(wishes[1].ended_at - start, 10 * 1000, 16 * 1000);
    world_free(world);
}

/* What was refused is sent again when the other has ended, and for ten minutes no disk is attached
 * to two at once. */
static void test_a_cloud_that_refuses_gets_one_after_the_other(void **state)
{
    struct world *world = world_with_shared_disks(2);
    uint64_t start;

    (void)state;
    refuse_as_taken(world);
    for (size_t k = 0; k < COUNT_OF(names); k++) {
        struct wish wishes[] = {
            {.kind = ATTACH, .vm = VM("vm1"), .disk = names[k], .lun = (int)k},
            {.kind = ATTACH, .vm = VM("vm2"), .disk = names[k], .lun = (int)k},
        };

        start = now_of(world);
        for (size_t i = 0; i < COUNT_OF(wishes); i++)
            begin(world, &wishes[i]);
        finish(world, wishes, COUNT_OF(wishes));
        for (size_t i = 0; i < COUNT_OF(wishes); i++)
            assert_ok(wishes[i].err);
        uint64_t first = wishes[0].ended_at, second = wishes[1].ended_at;
        assert_in_range((first > second ? first : second) - start, 19 * 1000, 30 * 1000);
    }
    assert_int_equal(calls(world, CHANGES), 4);
    world_free(world);
}

/* Azure accepts both, and one of them fails by the other. */
static void test_a_cloud_that_refuses_too_late_gets_it_again(void **state)
{
    struct world *world = world_with_shared_disks(2);
    struct wish wishes[] = {
        {.kind = ATTACH, .vm = VM("vm1"), .disk = "a", .lun = 0},
        {.kind = ATTACH, .vm = VM("vm2"), .disk = "a", .lun = 3},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(wishes); i++)
        begin(world, &wishes[i]);
    loop_advance(world->azure->loop, 1000);
    assert_int_equal(calls(world, CHANGES), 2);
    world->network.stand_in = (struct stand_in){
        .text = "/operations/",
        .method = "GET",
        .times = 1,
        .status = 200,
        .body = "{'status': 'Failed', 'error': {'code': 'ConflictingUserInput', 'message': 'm'}}"};
    finish(world, wishes, COUNT_OF(wishes));
    assert_int_equal(world->network.stand_in.times, 0);
    for (size_t i = 0; i < COUNT_OF(wishes); i++)
        assert_ok(wishes[i].err);
    /* Who asked for it was told that it had to be asked for again. */
    assert_int_equal(wishes[0].came_to_nothing + wishes[1].came_to_nothing, 1);
    assert_true(wishes[0].accepted && wishes[1].accepted);
    world_free(world);
}

static void test_a_vm_that_is_deleted_meanwhile_is_not_waited_for(void **state)
{
    struct world *world = world_with_shared_disks(2);
    struct wish wishes[] = {
        {.kind = ATTACH, .vm = VM("vm1"), .disk = "a", .lun = 0},
        {.kind = ATTACH, .vm = VM("vm2"), .disk = "a", .lun = 3},
    };
    uint64_t start = now_of(world);

    (void)state;
    begin(world, &wishes[0]);
    loop_advance(world->azure->loop, 1000);
    vm_delete(vm_find_by_name(world->azure->model, "vm1"));
    begin(world, &wishes[1]);
    finish(world, wishes, COUNT_OF(wishes));
    assert_non_null(wishes[0].err);
    err_free(wishes[0].err);
    assert_ok(wishes[1].err);
    assert_in_range(wishes[1].ended_at - start, 10 * 1000, 16 * 1000);
    world_free(world);
}

static void test_it_is_tried_again_later(void **state)
{
    struct world *world = world_with_shared_disks(2);

    (void)state;
    refuse_as_taken(world);
    for (size_t k = 0; k < COUNT_OF(names); k++) {
        struct wish wishes[] = {
            {.kind = ATTACH, .vm = VM("vm1"), .disk = names[k], .lun = (int)k},
            {.kind = ATTACH, .vm = VM("vm2"), .disk = names[k], .lun = (int)k},
        };
        uint64_t start = now_of(world);

        for (size_t i = 0; i < COUNT_OF(wishes); i++)
            begin(world, &wishes[i]);
        finish(world, wishes, COUNT_OF(wishes));
        for (size_t i = 0; i < COUNT_OF(wishes); i++)
            assert_ok(wishes[i].err);
        assert_int_equal(wishes[1].ended_at - start < 16 * 1000, k == 1);
        loop_advance(world->azure->loop, 10 * 60 * 1000);
    }
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_three_vms_get_it_at_once),
        cmocka_unit_test(test_nobody_else_before_the_first_is_accepted),
        cmocka_unit_test(test_it_leaves_two_vms_at_once),
        cmocka_unit_test(test_it_leaves_when_nobody_attaches_it),
        cmocka_unit_test(test_a_cloud_that_refuses_gets_one_after_the_other),
        cmocka_unit_test(test_a_cloud_that_refuses_too_late_gets_it_again),
        cmocka_unit_test(test_a_vm_that_is_deleted_meanwhile_is_not_waited_for),
        cmocka_unit_test(test_it_is_tried_again_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
