/* Changes of a VM that do not end, or fail: for how long they are waited for, what takes their
 * place, and what came of them. */
#include "test/azsim/model/fault.h"
#include "test/unit/provisioner-lib/azure/cloud_world.h"

enum { SECOND_MS = 1000, MINUTE_MS = 60 * SECOND_MS };

static const char *const names[] = {"a", "b"};

static struct world *world_with(const char *rule)
{
    struct world *world = world_new();
    CLEANUP(json_decrefp) json_t *json = json_of(rule);
    const struct fault *fault;

    make_disks(world, names, COUNT_OF(names), 3);
    assert_ok(faults_add(world->azure->model->faults, json, &fault));
    return world;
}

/* Whatever comes of it. */
static void see_through(struct world *world, struct wish *wish)
{
    begin(world, wish);
    finish(world, wish, 1);
}

static void pass(struct world *world, int minutes)
{
    loop_advance(world->azure->loop, (uint64_t)minutes * MINUTE_MS);
}

static enum cloud_instance_state state_of(struct world *world)
{
    CLEANUP(cloud_instance_fini) struct cloud_instance model = model_of(world, VM("vm1"));

    return model.state;
}

/* One that goes on has had its time; others are told, and not before. */
static void expect_given_up(struct world *world, struct wish *wish, int minutes)
{
    char text[64];

    snprintf(text, sizeof text, "Azure has not ended the operation within %d minutes", minutes);
    begin(world, wish);
    pass(world, minutes);
    assert_false(wish->ended);
    pass(world, 1);
    assert_true(wish->ended);
    assert_fails(wish->err, ERR_TIMEOUT, text);
    assert_int_equal(state_of(world), CLOUD_INSTANCE_CHANGING);
    pass(world, 2);
}

static void test_a_repair_takes_the_place_of_what_does_not_end(void **state)
{
    struct world *world = world_with("{'fault': 'stick', 'kind': 'vm*', 'calls': '1'}");
    struct wish a = {.kind = ATTACH, .vm = VM("vm1"), .disk = "a"};

    (void)state;
    expect_given_up(world, &a, 5);
    assert_int_equal(state_of(world), CLOUD_INSTANCE_FAILED);
    assert_ok(wish(world, (struct wish){.kind = REPAIR, .vm = VM("vm1")}));
    assert_int_equal(state_of(world), CLOUD_INSTANCE_SETTLED);
    assert_int_equal(attached(world, "vm1"), 1);
    world_free(world);
}

/* Azure refuses the action as long as that is under way. */
static void test_so_does_a_change_of_another_disk(void **state)
{
    struct world *world = world_with("{'fault': 'stick', 'kind': 'vm*', 'calls': '1'}");
    struct wish a = {.kind = ATTACH, .vm = VM("vm1"), .disk = "a"};

    (void)state;
    expect_given_up(world, &a, 5);
    assert_ok(wish(world, (struct wish){.kind = ATTACH, .vm = VM("vm1"), .disk = "b", .lun = 1}));
    assert_int_equal(calls(world, "virtualMachines.update"), 1);
    assert_int_equal(attached(world, "vm1"), 2);
    json_array_clear(world->azure->records);
    assert_ok(wish(world, (struct wish){.kind = DETACH, .vm = VM("vm1"), .disk = "a"}));
    assert_int_equal(calls(world, CHANGES), 1);
    world_free(world);
}

/* Other VMs may have use for the disk. */
static void test_its_disk_is_free_for_others(void **state)
{
    struct world *world = world_with("{'fault': 'stick', 'kind': 'vm*', 'calls': '2'}");
    struct wish a = {.kind = DETACH, .vm = VM("vm1"), .disk = "a"};
    struct wish elsewhere = {.kind = ATTACH, .vm = VM("vm2"), .disk = "a"};

    (void)state;
    assert_ok(wish(world, (struct wish){.kind = ATTACH, .vm = VM("vm1"), .disk = "a"}));
    begin(world, &a);
    loop_advance(world->azure->loop, SECOND_MS);
    begin(world, &elsewhere);
    pass(world, 5);
    assert_false(elsewhere.ended);
    pass(world, 4);
    assert_true(elsewhere.ended);
    assert_ok(elsewhere.err);
    err_free(a.err);
    world_free(world);
}

/* For an hour; a cloud that is slow for all gets done. */
static void test_the_next_one_has_more_time(void **state)
{
    struct world *world = world_with("{'fault': 'stick', 'kind': 'vm*', 'calls': '1-5'}");
    struct wish a = {.kind = ATTACH, .vm = VM("vm1"), .disk = "a"};
    static const int minutes[] = {5, 10, 20, 20};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(minutes); i++) {
        struct wish repair = {.kind = REPAIR, .vm = VM("vm1")};

        expect_given_up(world, i == 0 ? &a : &repair, minutes[i]);
    }
    for (int i = 0; i < 7; i++) { /* a VM that nobody asks for is forgotten */
        assert_int_equal(state_of(world), CLOUD_INSTANCE_FAILED);
        pass(world, 10);
    }
    struct wish last = {.kind = REPAIR, .vm = VM("vm1")};
    expect_given_up(world, &last, 5);
    world_free(world);
}

/* Whoever looks meanwhile. */
static void test_what_is_under_way_is_no_change_of_others(void **state)
{
    struct world *world = world_with("{'fault': 'stick', 'kind': 'vm*', 'calls': '1-3'}");
    struct wish a = {.kind = ATTACH, .vm = VM("vm1"), .disk = "a"};
    struct wish repairs[] = {{.kind = REPAIR, .vm = VM("vm1")}, {.kind = REPAIR, .vm = VM("vm1")}};

    (void)state;
    expect_given_up(world, &a, 5);
    expect_given_up(world, &repairs[0], 10);
    begin(world, &repairs[1]);
    for (int minute = 0; minute < 15; minute++) {
        pass(world, 1);
        assert_int_equal(state_of(world), CLOUD_INSTANCE_CHANGING);
    }
    world_close(world);
    err_free(repairs[1].err);
    world_free(world);
}

/* A former leader's, say, or somebody's start of the VM. */
static void test_what_others_began_has_ten_minutes(void **state)
{
    struct world *world = world_with("{'fault': 'stick', 'kind': 'vm*', 'calls': '1'}");

    (void)state;
    json_decref(
        ask_json(world->azure, "PATCH", "{P}/virtualMachines/vm1", "{'tags': {'a': 'b'}}", 200));
    for (int minute = 0; minute < 10; minute++) {
        assert_int_equal(state_of(world), CLOUD_INSTANCE_CHANGING);
        pass(world, 1);
    }
    assert_int_equal(state_of(world), CLOUD_INSTANCE_FAILED);
    assert_ok(wish(world, (struct wish){.kind = ATTACH, .vm = VM("vm1"), .disk = "a"}));
    assert_int_equal(state_of(world), CLOUD_INSTANCE_SETTLED);
    world_free(world);
}

/* Nobody has looked in between: it may be another one by now. */
static void test_what_was_seen_long_ago_may_have_been_another_change(void **state)
{
    struct world *world = world_with("{'fault': 'stick', 'kind': 'vm*', 'calls': '1'}");

    (void)state;
    json_decref(
        ask_json(world->azure, "PATCH", "{P}/virtualMachines/vm1", "{'tags': {'a': 'b'}}", 200));
    assert_int_equal(state_of(world), CLOUD_INSTANCE_CHANGING);
    pass(world, 10);
    assert_int_equal(state_of(world), CLOUD_INSTANCE_CHANGING);
    world_free(world);
}

/* ---- a machine that is out of service ---- */

static struct world *world_with_disk_that_stays(const char *rule)
{
    struct world *world = world_with(rule);

    assert_ok(wish(world, (struct wish){.kind = ATTACH, .vm = VM("vm1"), .disk = "a"}));
    return world;
}

static struct wish of_lost_machine(void)
{
    return (struct wish){.kind = DETACH, .vm = VM("vm1"), .disk = "a", .off = true};
}

/* Nobody there can be waited for. */
static void test_a_detach_that_does_not_end_is_done_by_force(void **state)
{
    struct world *world =
        world_with_disk_that_stays("{'fault': 'stick', 'kind': 'vm*', 'calls': '2-'}");
    struct wish first = of_lost_machine(), second = of_lost_machine();

    (void)state;
    expect_given_up(world, &first, 1);
    assert_false(first.forced);
    assert_int_equal(state_of(world), CLOUD_INSTANCE_FAILED);
    see_through(world, &second);
    assert_ok(second.err);
    assert_true(second.forced);
    assert_int_equal(attached(world, "vm1"), 0);
    world_free(world);
}

/* The taint comes while the first detach is waited for. */
static void test_it_is_waited_for_no_longer_than_the_machine_is_in_service(void **state)
{
    struct world *world =
        world_with_disk_that_stays("{'fault': 'stick', 'kind': 'vm*', 'calls': '2-'}");
    struct wish first = of_lost_machine(), second = of_lost_machine();

    (void)state;
    first.off = false;
    begin(world, &first);
    pass(world, 2);
    assert_false(first.ended);
    first.off = true;
    pass(world, 1);
    assert_true(first.ended);
    assert_false(first.forced);
    err_free(first.err);
    see_through(world, &second);
    assert_ok(second.err);
    assert_true(second.forced);
    world_free(world);
}

/* Of what was asked before, be it an attach: then a detach would not end, either. */
static void test_nor_is_one_tried_where_nothing_ends(void **state)
{
    struct world *world =
        world_with_disk_that_stays("{'fault': 'stick', 'kind': 'vm*', 'calls': '2-'}");
    struct wish attach = {.kind = ATTACH, .vm = VM("vm1"), .disk = "b", .lun = 1};
    struct wish detach = of_lost_machine();

    (void)state;
    expect_given_up(world, &attach, 5);
    assert_int_equal(state_of(world), CLOUD_INSTANCE_FAILED);
    see_through(world, &detach);
    assert_ok(detach.err);
    assert_true(detach.forced);
    world_free(world);
}

/* Which has left the disk in the model, as one that is to leave. */
static void test_nor_does_one_that_failed_need_to_end(void **state)
{
    struct world *world = world_with_disk_that_stays("{'fault': 'failDetach', 'code': 'Conflict'}");
    struct wish first = of_lost_machine(), second = of_lost_machine();

    (void)state;
    see_through(world, &first);
    assert_non_null(first.err);
    err_free(first.err);
    assert_int_equal(state_of(world), CLOUD_INSTANCE_FAILED);
    see_through(world, &second);
    assert_ok(second.err);
    assert_true(!first.forced && second.forced);
    world_free(world);
}

/* As where Azure does not have it for instances of scale sets. */
static void test_what_came_to_nothing_by_force_is_done_otherwise(void **state)
{
    struct world *world = world_with_disk_that_stays("{'fault': 'failDetach', 'code': 'Conflict'}");
    CLEANUP(json_decrefp)
    json_t *refused = json_of("{'fault': 'refuse', 'kind': 'virtualMachines.*Data*', 'calls': '2', "
                              "'code': 'InvalidParameter'}");
    static const bool forced[] = {false, true, false, true};
    const struct fault *fault;

    (void)state;
    assert_ok(faults_add(world->azure->model->faults, refused, &fault));
    for (size_t i = 0; i < COUNT_OF(forced); i++) {
        struct wish detach = of_lost_machine();

        see_through(world, &detach);
        if (detach.forced != forced[i] || !detach.err != (i == 3))
            fail_msg("detach %zu: forced %d, %s", i, detach.forced,
                     detach.err ? err_message(detach.err) : "done");
        err_free(detach.err);
        pass(world, i == 2 ? 11 : 1);
        (void)state_of(world);
    }
    world_free(world);
}

/* Whose machine may be in service is waited for, however often. */
static void test_without_a_word_nothing_is_forced(void **state)
{
    struct world *world = world_with_disk_that_stays("{'fault': 'failDetach', 'code': 'Conflict'}");

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct wish detach = {.kind = DETACH, .vm = VM("vm1"), .disk = "a"};

        see_through(world, &detach);
        assert_non_null(detach.err);
        assert_false(detach.forced);
        err_free(detach.err);
    }
    assert_int_equal(attached(world, "vm1"), 1);
    world_free(world);
}

/* Another task's, or a former leader's: it may end any moment. */
static void test_a_detach_under_way_is_not_cut_off(void **state)
{
    struct world *world =
        world_with_disk_that_stays("{'fault': 'stick', 'kind': 'vm*', 'calls': '2'}");
    struct wish detach = of_lost_machine();

    (void)state;
    json_decref(ask_json(world->azure, "PATCH", "{P}/virtualMachines/vm1",
                         "{'properties': {'storageProfile': {'dataDisks': [{'lun': 0, "
                         "'toBeDetached': true}]}}}",
                         200));
    pass(world, 2);
    assert_int_equal(state_of(world), CLOUD_INSTANCE_CHANGING);
    begin(world, &detach);
    pass(world, 1);
    assert_false(detach.forced);
    world_close(world);
    err_free(detach.err);
    world_free(world);
}

/* ---- an extension that does not work ---- */

/* Whatever is changed fails, and is done. The machine tells. */
static void test_what_fails_for_an_extension_is_attached(void **state)
{
    struct world *world = world_with(
        "{'fault': 'failWhenDone', 'kind': 'vm*', 'code': 'VMExtensionProvisioningError'}");

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct wish attach = {.kind = ATTACH, .vm = VM("vm1"), .disk = names[i], .lun = i};

        see_through(world, &attach);
        assert_non_null(attach.err);
        err_free(attach.err);
        CLEANUP(cloud_instance_fini) struct cloud_instance model = model_of(world, VM("vm1"));
        assert_int_equal(model.state, CLOUD_INSTANCE_FAILED);
        assert_int_equal(model.n_slots, i + 1);
        assert_true(model.slots[i].attached);
        assert_string_equal(model.id, VM("vm1"));
    }
    world_free(world);
}

static void test_what_is_not_attached_is_not_said_to_be(void **state)
{
    struct world *world =
        world_with("{'fault': 'failAttach', 'disk': 'a', 'code': 'DiskProcessingError'}");
    struct wish attaches[] = {{.kind = ATTACH, .vm = VM("vm1"), .disk = "a"},
                              {.kind = ATTACH, .vm = VM("vm1"), .disk = "b", .lun = 1}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(attaches); i++)
        begin(world, &attaches[i]);
    finish(world, attaches, COUNT_OF(attaches));
    assert_int_equal(state_of(world), CLOUD_INSTANCE_FAILED);
    pass(world, 1);
    CLEANUP(cloud_instance_fini) struct cloud_instance model = model_of(world, VM("vm1"));
    for (size_t i = 0; i < model.n_slots; i++)
        if (model.slots[i].attached != (model.slots[i].lun == 1))
            fail_msg("LUN %d", model.slots[i].lun);
    for (size_t i = 0; i < COUNT_OF(attaches); i++)
        err_free(attaches[i].err);
    world_free(world);
}

#define DATA_DISK(lun, group, name)                                                                \
    "{\"lun\": " lun ", \"name\": \"" name "\", \"managedDisk\": {\"id\": "                        \
    "\"/subscriptions/s/resourceGroups/" group "/providers/Microsoft.Compute/disks/" name "\"}}"
#define SAID_OF(name)                                                                              \
    "{\"name\": \"" name "\", \"statuses\": [{\"code\": \"ProvisioningState/succeeded\"}]}"

/* It calls them by their names, which those of several resource groups may share. */
static void test_what_is_said_of_one_of_two_of_a_name_is_not_believed(void **state)
{
    struct world *world =
        world_with("{'fault': 'failAttach', 'disk': 'a', 'code': 'DiskProcessingError'}");
    struct wish attach = {.kind = ATTACH, .vm = VM("vm1"), .disk = "a"};

    (void)state;
    see_through(world, &attach);
    assert_int_equal(state_of(world), CLOUD_INSTANCE_FAILED);
    pass(world, 1);
    world->network.stand_in = (struct stand_in){
        .text = "expand=instanceView",
        .method = "GET",
        .times = 1,
        .status = 200,
        .body =
            "{\"location\": \"l\", \"properties\": {\"provisioningState\": "
            "\"Failed\", \"storageProfile\": {\"dataDisks\": [" DATA_DISK(
                "0", "g",
                "d") ", " DATA_DISK("1", "h",
                                    "D") ", " DATA_DISK("2", "g",
                                                        "e") "]}, \"instanceView\": {\"disks\": "
                                                             "[" SAID_OF("d") ", " SAID_OF(
                                                                 "e") "]}"
                                                                      "}"
                                                                      "}"};
    CLEANUP(cloud_instance_fini) struct cloud_instance model = model_of(world, VM("vm1"));
    assert_int_equal(model.n_slots, 3);
    for (size_t i = 0; i < model.n_slots; i++)
        if (model.slots[i].attached != (model.slots[i].lun == 2))
            fail_msg("LUN %d", model.slots[i].lun);
    err_free(attach.err);
    world_free(world);
}

/* As of a host that does not answer. */
static void test_a_vm_is_known_without_its_view(void **state)
{
    struct world *world =
        world_with("{'fault': 'failAttach', 'disk': 'a', 'code': 'DiskProcessingError'}");
    struct wish attach = {.kind = ATTACH, .vm = VM("vm1"), .disk = "a"};

    (void)state;
    see_through(world, &attach);
    world->network.stand_in = (struct stand_in){
        .text = "expand=instanceView", .method = "GET", .times = 1000, .status = 500, .body = "{}"};
    pass(world, 1);
    CLEANUP(cloud_instance_fini) struct cloud_instance model = model_of(world, VM("vm1"));
    assert_int_equal(model.state, CLOUD_INSTANCE_FAILED);
    assert_int_equal(model.n_slots, 1);
    err_free(attach.err);
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_repair_takes_the_place_of_what_does_not_end),
        cmocka_unit_test(test_so_does_a_change_of_another_disk),
        cmocka_unit_test(test_its_disk_is_free_for_others),
        cmocka_unit_test(test_the_next_one_has_more_time),
        cmocka_unit_test(test_what_is_under_way_is_no_change_of_others),
        cmocka_unit_test(test_what_others_began_has_ten_minutes),
        cmocka_unit_test(test_what_was_seen_long_ago_may_have_been_another_change),
        cmocka_unit_test(test_a_detach_that_does_not_end_is_done_by_force),
        cmocka_unit_test(test_it_is_waited_for_no_longer_than_the_machine_is_in_service),
        cmocka_unit_test(test_nor_is_one_tried_where_nothing_ends),
        cmocka_unit_test(test_nor_does_one_that_failed_need_to_end),
        cmocka_unit_test(test_what_came_to_nothing_by_force_is_done_otherwise),
        cmocka_unit_test(test_without_a_word_nothing_is_forced),
        cmocka_unit_test(test_a_detach_under_way_is_not_cut_off),
        cmocka_unit_test(test_what_fails_for_an_extension_is_attached),
        cmocka_unit_test(test_what_is_not_attached_is_not_said_to_be),
        cmocka_unit_test(test_a_vm_is_known_without_its_view),
        cmocka_unit_test(test_what_is_said_of_one_of_two_of_a_name_is_not_believed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
