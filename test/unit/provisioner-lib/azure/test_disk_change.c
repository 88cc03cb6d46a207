/* Disks that are changed, and who attaches or detaches them meanwhile. */
#include <limits.h>

#include "test/unit/provisioner-lib/azure/cloud_world.h"

enum { RECORD_MS = 20 * 1000 };

static const char *const names[] = {"a"};

struct growth {
    struct world *world;
    bool record_fails;
    int changes; /* of VMs, when its size was on record */
    int64_t recorded_gib;
    struct err *err;
    bool ended;
};

/* It takes its time. */
static struct err *record(struct task *self, void *ctx, const struct cloud_disk *disk)
{
    struct growth *growth = ctx;

    TRY(task_sleep(self, RECORD_MS));
    if (growth->record_fails)
        return err_new(ERR_UNAVAILABLE, "no API server");
    growth->changes = calls(growth->world, CHANGES);
    growth->recorded_gib = disk->size_bytes / GIB;
    return NULL;
}

static void grow(struct task *self, void *arg)
{
    struct growth *growth = arg;
    struct cloud *cloud = growth->world->cloud;

    growth->err = cloud->ops->disk_change(
        self, cloud, DISK("a"),
        &(struct cloud_disk_change){.size_gib = 20, .record = record, .ctx = growth});
    growth->ended = true;
}

static void begin_growth(struct world *world, struct growth *growth)
{
    growth->world = world;
    loop_spawn(world->azure->loop, "growth", grow, growth);
}

/* A VM is to have the disk half a second after that. */
static void attach_meanwhile(struct world *world, struct growth *growth, struct wish *wish)
{
    begin_growth(world, growth);
    loop_advance(world->azure->loop, 500);
    begin(world, wish);
    finish(world, wish, 1);
    assert_ok(wish->err);
}

static void test_a_disk_that_grows_is_attached_when_its_size_is_on_record(void **state)
{
    struct world *world = world_new();
    struct wish a = {.kind = ATTACH, .vm = VM("vm1"), .disk = "a"};
    struct growth growth = {.changes = -1};

    (void)state;
    make_disks(world, names, 1, 2);
    attach_meanwhile(world, &growth, &a);
    assert_true(growth.ended);
    assert_ok(growth.err);
    assert_int_equal(growth.recorded_gib, 20);
    assert_int_equal(growth.changes, 0);
    assert_int_equal(calls(world, "disks.update"), 1);
    world_free(world);
}

static void test_a_disk_grows_when_it_has_been_attached(void **state)
{
    struct world *world = world_new();
    struct wish a = {.kind = ATTACH, .vm = VM("vm1"), .disk = "a"};
    struct growth growth = {.changes = -1};

    (void)state;
    make_disks(world, names, 1, 1);
    begin(world, &a);
    loop_advance(world->azure->loop, 500);
    assert_false(a.ended);
    begin_growth(world, &growth);
    while (!a.ended) {
        assert_int_equal(calls(world, "disks.update"), 0);
        loop_advance(world->azure->loop, 100);
    }
    loop_advance(world->azure->loop, 60 * 1000);
    assert_ok(a.err);
    assert_true(growth.ended);
    assert_ok(growth.err);
    world_free(world);
}

static void test_a_size_that_cannot_be_recorded_holds_up_nobody(void **state)
{
    struct world *world = world_new();
    struct wish a = {.kind = ATTACH, .vm = VM("vm1"), .disk = "a"};
    struct growth growth = {.record_fails = true};

    (void)state;
    make_disks(world, names, 1, 2);
    attach_meanwhile(world, &growth, &a);
    assert_fails(growth.err, ERR_UNAVAILABLE, "no API server");
    world_free(world);
}

/* ---- whose outcome nobody can learn ---- */

/* From now on no look at anything succeeds, for so long; a VM is to have the disk. */
static void attach_unseen(struct world *world, struct growth *growth, struct wish *wish,
                          uint64_t for_ms)
{
    begin_growth(world, growth);
    while (calls(world, "disks.update") == 0)
        loop_advance(world->azure->loop, 100);
    world->network.stand_in = (struct stand_in){"/", "GET", INT_MAX, 503, {{0}}, "{}"};
    begin(world, wish);
    loop_advance(world->azure->loop, for_ms);
}

static void test_a_disk_whose_change_may_go_on_is_not_attached(void **state)
{
    struct world *world = world_new();
    struct wish a = {.kind = ATTACH, .vm = VM("vm1"), .disk = "a"};
    struct growth growth = {.changes = -1};

    (void)state;
    make_disks(world, names, 1, 1);
    attach_unseen(world, &growth, &a, 110 * 1000);
    assert_int_equal(calls(world, CHANGES), 0);
    assert_false(growth.ended);
    world->network.stand_in.times = 0;
    finish(world, &a, 1);
    assert_ok(a.err);
    assert_true(growth.ended);
    assert_ok(growth.err);
    assert_int_equal(growth.recorded_gib, 20);
    assert_int_equal(growth.changes, 0);
    assert_int_equal(calls(world, "disks.update"), 1);
    world_free(world);
}

static void test_a_change_that_nobody_can_see_is_given_up(void **state)
{
    struct world *world = world_new();
    struct wish a = {.kind = ATTACH, .vm = VM("vm1"), .disk = "a"};
    struct growth growth = {.changes = -1};

    (void)state;
    make_disks(world, names, 1, 1);
    attach_unseen(world, &growth, &a, 180 * 1000);
    assert_true(growth.ended);
    assert_fails(growth.err, ERR_UNAVAILABLE,
                 "the outcome of the operation is unknown: no code: no reason given (HTTP 503)");
    assert_int_equal(calls(world, CHANGES), 1);
    world->network.stand_in.times = 0;
    finish(world, &a, 1);
    err_free(a.err);
    world_free(world);
}

/* ---- what is asked of Azure ---- */

struct modification {
    struct world *world;
    struct cloud_disk_change change;
    struct cloud_disk seen;
    struct err *err;
};

static struct err *see(struct task *self, void *ctx, const struct cloud_disk *disk)
{
    struct modification *modification = ctx;

    (void)self;
    modification->seen = (struct cloud_disk){.size_bytes = disk->size_bytes,
                                             .iops = disk->iops,
                                             .mbps = disk->mbps,
                                             .percent = disk->percent,
                                             .sku = mem_strdup(disk->sku)};
    return NULL;
}

static void modify(struct task *self, void *arg)
{
    struct modification *modification = arg;
    struct cloud *cloud = modification->world->cloud;

    cloud_disk_fini(&modification->seen);
    modification->change.record = see;
    modification->change.ctx = modification;
    modification->err = cloud->ops->disk_change(self, cloud, DISK("a"), &modification->change);
}

static void finish_modification(struct world *world, struct modification *modification)
{
    loop_spawn(world->azure->loop, "modification", modify, modification);
    loop_advance(world->azure->loop, 60 * 1000);
}

static void test_only_what_differs_is_changed(void **state)
{
    struct world *world = world_new();
    struct modification m = {.world = world, .change = {.sku = "PremiumV2_LRS"}};

    (void)state;
    make_disks(world, names, 1, 1);
    finish_modification(world, &m);
    assert_ok(m.err);
    assert_string_equal(m.seen.sku, "PremiumV2_LRS");
    assert_int_equal(calls(world, "disks.update"), 1);
    finish_modification(world, &m);
    assert_ok(m.err);
    assert_int_equal(calls(world, "disks.update"), 1);
    m.change = (struct cloud_disk_change){
        .sku = "premiumv2_lrs", .size_gib = 1, .iops = m.seen.iops, .mbps = m.seen.mbps};
    finish_modification(world, &m);
    assert_ok(m.err);
    assert_int_equal(calls(world, "disks.update"), 1);
    m.change.mbps = m.seen.mbps + 1;
    finish_modification(world, &m);
    assert_ok(m.err);
    assert_int_equal(calls(world, "disks.update"), 2);
    assert_int_equal(m.seen.mbps, m.change.mbps);
    cloud_disk_fini(&m.seen);
    world_free(world);
}

/* Azure refuses it, however often it is asked. */
static void test_a_disk_does_not_grow_while_data_is_copied_to_it(void **state)
{
    struct world *world = world_new();
    struct modification m = {.world = world, .change = {.sku = "PremiumV2_LRS"}};

    (void)state;
    make_disks(world, names, 1, 1);
    finish_modification(world, &m);
    assert_ok(m.err);
    m.change = (struct cloud_disk_change){.size_gib = 20};
    finish_modification(world, &m);
    assert_ok(m.err);
    assert_int_equal(calls(world, "disks.update"), 1);
    assert_true(m.seen.percent > 0 && m.seen.percent < 100);
    assert_int_equal(m.seen.size_bytes, 10 * GIB);
    finish_modification(world, &m);
    assert_ok(m.err);
    assert_int_equal(calls(world, "disks.update"), 2);
    assert_int_equal(m.seen.size_bytes, 20 * GIB);
    cloud_disk_fini(&m.seen);
    world_free(world);
}

static struct err *has_begun(void *ctx, const struct cloud_disk *disk)
{
    (void)ctx;
    assert_int_equal(disk->size_bytes, 10 * GIB);
    return err_new(ERR_BUSY, "something has begun");
}

static void test_what_must_not_be_any_more_is_not_asked_for(void **state)
{
    struct world *world = world_new();
    struct modification m = {.world = world, .change = {.size_gib = 20, .check = has_begun}};

    (void)state;
    make_disks(world, names, 1, 1);
    finish_modification(world, &m);
    assert_fails(m.err, ERR_BUSY, "something has begun");
    assert_int_equal(calls(world, "disks.update"), 0);
    m.change = (struct cloud_disk_change){.size_gib = 10, .check = has_begun};
    finish_modification(world, &m); /* nothing is left to ask for */
    assert_ok(m.err);
    cloud_disk_fini(&m.seen);
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_disk_that_grows_is_attached_when_its_size_is_on_record),
        cmocka_unit_test(test_a_disk_grows_when_it_has_been_attached),
        cmocka_unit_test(test_a_disk_whose_change_may_go_on_is_not_attached),
        cmocka_unit_test(test_a_change_that_nobody_can_see_is_given_up),
        cmocka_unit_test(test_only_what_differs_is_changed),
        cmocka_unit_test(test_a_disk_does_not_grow_while_data_is_copied_to_it),
        cmocka_unit_test(test_what_must_not_be_any_more_is_not_asked_for),
        cmocka_unit_test(test_a_size_that_cannot_be_recorded_holds_up_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
