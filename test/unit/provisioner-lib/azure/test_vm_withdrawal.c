/* Attaches that Azure has refused for a while: they hold up nobody else, and are given up when they
 * are no longer wanted. */
#include "test/unit/provisioner-lib/azure/cloud_world.h"

static const char *const names[] = {"a"};

/* The next change, for a minute. */
static void refuse_change(struct world *world)
{
    world->network.stand_in = (struct stand_in){
        .text = "attachDetachDataDisks",
        .times = 1,
        .status = 429,
        .headers = {{"Retry-After", "60"}},
        .body = "{'code': 'OperationNotAllowed', 'message': 'too many requests', 'details': "
                "[{'code': 'TooManyRequests', 'target': 'UpdateVMResource'}]}"};
}

static void begin_refused(struct world *world, struct wish *wish)
{
    make_disks(world, names, 1, 2);
    refuse_change(world);
    begin(world, wish);
    loop_advance(world->azure->loop, 1000);
    assert_false(wish->ended);
}

static void test_a_refused_attach_does_not_hold_its_disk(void **state)
{
    struct world *world = world_new();
    struct wish replica = {.kind = ATTACH, .vm = VM("vm1"), .disk = "a"};
    struct wish primary = {.kind = ATTACH, .vm = VM("vm2"), .disk = "a"};

    (void)state;
    begin_refused(world, &replica);
    begin(world, &primary);
    loop_advance(world->azure->loop, 30 * 1000);
    assert_true(primary.ended);
    assert_ok(primary.err);
    assert_false(replica.ended);
    loop_advance(world->azure->loop, 60 * 1000);
    assert_true(replica.ended);
    assert_ok(replica.err);
    world_free(world);
}

/* The change goes on, for all that is known, until its VM's model can be read. */
static void test_a_change_that_cannot_be_followed_holds_its_disk(void **state)
{
    struct world *world = world_new();
    struct wish a = {.kind = ATTACH, .vm = VM("vm1"), .disk = "a"};
    struct wish b = {.kind = DETACH, .vm = VM("vm2"), .disk = "a"};

    (void)state;
    make_disks(world, names, 1, 2);
    assert_ok(wish(world, (struct wish){.kind = ATTACH, .vm = VM("vm2"), .disk = "a"}));
    json_array_clear(world->azure->records);
    begin(world, &a);
    loop_advance(world->azure->loop, 500);
    world->network.stand_in = (struct stand_in){
        .text = "/subscriptions/", .method = "GET", .times = 14, .status = 500, .body = "{}"};
    finish(world, &a, 1);
    assert_int_equal(err_kind(a.err), ERR_UNAVAILABLE);
    err_free(a.err);
    assert_in_range(world->network.stand_in.times, 1, 10);
    begin(world, &b);
    for (int second = 0; second < 120 && world->network.stand_in.times > 0; second++) {
        assert_int_equal(calls(world, CHANGES), 1);
        loop_advance(world->azure->loop, 1000);
    }
    assert_int_equal(world->network.stand_in.times, 0);
    finish(world, &b, 1);
    assert_ok(b.err);
    world_free(world);
}

static void test_what_is_no_longer_wanted_ends_at_once_if_somebody_says_so(void **state)
{
    struct world *world = world_new();
    bool wanted = true;
    struct wish a = {.kind = ATTACH, .vm = VM("vm1"), .disk = "a", .wanted = &wanted};

    (void)state;
    begin_refused(world, &a);
    world->cloud->ops->reconsider(world->cloud, DISK("A"));
    loop_advance(world->azure->loop, 0);
    assert_false(a.ended);
    wanted = false;
    world->cloud->ops->reconsider(world->cloud, DISK("b"));
    loop_advance(world->azure->loop, 0);
    assert_false(a.ended);
    world->cloud->ops->reconsider(world->cloud, DISK("A"));
    loop_advance(world->azure->loop, 0);
    assert_true(a.ended);
    assert_fails(a.err, ERR_CONFLICT,
                 "the request to attach disk " DISK("a") " to " VM("vm1") " has been withdrawn");
    world_free(world);
}

static void test_what_is_no_longer_wanted_is_not_sent(void **state)
{
    struct world *world = world_new();
    bool wanted = true;
    struct wish a = {.kind = ATTACH, .vm = VM("vm1"), .disk = "a", .wanted = &wanted};

    (void)state;
    begin_refused(world, &a);
    wanted = false;
    loop_advance(world->azure->loop, 90 * 1000);
    assert_true(a.ended);
    assert_int_equal(err_kind(a.err), ERR_CONFLICT);
    err_free(a.err);
    assert_int_equal(calls(world, CHANGES), 0);
    world_free(world);
}

static void test_what_is_given_up_while_it_is_held_back(void **state)
{
    struct world *world = world_new();
    bool wanted = true;
    struct wish a = {.kind = ATTACH, .vm = VM("vm1"), .disk = "a", .wanted = &wanted};

    (void)state;
    make_disks(world, names, 1, 2);
    world->cloud->ops->instance_announce(world->cloud, VM("vm1"), true);
    begin(world, &a);
    loop_advance(world->azure->loop, 1);
    assert_false(a.ended);
    wanted = false;
    world->cloud->ops->reconsider(world->cloud, DISK("a"));
    world->cloud->ops->instance_announce(world->cloud, VM("vm1"), false);
    loop_advance(world->azure->loop, 1000);
    assert_true(a.ended);
    assert_int_equal(err_kind(a.err), ERR_CONFLICT);
    err_free(a.err);
    assert_int_equal(calls(world, CHANGES), 0);
    world_free(world);
}

/* Of a VM that nobody has looked at yet. */
static int looks_for(enum cloud_urgency urgency)
{
    struct world *world = world_new();

    make_disks(world, names, COUNT_OF(names), 1);
    assert_ok(wish(
        world, (struct wish){.kind = ATTACH, .vm = VM("vm1"), .disk = "a", .urgency = urgency}));
    int looks = calls(world, "virtualMachines.get");
    world_free(world);
    return looks;
}

static void test_only_a_replica_waits_for_a_look(void **state)
{
    (void)state;
    assert_int_equal(looks_for(CLOUD_FOR_REPLICA), looks_for(CLOUD_FOR_PRIMARY) + 1);
}

/* Nothing can have become of it, so that what is known of the VM holds. */
static void test_no_look_follows_what_was_not_sent(void **state)
{
    static const char *const two[] = {"a", "b"};
    struct world *world = world_new();
    struct wish both[] = {{.kind = ATTACH, .vm = VM("vm1"), .disk = "a", .lun = 0},
                          {.kind = ATTACH, .vm = VM("vm1"), .disk = "b", .lun = 1}};

    (void)state;
    make_disks(world, two, COUNT_OF(two), 1);
    CLEANUP(cloud_instance_fini) struct cloud_instance before = model_of(world, VM("vm1"));
    int looks = calls(world, "virtualMachines.get");

    world->network.refuse = 1;
    for (size_t i = 0; i < COUNT_OF(both); i++)
        begin(world, &both[i]);
    finish(world, both, COUNT_OF(both));
    for (size_t i = 0; i < COUNT_OF(both); i++)
        assert_fails(both[i].err, ERR_NOT_SENT,
                     "POST " VM("vm1") "/attachDetachDataDisks: connection refused");
    CLEANUP(cloud_instance_fini) struct cloud_instance after = model_of(world, VM("vm1"));
    assert_int_equal(after.n_slots, before.n_slots);
    assert_int_equal(calls(world, CHANGES), 0);
    assert_int_equal(calls(world, "virtualMachines.get"), looks);
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_refused_attach_does_not_hold_its_disk),
        cmocka_unit_test(test_a_change_that_cannot_be_followed_holds_its_disk),
        cmocka_unit_test(test_what_is_no_longer_wanted_ends_at_once_if_somebody_says_so),
        cmocka_unit_test(test_what_is_no_longer_wanted_is_not_sent),
        cmocka_unit_test(test_what_is_given_up_while_it_is_held_back),
        cmocka_unit_test(test_only_a_replica_waits_for_a_look),
        cmocka_unit_test(test_no_look_follows_what_was_not_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
