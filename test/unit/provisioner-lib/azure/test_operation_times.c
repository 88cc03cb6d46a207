/* When to look whether an operation has ended, by how long those before it took: by itself, and
 * against the simulated Azure. */
#include "provisioner-lib/azure/operation_times.h"

#include "lib/base/alloc.h"
#include "test/unit/provisioner-lib/azure/cloud_world.h"

static struct operation_times times_of(const uint64_t *ms, size_t n)
{
    struct operation_times times = {0};

    for (size_t i = 0; i < n; i++)
        operation_times_add(&times, ms[i]);
    return times;
}

/* ---- by itself ---- */

static void test_nothing_is_known(void **state)
{
    const struct operation_times none = {0}, three = times_of((uint64_t[]){9000, 9000, 9000}, 3);
    static const struct {
        uint64_t elapsed, pause;
    } rows[] = {{0, 1000}, {4000, 1000}, {10000, 2000}, {60000, 10000}, {600000, 10000}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_int_equal(operation_times_pause(&none, rows[i].elapsed), rows[i].pause);
        assert_int_equal(operation_times_pause(&three, rows[i].elapsed), rows[i].pause);
    }
}

static void test_the_end_is_expected_when_others_ended(void **state)
{
    const struct operation_times times = times_of((uint64_t[]){10000, 10000, 10000, 10000}, 4);
    static const struct {
        uint64_t elapsed, pause;
    } rows[] = {
        {0, 1000},     /* it may be quicker than all others */
        {4000, 2000},  /* so much late at most */
        {6000, 4100},  /* not a moment before it is expected */
        {9000, 1100},  /* a moment after */
        {9900, 250},   /* but not at once */
        {10000, 2000}, /* it takes longer than all others */
        {30000, 6000},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_int_equal(operation_times_pause(&times, rows[i].elapsed), rows[i].pause);
}

static void test_ends_that_are_spread(void **state)
{
    struct operation_times times = {0};

    (void)state;
    for (uint64_t ms = 1000; ms <= 32000; ms += 1000) /* an eighth is 4 s */
        operation_times_add(&times, 33000 - ms);
    assert_int_equal(operation_times_pause(&times, 1000), 1000); /* 4 s: it is looked before */
    assert_int_equal(operation_times_pause(&times, 8000), 2000 - 400); /* a fifth of what it took */
    assert_int_equal(operation_times_pause(&times, 20000), 2100);      /* 12 took longer */
    assert_int_equal(operation_times_pause(&times, 31000), 1100);      /* one did */
    assert_int_equal(operation_times_pause(&times, 40000), 8000);
}

static void test_only_the_last_ones_count(void **state)
{
    struct operation_times times = {0};

    (void)state;
    for (int i = 0; i < OPERATION_TIMES; i++)
        operation_times_add(&times, 90000);
    for (int i = 0; i < OPERATION_TIMES; i++)
        operation_times_add(&times, 9000);
    assert_int_equal(operation_times_pause(&times, 8000), 1100);
    assert_int_equal(operation_times_pause(&times, 10000), 2000);
}

static void test_one_that_took_for_ever(void **state)
{
    const struct operation_times times =
        times_of((uint64_t[]){UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}, 4);

    (void)state;
    assert_int_equal(operation_times_pause(&times, 60000), 10000);
}

/* ---- against Azure ---- */

/* Just after a look, as long as nothing is known. */
enum { ATTACH_MS = 10500 };

/* How late the end of an attach is seen, in ms. */
static uint64_t attach_late(struct world *world, const char *disk, int lun, int *ret_looks)
{
    struct wish attach = {
        .world = world, .kind = ATTACH, .disk = disk, .vm = VM("vm1"), .lun = lun};
    int looks = calls(world, "operations.get");
    uint64_t start = now_of(world);

    begin(world, &attach);
    finish(world, &attach, 1);
    assert_ok(attach.err);
    *ret_looks = calls(world, "operations.get") - looks;
    return attach.ended_at - start - ATTACH_MS;
}

static void test_looks_come_at_the_end(void **state)
{
    static const char *const names[] = {"d1", "d2", "d3", "d4", "d5"};
    struct world *world = world_new();
    int looks[COUNT_OF(names)];
    uint64_t late[COUNT_OF(names)];

    (void)state;
    make_disks(world, names, COUNT_OF(names), 1);
    assert_ok(latencies_set(&world->azure->model->latencies, "attach=10500ms"));
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        loop_advance(world->azure->loop, 300 * 1000); /* looks enough are left */
        late[i] = attach_late(world, names[i], (int)i, &looks[i]);
    }
    assert_in_range(late[0], 1500, 2100);
    assert_in_range(late[4], 50, 150);
    assert_in_range(looks[4], 4, looks[0] - 2);
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_known),
        cmocka_unit_test(test_the_end_is_expected_when_others_ended),
        cmocka_unit_test(test_ends_that_are_spread),
        cmocka_unit_test(test_only_the_last_ones_count),
        cmocka_unit_test(test_one_that_took_for_ever),
        cmocka_unit_test(test_looks_come_at_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
