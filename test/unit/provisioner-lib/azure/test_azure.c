/* The driver's client of Azure against the simulated one, in virtual time: what it asks for, how
 * often, and what comes of it when something goes wrong. */
#include "lib/base/alloc.h"
#include "test/unit/provisioner-lib/azure/cloud_world.h"

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

/* Of the same name and make-up, with these tags. */
static const struct {
    const char *name, *tags;
    const char *says; /* of the refusal; NULL: it is this volume's, made before */
} there[] = {
    {"d", "{}", "this driver did not create it"},
    {"d", "{'k8s-azure-created-by':'kubernetes-azure-dd'}", "an earlier version of the driver"},
    {"pvc-96c8f65f-2d4d-4156-b0a2-0d2aa9847e8e", "{'k8s-azure-created-by':'kubernetes-azure-dd'}",
     NULL},
    {"d",
     "{'k8s-azure-created-by':'kubernetes-azure-dd','k8s-azure-created-by-driver':'" WORLD_DRIVER
     "','k8s-azure-created-by-cluster':'another'}",
     "another cluster created it"},
    {"pvc-96c8f65f-2d4d-4156-b0a2-0d2aa9847e8e",
     "{'k8s-azure-created-by':'kubernetes-azure-dd','k8s-azure-created-by-driver':'x',"
     "'k8s-azure-created-by-cluster':'" WORLD_CLUSTER "'}",
     "driver x of this cluster created it"},
    {"d",
     "{'k8s-azure-created-by':'kubernetes-azure-dd','k8s-azure-created-by-driver':'" WORLD_DRIVER
     "','k8s-azure-created-by-cluster':'" WORLD_CLUSTER "'}",
     NULL},
};

static void test_only_its_own_disk_was_made_before(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(there); i++) {
        struct world *world = world_new();
        struct wish d = {.kind = CREATE, .disk = there[i].name};

        assert_ok(wish(world, d));
        struct disk *disk = world->azure->model->disks;
        json_object_set_new(disk->body, "tags", json_of(there[i].tags));
        CLEANUP(err_freep) struct err *err = wish(world, d);
        if (!there[i].says != !err || (err && !strstr(err_message(err), there[i].says)))
            fail_msg("%s with %s: %s", there[i].name, there[i].tags, err ? err_message(err) : "ok");
        if (err)
            assert_int_equal(err_kind(err), ERR_EXISTS);
        assert_int_equal(calls(world, "disks.createOrUpdate"), 1);
        world_free(world);
    }
}

static void test_what_is_made_carries_the_mark(void **state)
{
    struct world *world = world_new();
    struct wish d = {.kind = CREATE, .disk = "d"};
    struct wish other = {.kind = CREATE, .disk = "d", .cluster = "another"};

    (void)state;
    assert_ok(wish(world, d));
    CLEANUP(json_decrefp)
    json_t *tags = json_of("{'k8s-azure-created-by':'kubernetes-azure-dd',"
                           "'k8s-azure-created-by-driver':'" WORLD_DRIVER
                           "','k8s-azure-created-by-cluster':'" WORLD_CLUSTER "'}");
    assert_true(json_equal(json_object_get(world->network.last_body, "tags"), tags));
    struct err *err = wish(world, other);
    assert_int_equal(err_kind(err), ERR_EXISTS);
    assert_non_null(strstr(err_message(err), WORLD_CLUSTER));
    err_free(err);
    world_free(world);
}

/* A PUT would change it, or take it for the volume's. */
static void test_a_disk_that_is_another_is_left_alone(void **state)
{
    static const struct wish others[] = {
        {.size_gib = 9}, {.size_gib = 11}, {.zone = "eastus-2"}, {.zone = ""}, {.max_shares = 3},
    };
    struct world *world = world_new();

    (void)state;
    assert_ok(wish(world, (struct wish){.kind = CREATE, .disk = "d", .max_shares = 2}));
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        struct wish other = others[i];

        other.kind = CREATE;
        other.disk = "d";
        other.max_shares = other.max_shares ? other.max_shares : 2;
        CLEANUP(err_freep) struct err *err = wish(world, other);
        assert_non_null(err);
        assert_int_equal(err_kind(err), ERR_EXISTS);
    }
    assert_int_equal(calls(world, "disks.createOrUpdate"), 1);
    world_free(world);
}

static void test_an_owner_that_lags_does_not_stop_a_deletion(void **state)
{
    struct world *world = world_new();
    struct wish d = {.kind = CREATE, .disk = "d", .vm = VM("vm1")};

    (void)state;
    assert_ok(wish(world, d));
    d.kind = ATTACH;
    assert_ok(wish(world, d));
    assert_ok(latencies_set(&world->azure->model->latencies, "ownership=5s"));
    d.kind = DETACH;
    assert_ok(wish(world, d));
    d.kind = DELETE;
    assert_ok(wish(world, d));
    assert_null(world->azure->model->disks);
    world_free(world);
}

static void test_a_disk_that_stays_attached_is_not_deleted(void **state)
{
    struct world *world = world_new();
    struct wish d = {.kind = CREATE, .disk = "d", .vm = VM("vm1")};

    (void)state;
    assert_ok(wish(world, d));
    d.kind = ATTACH;
    assert_ok(wish(world, d));
    d.kind = DELETE;
    struct err *err = wish(world, d);
    assert_int_equal(err_kind(err), ERR_PRECONDITION);
    err_free(err);
    assert_non_null(world->azure->model->disks);
    assert_int_equal(calls(world, "disks.delete"), 0); /* Azure is not even asked */
    world_free(world);
}

static void test_a_lost_answer_is_followed_by_a_look(void **state)
{
    struct world *world = world_new();
    struct wish d = {.kind = CREATE, .disk = "d"};

    (void)state;
    world->network.lose_answers = 1;
    struct err *err = wish(world, d);
    assert_int_equal(err_kind(err), ERR_UNAVAILABLE);
    err_free(err);
    assert_ok(wish(world, d));
    assert_int_equal(calls(world, "disks.createOrUpdate"), 1);
    world_free(world);
}

/* ---- batches ---- */

enum { MANY = 8 };

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

    (void)state;
    make_disks(world, names, 1, 1);
    world->network.lose_answers = 1;
    struct err *err = wish(world, a);
    assert_int_equal(err_kind(err), ERR_UNAVAILABLE);
    err_free(err);

    struct cloud_instance model = model_of(world, VM("vm1"));
    assert_int_equal(model.n_slots, 1);
    assert_int_equal(model.slots[0].lun, 5);
    assert_int_equal(model.state, CLOUD_INSTANCE_CHANGING);
    cloud_instance_fini(&model);

    loop_advance(world->azure->loop, 15 * 1000);
    model = model_of(world, VM("vm1"));
    assert_int_equal(model.state, CLOUD_INSTANCE_SETTLED);
    cloud_instance_fini(&model);
    assert_int_equal(calls(world, CHANGES), 1);
    world_free(world);
}

static void test_a_request_that_never_arrived(void **state)
{
    struct world *world = world_new();
    struct wish a = {.kind = ATTACH, .vm = VM("vm1"), .disk = "a", .lun = 5};

    (void)state;
    make_disks(world, names, 1, 1);
    world->network.lose_requests = 1;
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
    world_close(world);
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
        cmocka_unit_test(test_only_its_own_disk_was_made_before),
        cmocka_unit_test(test_what_is_made_carries_the_mark),
        cmocka_unit_test(test_a_disk_that_is_another_is_left_alone),
        cmocka_unit_test(test_an_owner_that_lags_does_not_stop_a_deletion),
        cmocka_unit_test(test_a_disk_that_stays_attached_is_not_deleted),
        cmocka_unit_test(test_a_lost_answer_is_followed_by_a_look),
        cmocka_unit_test(test_many_disks_are_two_changes),
        cmocka_unit_test(test_one_bad_disk_does_not_hold_up_the_others),
        cmocka_unit_test(test_attach_and_detach_go_together),
        cmocka_unit_test(test_a_change_whose_answer_was_lost_is_not_sent_again_blindly),
        cmocka_unit_test(test_a_request_that_never_arrived),
        cmocka_unit_test(test_refusals_have_their_kinds),
        cmocka_unit_test(test_a_token_is_asked_for_once_and_anew_when_it_is_refused),
        cmocka_unit_test(test_closing_while_a_change_is_under_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
