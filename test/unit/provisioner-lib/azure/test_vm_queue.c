/* Who goes before whom in the queue of a VM, what goes together, and what becomes of refusals. */
#include "lib/base/alloc.h"
#include "test/unit/provisioner-lib/azure/cloud_world.h"

enum { MANY = 9 };

static const char *const names[MANY] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};

/* vm1 with all its eight places taken, by a to h. */
static struct world *full_world(void)
{
    struct world *world = world_new();
    struct wish wishes[MANY - 1];

    make_disks(world, names, MANY, 1);
    for (int i = 0; i < MANY - 1; i++) {
        wishes[i] = (struct wish){.kind = ATTACH, .vm = VM("vm1"), .disk = names[i], .lun = i};
        begin(world, &wishes[i]);
    }
    finish(world, wishes, MANY - 1);
    for (int i = 0; i < MANY - 1; i++)
        assert_ok(wishes[i].err);
    json_array_clear(world->azure->records);
    return world;
}

/* ---- one disk in exchange for another ---- */

static void test_a_disk_goes_and_another_comes_in_one_change(void **state)
{
    struct world *world = full_world();
    struct wish wishes[] = {
        {.kind = ATTACH, .vm = VM("vm1"), .disk = "i", .lun = 8, .swap_out = "c"},
        {.kind = DETACH, .vm = VM("vm1"), .disk = "c", .urgency = CLOUD_IN_THE_WAY},
    };

    (void)state;
    begin(world, &wishes[0]);
    loop_advance(world->azure->loop, 1);
    begin(world, &wishes[1]);
    finish(world, wishes, COUNT_OF(wishes));
    for (size_t i = 0; i < COUNT_OF(wishes); i++)
        assert_ok(wishes[i].err);
    assert_int_equal(calls(world, CHANGES), 1);
    assert_int_equal(attached(world, "vm1"), 8);
    world_free(world);
}

static void test_what_is_gone_already_is_not_detached_again(void **state)
{
    struct world *world = full_world();
    struct wish i = {.kind = ATTACH, .vm = VM("vm1"), .disk = "i", .lun = 8, .swap_out = "c"};

    (void)state;
    assert_ok(wish(world, (struct wish){.kind = DETACH, .vm = VM("vm1"), .disk = "c"}));
    assert_ok(wish(world, i));
    assert_int_equal(attached(world, "vm1"), 8);
    assert_int_equal(
        json_array_size(json_object_get(world->network.last_body, "dataDisksToDetach")), 0);
    world_free(world);
}

static void test_where_one_counts_before_the_other_they_go_in_two(void **state)
{
    struct world *world = full_world();

    (void)state;
    world->network.stand_in = (struct stand_in){
        .text = "attachDetachDataDisks",
        .times = 1,
        .status = 409,
        .body = "{'error': {'code': 'OperationNotAllowed', 'message': 'The maximum number of data "
                "disks allowed to be attached to a VM of this size is 8.'}}"};
    assert_ok(wish(
        world,
        (struct wish){.kind = ATTACH, .vm = VM("vm1"), .disk = "i", .lun = 8, .swap_out = "c"}));
    assert_int_equal(calls(world, CHANGES), 2);
    assert_int_equal(attached(world, "vm1"), 8);
    world_free(world);
}

/* One change cannot do both. */
static void test_a_disk_that_goes_and_comes_goes_in_two(void **state)
{
    struct world *world = full_world();
    struct wish wishes[] = {
        {.kind = DETACH, .vm = VM("vm1"), .disk = "h"}, /* which both wait for */
        {.kind = DETACH, .vm = VM("vm1"), .disk = "c"},
        {.kind = ATTACH, .vm = VM("vm1"), .disk = "c", .lun = 9},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(wishes); i++) {
        begin(world, &wishes[i]);
        loop_advance(world->azure->loop, 100);
    }
    finish(world, wishes, COUNT_OF(wishes));
    for (size_t i = 0; i < COUNT_OF(wishes); i++)
        assert_ok(wishes[i].err);
    assert_int_equal(calls(world, CHANGES), 3);
    assert_int_equal(attached(world, "vm1"), 7);
    world_free(world);
}

/* ---- what Azure says is done ---- */

static void answer_done(struct world *world)
{
    world->network.stand_in =
        (struct stand_in){.text = "attachDetachDataDisks", .times = 1, .status = 200, .body = "{}"};
}

/* Only the VM's model counts: at another LUN a node would look for it in vain, or find another. */
static void test_azures_word_is_not_enough(void **state)
{
    struct world *world = world_new();

    (void)state;
    make_disks(world, names, 1, 1);
    assert_ok(wish(world, (struct wish){.kind = ATTACH, .vm = VM("vm1"), .disk = "a", .lun = 3}));
    answer_done(world);
    assert_fails(
        wish(world, (struct wish){.kind = ATTACH, .vm = VM("vm1"), .disk = "a"}), ERR_CONFLICT,
        "disk " DISK("a") " is not at LUN 0 of " VM("vm1") " although the attach succeeded");
    answer_done(world);
    assert_fails(wish(world, (struct wish){.kind = DETACH, .vm = VM("vm1"), .disk = "a"}), ERR_BUSY,
                 "disk " DISK("a") " is still being detached from " VM("vm1"));
    world_free(world);
}

/* ---- order ---- */

static void test_a_primary_waits_for_one_change_at_most(void **state)
{
    struct world *world = world_new();
    struct wish wishes[] = {
        {.kind = ATTACH, .vm = VM("vm1"), .disk = "a", .lun = 0, .urgency = CLOUD_FOR_REPLICA},
        {.kind = ATTACH, .vm = VM("vm1"), .disk = "b", .lun = 1, .urgency = CLOUD_FOR_REPLICA},
        {.kind = ATTACH, .vm = VM("vm1"), .disk = "c", .lun = 2, .urgency = CLOUD_FOR_REPLICA},
        {.kind = ATTACH, .vm = VM("vm1"), .disk = "gone", .lun = 3, .urgency = CLOUD_FOR_REPLICA},
        {.kind = ATTACH, .vm = VM("vm1"), .disk = "d", .lun = 4, .urgency = CLOUD_FOR_PRIMARY},
    };
    uint64_t start;

    (void)state;
    make_disks(world, names, 4, 1);
    begin(world, &wishes[0]);
    loop_advance(world->azure->loop, 100);
    start = now_of(world);
    for (size_t i = 1; i < COUNT_OF(wishes); i++)
        begin(world, &wishes[i]);
    finish(world, wishes, COUNT_OF(wishes));
    for (size_t i = 0; i < COUNT_OF(wishes); i++)
        if (i != 3)
            assert_ok(wishes[i].err);
    assert_int_equal(err_kind(wishes[3].err), ERR_NOT_FOUND);
    err_free(wishes[3].err);
    /* One change was under way, the next is refused at once for the disk that does not exist, and
     * of its halves the primary's goes first. */
    assert_in_range(wishes[4].ended_at - start, 10 * 1000, 25 * 1000);
    assert_true(wishes[4].ended_at <= wishes[1].ended_at);
    assert_true(wishes[4].ended_at <= wishes[2].ended_at);
    world_free(world);
}

/* A shared disk is leaving another VM; that holds up nothing else. */
static void test_a_primary_does_not_wait_for_a_disk_that_is_busy_elsewhere(void **state)
{
    struct world *world = world_new();
    struct wish wishes[] = {
        {.kind = DETACH, .vm = VM("vm1"), .disk = "a"}, /* which takes 8 s */
        {.kind = ATTACH, .vm = VM("vm2"), .disk = "a", .lun = 0, .urgency = CLOUD_FOR_REPLICA},
        {.kind = ATTACH, .vm = VM("vm2"), .disk = "b", .lun = 1, .urgency = CLOUD_FOR_PRIMARY},
    };
    uint64_t start;

    (void)state;
    make_disks(world, names, 2, 2);
    assert_ok(wish(world, (struct wish){.kind = ATTACH, .vm = VM("vm1"), .disk = "a", .lun = 0}));
    assert_ok(latencies_set(&world->azure->model->latencies, "detach=8s"));
    for (size_t i = 0; i < COUNT_OF(wishes); i++) {
        begin(world, &wishes[i]);
        loop_advance(world->azure->loop, 500);
    }
    start = now_of(world);
    finish(world, wishes, COUNT_OF(wishes));
    for (size_t i = 0; i < COUNT_OF(wishes); i++)
        assert_ok(wishes[i].err);
    assert_in_range(wishes[2].ended_at - start, 9 * 1000, 14 * 1000);
    assert_in_range(wishes[1].ended_at - start, 19 * 1000, 30 * 1000);
    world_free(world);
}

/* It has left before it could: another VM may have it, however long this one's change takes. */
static void test_what_has_left_is_not_kept_from_others(void **state)
{
    struct world *world = full_world();
    struct wish wishes[] = {
        {.kind = ATTACH, .vm = VM("vm1"), .disk = "i", .lun = 8, .swap_out = "c"},
        {.kind = ATTACH, .vm = VM("vm2"), .disk = "c", .lun = 0},
    };

    (void)state;
    assert_ok(wish(world, (struct wish){.kind = DETACH, .vm = VM("vm1"), .disk = "c"}));
    uint64_t start = now_of(world);
    begin(world, &wishes[0]);
    loop_advance(world->azure->loop, 500);
    begin(world, &wishes[1]);
    finish(world, wishes, COUNT_OF(wishes));
    for (size_t i = 0; i < COUNT_OF(wishes); i++)
        assert_ok(wishes[i].err);
    assert_in_range(wishes[1].ended_at - start, 9 * 1000, 14 * 1000);
    world_free(world);
}

static void test_a_new_primary_goes_before_the_halves_of_a_refused_change(void **state)
{
    struct world *world = world_new();
    struct wish wishes[MANY - 1];

    (void)state;
    make_disks(world, names, MANY - 1, 1);
    for (int i = 0; i < MANY - 1; i++)
        wishes[i] = (struct wish){.kind = ATTACH,
                                  .vm = VM("vm1"),
                                  .disk = i == 6 ? "gone" : names[i],
                                  .lun = i,
                                  .urgency = CLOUD_FOR_REPLICA};
    wishes[7].urgency = CLOUD_FOR_PRIMARY;
    for (int i = 0; i < 7; i++)
        begin(world, &wishes[i]);
    loop_advance(world->azure->loop, 13 * 1000); /* the first half is under way */
    begin(world, &wishes[7]);
    finish(world, wishes, MANY - 1);
    assert_int_equal(err_kind(wishes[6].err), ERR_NOT_FOUND);
    err_free(TAKE_PTR(wishes[6].err));
    int later = 0;
    for (int i = 0; i < MANY - 1; i++) {
        assert_ok(wishes[i].err);
        later += wishes[i].ended_at > wishes[7].ended_at;
    }
    assert_in_range(later, 1, 7);
    world_free(world);
}

/* ---- room ---- */

static void look(struct world *world)
{
    struct cloud_instance model = model_of(world, VM("vm1"));

    cloud_instance_fini(&model);
}

#define FULL "all 8 disk slots of " VM("vm1") " are taken"

static void test_a_change_has_no_more_disks_than_there_is_room(void **state)
{
    struct world *world = world_new();
    struct wish wishes[MANY];
    int full = 0;

    (void)state;
    make_disks(world, names, MANY, 1);
    look(world);
    json_array_clear(world->azure->records);
    for (int i = 0; i < MANY; i++) {
        wishes[i] = (struct wish){.kind = ATTACH, .vm = VM("vm1"), .disk = names[i], .lun = i};
        begin(world, &wishes[i]);
    }
    finish(world, wishes, MANY);
    for (int i = 0; i < MANY; i++)
        if (wishes[i].err) {
            assert_fails(wishes[i].err, ERR_EXHAUSTED, FULL);
            full++;
        }
    assert_int_equal(full, 1);
    assert_int_equal(calls(world, CHANGES),
                     2); /* the first one's, and that of all who came since */
    world_free(world);
}

static void test_a_full_vm_is_not_asked(void **state)
{
    struct world *world = full_world();
    struct wish wishes[] = {
        {.kind = ATTACH, .vm = VM("vm1"), .disk = "i", .lun = 8},
        {.kind = DETACH, .vm = VM("vm1"), .disk = "c", .urgency = CLOUD_IN_THE_WAY},
    };

    (void)state;
    assert_fails(wish(world, wishes[0]), ERR_EXHAUSTED, FULL);
    assert_int_equal(calls(world, CHANGES), 0);

    begin(world, &wishes[1]); /* makes room */
    loop_advance(world->azure->loop, 1);
    begin(world, &wishes[0]);
    finish(world, wishes, COUNT_OF(wishes));
    assert_ok(wishes[0].err);
    assert_ok(wishes[1].err);
    world_free(world);
}

/* The model of before is not believed when there is no room in it. */
static void test_room_that_somebody_else_has_made_is_used(void **state)
{
    struct world *world = full_world();
    struct wish i = {.kind = ATTACH, .vm = VM("vm1"), .disk = "i", .lun = 8};

    (void)state;
    CLEANUP(http_response_finip) struct http_response response = {0};
    ask(world->azure, "POST",
        "{P}/virtualMachines/vm1/attachDetachDataDisks?api-version=2025-04-01",
        "{'dataDisksToDetach': [{'diskId': '" DISK("c") "'}]}", &response);
    assert_int_equal(response.status, 202);
    loop_advance(world->azure->loop, 60 * 1000);
    assert_ok(wish(world, i));
    assert_int_equal(attached(world, "vm1"), 8);
    world_free(world);
}

/* One change finds out, and the others wait: each would take from what Azure allows. */
static void test_a_change_of_somebody_else_is_waited_for(void **state)
{
    struct world *world = full_world();
    struct wish h = {.kind = DETACH, .vm = VM("vm1"), .disk = "h"};
    CLEANUP(http_response_finip) struct http_response response = {0};

    (void)state;
    assert_ok(latencies_set(&world->azure->model->latencies, "detach=40s"));
    ask(world->azure, "POST",
        "{P}/virtualMachines/vm1/attachDetachDataDisks?api-version=2025-04-01",
        "{'dataDisksToDetach': [{'diskId': '" DISK("c") "'}]}", &response);
    assert_int_equal(response.status, 202);
    struct wish first = h;
    begin(world, &first);
    loop_advance(world->azure->loop, 1000);
    assert_true(first.ended);
    assert_int_equal(err_kind(first.err), ERR_BUSY);
    err_free(first.err);
    uint64_t start = now_of(world);
    struct wish wishes[] = {h, {.kind = ATTACH, .vm = VM("vm2"), .disk = "h", .lun = 0}};
    for (size_t i = 0; i < COUNT_OF(wishes); i++)
        begin(world, &wishes[i]);
    finish(world, wishes, COUNT_OF(wishes));
    assert_ok(wishes[0].err);
    assert_in_range(wishes[0].ended_at - start, 75 * 1000, 90 * 1000);
    assert_int_equal(calls(world, CHANGES), 4);
    /* That the other VM gets an answer does not wait for it: here, that it is attached to vm1. */
    assert_int_equal(err_kind(wishes[1].err), ERR_BUSY);
    err_free(wishes[1].err);
    assert_in_range(wishes[1].ended_at - start, 0, 2000);
    world_free(world);
}

/* Then Azure is asked. */
static void test_what_is_built_in_refuses_nothing(void **state)
{
    struct world *world = world_new();
    struct wish i = {.kind = ATTACH, .vm = VM("vm1"), .disk = "i", .lun = 8};

    (void)state;
    world->network.stand_in =
        (struct stand_in){.text = "/skus?",
                          .times = 100,
                          .status = 403,
                          .body = "{'error': {'code': 'AuthorizationFailed', 'message': 'no'}}"};
    make_disks(world, names, MANY, 1);
    for (int n = 0; n < MANY - 1; n++)
        assert_ok(wish(world,
                       (struct wish){.kind = ATTACH, .vm = VM("vm1"), .disk = names[n], .lun = n}));
    json_array_clear(world->azure->records);
    struct err *err = wish(world, i);
    assert_string_equal(err_code(err), "OperationNotAllowed");
    assert_int_equal(err_kind(err), ERR_EXHAUSTED);
    err_free(err);
    assert_int_equal(calls(world, CHANGES), 1);
    world_free(world);
}

static void test_subscriptions_do_not_mix(void **state)
{
    struct world *world = world_new();
    struct wish a = {.kind = ATTACH,
                     .vm = "/subscriptions/other/resourceGroups/rg/providers/Microsoft.Compute/"
                           "virtualMachines/vm1",
                     .disk = "a"};

    (void)state;
    make_disks(world, names, 1, 1);
    struct err *err = wish(world, a);
    assert_int_equal(err_kind(err), ERR_INVALID);
    assert_non_null(strstr(err_message(err), "is not in the same subscription as"));
    err_free(err);
    assert_int_equal(calls(world, CHANGES), 0);
    world_free(world);
}

/* ---- want of buckets ---- */

static void refuse_for_budget(struct world *world, const char *text, int times)
{
    world->network.stand_in = (struct stand_in){
        .text = text,
        .times = times,
        .status = 429,
        .headers = {{"Retry-After", "17"},
                    {"x-ms-ratelimit-remaining-resource", "Microsoft.Compute/UpdateVMResource;0"}},
        .body = "{'code': 'OperationNotAllowed', 'message': 'too many requests', 'details': "
                "[{'code': 'TooManyRequests', 'target': 'UpdateVMResource'}]}"};
}

static void test_a_refused_change_is_sent_when_its_time_has_come(void **state)
{
    struct world *world = world_new();
    struct wish a = {.kind = ATTACH, .vm = VM("vm1"), .disk = "a", .lun = 0};
    struct wish b = {.kind = ATTACH, .vm = VM("vm1"), .disk = "b", .lun = 1};

    (void)state;
    make_disks(world, names, 2, 1);
    refuse_for_budget(world, "attachDetachDataDisks", 1);
    begin(world, &a);
    loop_advance(world->azure->loop, 1000);
    int sent = world->network.requests;
    begin(world, &b);
    loop_advance(world->azure->loop, 15900);
    assert_int_equal(world->network.requests, sent);
    loop_advance(world->azure->loop, 30 * 1000);
    assert_true(a.ended && b.ended);
    assert_ok(a.err);
    assert_ok(b.err);
    assert_int_equal(calls(world, CHANGES), 1); /* both in one */
    world_free(world);
}

static void test_other_vms_are_not_held_up(void **state)
{
    struct world *world = world_new();
    struct wish a = {.kind = ATTACH, .vm = VM("vm1"), .disk = "a", .lun = 0};
    struct wish b = {.kind = ATTACH, .vm = VM("vm2"), .disk = "b", .lun = 0};
    uint64_t start;

    (void)state;
    make_disks(world, names, 2, 1);
    refuse_for_budget(world, "attachDetachDataDisks", 1);
    begin(world, &a);
    loop_advance(world->azure->loop, 100);
    start = now_of(world);
    begin(world, &b);
    loop_advance(world->azure->loop, 60 * 1000);
    assert_true(a.ended && b.ended);
    assert_ok(a.err);
    assert_ok(b.err);
    assert_in_range(b.ended_at - start, 1, 16 * 1000);
    assert_in_range(a.ended_at - start, 16 * 1000, 60 * 1000);
    world_free(world);
}

static void test_when_only_looking_is_refused_nothing_is_sent_twice(void **state)
{
    struct world *world = world_new();

    (void)state;
    make_disks(world, names, 1, 1);
    refuse_for_budget(world, "/operations/", 3);
    assert_ok(wish(world, (struct wish){.kind = ATTACH, .vm = VM("vm1"), .disk = "a"}));
    assert_int_equal(calls(world, CHANGES), 1);
    assert_int_equal(world->network.stand_in.times, 0);
    world_free(world);
}

/* Azure says that it failed for want of buckets, although it has come to be. */
static void test_a_throttled_operation_is_looked_at_before_it_is_tried_again(void **state)
{
    struct world *world = world_new();
    struct wish a = {.kind = ATTACH, .vm = VM("vm1"), .disk = "a"};

    (void)state;
    make_disks(world, names, 1, 1);
    begin(world, &a);
    loop_advance(world->azure->loop, 9000);
    world->network.stand_in = (struct stand_in){
        .text = "/operations/",
        .times = 1,
        .status = 200,
        .body = "{'status': 'Failed', 'error': {'code': 'TooManyRequests', 'message': 'm'}}"};
    finish(world, &a, 1);
    assert_ok(a.err);
    assert_int_equal(world->network.stand_in.times, 0);
    assert_int_equal(calls(world, CHANGES), 1);
    world_free(world);
}

/* Azure gives no time for it. */
static void test_a_throttled_operation_is_not_tried_again_at_once(void **state)
{
    struct world *world = world_new();
    struct wish a = {.kind = ATTACH, .vm = VM("vm1"), .disk = "a"};

    (void)state;
    make_disks(world, names, 1, 1);
    world->network.stand_in = (struct stand_in){
        .text = "attachDetachDataDisks",
        .times = 1,
        .status = 202,
        .headers = {{"Azure-AsyncOperation",
                     "https://management.azure.com/subscriptions/" SUBSCRIPTION "/operations/1"}},
        .body = "{}"};
    begin(world, &a);
    loop_advance(world->azure->loop, 500);
    assert_int_equal(world->network.stand_in.times, 0);
    world->network.stand_in = (struct stand_in){
        .text = "/operations/1",
        .times = 1,
        .status = 200,
        .body = "{'status': 'Failed', 'error': {'code': 'TooManyRequests', 'message': 'm'}}"};
    while (world->network.stand_in.times > 0)
        loop_advance(world->azure->loop, 10);
    loop_advance(world->azure->loop, 900);
    assert_int_equal(calls(world, CHANGES), 0);
    finish(world, &a, 1);
    assert_ok(a.err);
    assert_int_equal(calls(world, CHANGES), 1);
    world_free(world);
}

/* Each row is how Azure may say which bucket is empty; only what that concerns has to wait. */
static void test_which_bucket_was_empty(void **state)
{
    static const struct {
        const char *code, *details;
        struct http_header header;
        bool holds_other_vm;
    } refusals[] = {
        {"OperationNotAllowed",
         "[{'code': 'TooManyRequests', 'target': 'UpdateVMResource'}]",
         {0},
         false},
        {"OperationNotAllowed",
         "[{'code': 'TooManyRequests', 'target': 'UpdateVMSubscriptionMaximum'}]",
         {0},
         true},
        {"OperationNotAllowed",
         "[]",
         {"x-ms-ratelimit-remaining-resource",
          "Microsoft.Compute/UpdateVMResource;0,Microsoft.Compute/UpdateVMSubscriptionMaximum;9"},
         false},
        {"OperationNotAllowed",
         "[]",
         {"x-ms-ratelimit-remaining-resource", "UpdateVM3Min;0"},
         true},
        {"ResourceRequestsThrottled", "[]", {0}, false},
        {"SubscriptionRequestsThrottled", "[]", {0}, true},
        {"SubscriptionRequestsThrottled",
         "[]",
         {"x-ms-ratelimit-remaining-subscription-writes", "0"},
         true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(refusals); i++) {
        struct world *world = world_new();
        struct wish a = {.kind = ATTACH, .vm = VM("vm1"), .disk = "a"};
        struct wish b = {.kind = ATTACH, .vm = VM("vm2"), .disk = "b"};
        CLEANUP(freep)
        char *body = mem_printf("{'error': {'code': '%s', 'message': 'm', 'details': %s}}",
                                refusals[i].code, refusals[i].details);

        make_disks(world, names, 2, 1);
        world->network.stand_in =
            (struct stand_in){.text = "attachDetachDataDisks",
                              .times = 1,
                              .status = 429,
                              .headers = {{"Retry-After", "60"}, refusals[i].header},
                              .body = body};
        begin(world, &a);
        loop_advance(world->azure->loop, 100);
        begin(world, &b);
        loop_advance(world->azure->loop, 50 * 1000);
        assert_false(a.ended);
        assert_int_equal(b.ended, !refusals[i].holds_other_vm);
        loop_advance(world->azure->loop, 60 * 1000);
        assert_true(a.ended && b.ended);
        assert_ok(a.err);
        assert_ok(b.err);
        world_free(world);
    }
}

/* ---- clouds without the action ---- */

static void test_a_cloud_without_the_action_gets_the_whole_list(void **state)
{
    static const char *const refusals[] = {
        "{'error': {'code': 'InvalidResourceType', 'message': 'no such type'}}",
        "{'error': {'code': 'BadRequest', 'message': 'The subscription is not enabled for using "
        "the attach detach data disks API.'}}",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(refusals); i++) {
        struct world *world = world_new();

        make_disks(world, names, 2, 1);
        world->network.stand_in = (struct stand_in){
            .text = "attachDetachDataDisks", .times = 1000, .status = 400, .body = refusals[i]};
        assert_ok(wish(world, (struct wish){.kind = ATTACH, .vm = VM("vm1"), .disk = "a"}));
        assert_int_equal(world->network.stand_in.times, 999);
        assert_ok(
            wish(world, (struct wish){.kind = ATTACH, .vm = VM("vm1"), .disk = "b", .lun = 1}));
        assert_ok(wish(world, (struct wish){.kind = DETACH, .vm = VM("vm1"), .disk = "a"}));
        assert_int_equal(world->network.stand_in.times, 999); /* it is not asked again */
        assert_int_equal(calls(world, "virtualMachines.update"), 3);
        assert_int_equal(attached(world, "vm1"), 1);
        world_free(world);
    }
}

static void test_a_cloud_that_only_leaves_out(void **state)
{
    struct world *world = world_new();

    (void)state;
    make_disks(world, names, 2, 1);
    world->network.stand_in = (struct stand_in){
        .text = "attachDetachDataDisks",
        .times = 1000,
        .status = 400,
        .body = "{'error': {'code': 'InvalidResourceType', 'message': 'no such type'}}"};
    assert_ok(wish(world, (struct wish){.kind = ATTACH, .vm = VM("vm1"), .disk = "a"}));
    world->network.stand_in = (struct stand_in){
        .text = "virtualMachines/vm1",
        .method = "PATCH",
        .times = 1,
        .status = 400,
        .body = "{'error': {'code': 'BadRequest', 'message': \"Could not find member "
                "'toBeDetached' on object of type 'DataDisk'.\"}}"};
    world->network.stand_in.body =
        "{'error': {'code': 'BadRequest', 'message': 'Could not find member \\u0027toBeDetached"
        "\\u0027 on object of type \\u0027DataDisk\\u0027.'}}";
    assert_ok(wish(world, (struct wish){.kind = DETACH, .vm = VM("vm1"), .disk = "a"}));
    assert_int_equal(attached(world, "vm1"), 0);
    const json_t *properties = json_object_get(world->network.last_body, "properties");
    const json_t *profile = json_object_get(properties, "storageProfile");
    assert_int_equal(json_array_size(json_object_get(profile, "dataDisks")), 0);
    world_free(world);
}

/* ---- LUNs ---- */

static uint64_t cooling(struct world *world)
{
    struct cloud_instance model = model_of(world, VM("vm1"));
    uint64_t luns = model.cooling_luns;

    cloud_instance_fini(&model);
    return luns;
}

static void test_a_freed_lun_rests_for_a_minute(void **state)
{
    struct world *world = full_world();

    (void)state;
    assert_int_equal(cooling(world), 0);
    assert_ok(wish(world, (struct wish){.kind = DETACH, .vm = VM("vm1"), .disk = "d"}));
    assert_int_equal(cooling(world), 1 << 3);
    loop_advance(world->azure->loop, 61 * 1000);
    assert_int_equal(cooling(world), 0);
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_disk_goes_and_another_comes_in_one_change),
        cmocka_unit_test(test_what_is_gone_already_is_not_detached_again),
        cmocka_unit_test(test_where_one_counts_before_the_other_they_go_in_two),
        cmocka_unit_test(test_a_disk_that_goes_and_comes_goes_in_two),
        cmocka_unit_test(test_azures_word_is_not_enough),
        cmocka_unit_test(test_a_primary_waits_for_one_change_at_most),
        cmocka_unit_test(test_a_primary_does_not_wait_for_a_disk_that_is_busy_elsewhere),
        cmocka_unit_test(test_what_has_left_is_not_kept_from_others),
        cmocka_unit_test(test_a_new_primary_goes_before_the_halves_of_a_refused_change),
        cmocka_unit_test(test_a_change_has_no_more_disks_than_there_is_room),
        cmocka_unit_test(test_a_full_vm_is_not_asked),
        cmocka_unit_test(test_room_that_somebody_else_has_made_is_used),
        cmocka_unit_test(test_a_change_of_somebody_else_is_waited_for),
        cmocka_unit_test(test_what_is_built_in_refuses_nothing),
        cmocka_unit_test(test_subscriptions_do_not_mix),
        cmocka_unit_test(test_a_refused_change_is_sent_when_its_time_has_come),
        cmocka_unit_test(test_other_vms_are_not_held_up),
        cmocka_unit_test(test_when_only_looking_is_refused_nothing_is_sent_twice),
        cmocka_unit_test(test_a_throttled_operation_is_looked_at_before_it_is_tried_again),
        cmocka_unit_test(test_a_throttled_operation_is_not_tried_again_at_once),
        cmocka_unit_test(test_which_bucket_was_empty),
        cmocka_unit_test(test_a_cloud_without_the_action_gets_the_whole_list),
        cmocka_unit_test(test_a_cloud_that_only_leaves_out),
        cmocka_unit_test(test_a_freed_lun_rests_for_a_minute),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
