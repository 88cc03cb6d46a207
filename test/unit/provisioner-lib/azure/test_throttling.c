/* The client against Azure's own buckets: whatever it is asked for, nothing is ever refused. */
#include "lib/base/alloc.h"
#include "test/unit/provisioner-lib/azure/cloud_world.h"

enum { DISKS = 8, ROUNDS = 8, HOUR_MS = 3600 * 1000 };

static const char *const names[DISKS] = {"a", "b", "c", "d", "e", "f", "g", "h"};

static struct world *throttled_world(void)
{
    struct world *world = world_new();

    assert_ok(throttle_set(world->azure->model->throttle, "on"));
    return world;
}

static int refused(const struct world *world)
{
    int n = 0;
    size_t i;
    json_t *record;

    json_array_foreach(world->azure->records, i, record)
        n += json_integer_value(json_object_get(record, "status")) == 429;
    return n;
}

static void finish_within(struct world *world, struct wish *wishes, size_t n, uint64_t ms)
{
    size_t ended = 0;

    for (uint64_t past = 0; past < ms && ended < n; past += 1000) {
        loop_advance(world->azure->loop, 1000);
        for (size_t i = ended = 0; i < n; i++)
            ended += wishes[i].ended;
    }
    assert_int_equal(ended, n);
}

/* A disk that comes and goes on a VM, each time asked for when the last is done: more changes than
 * the VM's bucket holds, which then come at the bucket's pace. */
static void test_changes_one_after_the_other(void **state)
{
    struct world *world = throttled_world();
    uint64_t start;

    (void)state;
    make_disks(world, names, 1, 1);
    start = now_of(world);
    for (int i = 0; i < 2 * ROUNDS; i++) {
        struct wish change = {.kind = i % 2 ? DETACH : ATTACH, .vm = VM("vm1"), .disk = "a"};

        begin(world, &change);
        finish_within(world, &change, 1, HOUR_MS);
        assert_ok(change.err);
    }
    assert_int_equal(refused(world), 0);
    assert_int_equal(calls(world, CHANGES), 2 * ROUNDS);
    /* Twelve at once, and four for each minute since. */
    assert_in_range(now_of(world) - start, 60 * 1000, 3 * 60 * 1000);
    world_free(world);
}

/* Many disks that come at odd times, on two VMs. */
static void test_a_crowd(void **state)
{
    struct world *world = throttled_world();
    struct wish wishes[DISKS];

    (void)state;
    make_disks(world, names, DISKS, 1);
    for (int round = 0; round < 2 * ROUNDS; round++) {
        for (int i = 0; i < DISKS; i++) {
            wishes[i] = (struct wish){.kind = round % 2 ? DETACH : ATTACH,
                                      .vm = i % 2 ? VM("vm1") : VM("vm2"),
                                      .disk = names[i],
                                      .lun = i};
            begin(world, &wishes[i]);
            loop_advance(world->azure->loop, 700);
        }
        finish_within(world, wishes, DISKS, HOUR_MS);
        for (int i = 0; i < DISKS; i++)
            assert_ok(wishes[i].err);
    }
    assert_int_equal(refused(world), 0);
    world_free(world);
}

/* Somebody else has emptied the VM's bucket: the first answer says so. */
static void test_others_spend_too(void **state)
{
    struct world *world = throttled_world();
    struct throttle_charge charge;
    struct wish changes[] = {
        {.kind = ATTACH, .vm = VM("vm1"), .disk = "a"},
        {.kind = DETACH, .vm = VM("vm1"), .disk = "a"},
    };

    (void)state;
    make_disks(world, names, 1, 1);
    const char *vm = vm_find_by_name(world->azure->model, "vm1")->id;
    for (int i = 0; i < 11; i++)
        throttle_take(world->azure->model->throttle, THROTTLE_UPDATE_VM, SUBSCRIPTION, vm,
                      now_of(world), &charge);
    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        begin(world, &changes[i]);
        finish_within(world, &changes[i], 1, HOUR_MS);
        assert_ok(changes[i].err);
    }
    assert_int_equal(refused(world), 0);
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changes_one_after_the_other),
        cmocka_unit_test(test_a_crowd),
        cmocka_unit_test(test_others_spend_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
