/* Conversations with Resource Manager: end points that are asked for, versions, operations in each
 * shape, and how often they are looked at. */
#include <stdlib.h>

#include "lib/api/compute.pb-c.h"
#include "lib/base/alloc.h"
#include "test/unit/provisioner-lib/azure/scripted_arm.h"

#define FAILURE(code) "{\"error\": {\"code\": \"" code "\", \"message\": \"m\"}}"
#define OPERATION HOME "/subscriptions/s/providers/Microsoft.Compute/locations/l/operations/1?x=y"

enum { MINUTE_MS = 60 * 1000, HOUR_MS = 60 * MINUTE_MS };

static const struct asking put_disk = {
    .request = {.kind = ARM_DISK_WRITE, .method = "PUT", .path = RESOURCES "disks/d"}};
static const struct asking change_vm = {.request = {.kind = ARM_VM_UPDATE,
                                                    .method = "POST",
                                                    .path = RESOURCES "virtualMachines/v/x",
                                                    .resource = RESOURCES "virtualMachines/v"}};

static size_t count(const struct scripted_arm *scripted, const char *text)
{
    size_t n = 0;

    for (size_t i = 0; i < scripted->n_sent; i++)
        n += strstr(scripted->sent[i].url, text) != NULL;
    return n;
}

/* ---- end points ---- */

static void test_end_points_are_asked_for_by_one(void **state)
{
    static const struct line script[] = {{AUTHORITY}, {"disks/d", 0, 200, {NULL}, "{}"}, {0}};
    struct scripted_arm *scripted = scripted_arm_new("", script);
    struct asking askings[] = {put_disk, put_disk, put_disk};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(askings); i++)
        asking_begin(scripted, &askings[i]);
    for (size_t i = 0; i < COUNT_OF(askings); i++)
        assert_ok(asking_end(&askings[i], 1000));
    assert_int_equal(count(scripted, "/metadata/endpoints"), 1);
    scripted_arm_free(scripted);
}

static void test_another_one_asks_when_that_failed(void **state)
{
    static const struct line script[] = {{"/metadata/endpoints", 1, 503, {NULL}, NULL},
                                         {AUTHORITY},
                                         {"disks/d", 0, 200, {NULL}, "{}"},
                                         {0}};
    struct scripted_arm *scripted = scripted_arm_new("", script);
    struct asking askings[] = {put_disk, put_disk};

    (void)state;
    asking_begin(scripted, &askings[0]);
    asking_begin(scripted, &askings[1]);
    loop_advance(scripted->loop, 1000);
    bool second = askings[0].err == NULL; /* tasks begin in any order */
    assert_fails(askings[second].err, ERR_UNAVAILABLE, "no code: no reason given (HTTP 503)");
    assert_ok(asking_end(&askings[!second], 1000));
    assert_int_equal(count(scripted, "/metadata/endpoints"), 2);
    scripted_arm_free(scripted);
}

/* ---- versions ---- */

static void test_a_stack_is_spoken_to_in_its_own_versions(void **state)
{
    static const struct line script[] = {
        {AUTHORITY}, {"/subscriptions/", 0, 200, {NULL}, "{}"}, {0}};
    static const struct {
        const char *cloud;
        const char *disk, *vm;
    } clouds[] = {
        {"", "api-version=2025-01-02", "api-version=2025-04-01"},
        {", cloud: AzureStackCloud", "api-version=2019-07-01", "api-version=2017-12-01"},
        {", cloud: AzureStackCloud, disableAzureStackCloud: true", "api-version=2025-01-02",
         "api-version=2025-04-01"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(clouds); i++) {
        struct scripted_arm *scripted = scripted_arm_new(clouds[i].cloud, script);
        struct asking disk = put_disk, vm = change_vm;

        asking_begin(scripted, &disk);
        asking_begin(scripted, &vm);
        assert_ok(asking_end(&disk, 1000));
        assert_ok(asking_end(&vm, 1000));
        assert_int_equal(count(scripted, clouds[i].disk), 1);
        assert_int_equal(count(scripted, clouds[i].vm), 1);
        scripted_arm_free(scripted);
    }
}

/* ---- conditions ---- */

static void test_a_condition_that_does_not_hold(void **state)
{
    static const struct line script[] = {
        {AUTHORITY}, {"virtualMachines/v", 0, 412, {NULL}, FAILURE("PreconditionFailed")}, {0}};
    struct scripted_arm *scripted = scripted_arm_new("", script);
    struct asking asking = change_vm;

    (void)state;
    asking.request.if_match = "\"3\"";
    asking_begin(scripted, &asking);
    assert_fails(asking_end(&asking, 1000), ERR_CONFLICT,
                 "POST " RESOURCES "virtualMachines/v/x: PreconditionFailed: m (HTTP 412)");
    assert_string_equal(scripted->sent[scripted->n_sent - 1].if_match, "\"3\"");
    scripted_arm_free(scripted);
}

/* ---- refusals ---- */

/* It is not followed, and nothing has been done. */
static void test_a_redirect_is_no_success(void **state)
{
    static const struct line script[] = {
        {AUTHORITY},
        {"disks/d", 0, 302, {"Location", HOME "/subscriptions/s/elsewhere"}, NULL},
        {"elsewhere", 0, 200, {NULL}, "{}"},
        {0}};
    struct scripted_arm *scripted = scripted_arm_new("", script);
    struct asking asking = put_disk;

    (void)state;
    asking_begin(scripted, &asking);
    assert_fails(asking_end(&asking, MINUTE_MS), ERR_INTERNAL,
                 "PUT " RESOURCES "disks/d: no code: no reason given (HTTP 302)");
    assert_int_equal(count(scripted, "elsewhere"), 0);
    scripted_arm_free(scripted);
}

static void test_a_refused_token_is_not_used_again(void **state)
{
    static const struct line script[] = {
        {AUTHORITY}, {"disks/d", 1, 401, {NULL}, NULL}, {"disks/d", 0, 200, {NULL}, "{}"}, {0}};
    struct scripted_arm *scripted = scripted_arm_new("", script);
    struct asking asking = put_disk;

    (void)state;
    asking_begin(scripted, &asking);
    assert_ok(asking_end(&asking, MINUTE_MS));
    assert_int_equal(count(scripted, "disks/d"), 2);
    assert_int_equal(scripted->n_tokens, 2);
    scripted_arm_free(scripted);
}

/* ---- answers that say nothing ---- */

struct reading {
    struct scripted_arm *scripted;
    const char *complaint;
};

static void get_disk(struct task *self, void *arg)
{
    const struct reading *reading = arg;
    const struct arm_request request = {.path = RESOURCES "disks/d"};
    CLEANUP(freep) char *text = mem_printf("GET " RESOURCES "disks/d: %s", reading->complaint);
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const ProtobufCMessage *disk;

    assert_fails(arm_client_get(self, reading->scripted->arm, &request, &arm__disk__descriptor,
                                arena, &disk),
                 ERR_UNAVAILABLE, text);
}

/* A proxy's, or one that was cut off; the next one may be better. */
static void test_a_success_that_cannot_be_read(void **state)
{
    static const struct {
        const char *body, *complaint;
    } rows[] = {
        {NULL, "the answer reports success but has no body"},
        {"{\"name\": \"d\"", "not JSON: line 1, column 12: '}' expected near end of file"},
        {"{\"name\": 7}", "name: expected a string, not this number"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct line script[] = {{AUTHORITY}, {"disks/d", 0, 200, {NULL}, rows[i].body}, {0}};
        struct reading reading = {scripted_arm_new("", script), rows[i].complaint};
        struct task_group group;

        group_init(&group, reading.scripted->loop);
        assert_true(group_spawn(&group, "test", get_disk, &reading));
        loop_advance(reading.scripted->loop, 1000);
        assert_int_equal(group.n_members, 0);
        scripted_arm_free(reading.scripted);
    }
}

/* ---- operations that are known by their Location only ---- */

#define ACCEPTED                                                                                   \
    {                                                                                              \
        "disks/d", 1, 202, {"Location", OPERATION}, NULL                                           \
    }

static const struct {
    struct line looks[3]; /* after each other; the last one stays */
    enum err_kind kind;
    const char *message; /* NULL: success */
} by_location[] = {
    {{{"operations/1", 2, 202, {NULL}, NULL}, {"operations/1", 0, 200, {NULL}, "{}"}}, 0, NULL},
    {{{"operations/1", 2, 202, {NULL}, NULL}, {"operations/1", 0, 204, {NULL}, NULL}}, 0, NULL},
    {{{"operations/1", 1, 202, {NULL}, NULL},
      {"operations/1", 0, 409, {NULL}, FAILURE("AttachDiskWhileBeingDetached")}},
     ERR_BUSY,
     "AttachDiskWhileBeingDetached: m (HTTP 409)"},
    {{{"operations/1", 2, 500, {NULL}, FAILURE("InternalServerError")},
      {"operations/1", 1, 429, {"Retry-After", "30"}, FAILURE("TooManyRequests")},
      {"operations/1", 0, 200, {NULL}, NULL}},
     0,
     NULL},
    {{{"operations/1", 0, 503, {NULL}, NULL}},
     ERR_UNAVAILABLE,
     "the outcome of the operation is unknown: no code: no reason given (HTTP 503)"},
};

static void test_by_location_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(by_location); i++) {
        struct line script[6] = {{AUTHORITY}, ACCEPTED};

        memcpy(script + 2, by_location[i].looks, sizeof by_location[i].looks);
        struct scripted_arm *scripted = scripted_arm_new("", script);
        struct asking asking = put_disk;

        asking_begin(scripted, &asking);
        struct err *err = asking_end(&asking, HOUR_MS);
        if (by_location[i].message)
            assert_fails(err, by_location[i].kind, by_location[i].message);
        else
            assert_ok(err);
        assert_int_equal(count(scripted, "disks/d"), 1); /* never sent again */
        scripted_arm_free(scripted);
    }
}

/* ---- how often ---- */

#define STARTED(...)                                                                               \
    {                                                                                              \
        "virtualMachines/v/x", 1, 202, {"Azure-AsyncOperation", OPERATION, ##__VA_ARGS__}, NULL    \
    }

static const struct line endless[] = {
    {AUTHORITY},
    STARTED(),
    {"operations/1", 0, 200, {NULL}, "{\"status\": \"InProgress\"}"},
    {0},
};

static uint64_t two_hours(void *ctx)
{
    (void)ctx;
    return 2 * HOUR_MS;
}

static void test_looks_grow_rarer_within_the_bucket(void **state)
{
    struct scripted_arm *scripted = scripted_arm_new("", endless);
    struct asking asking = change_vm;
    uint64_t before = 0;
    size_t looks = 0;

    (void)state;
    asking.request.operation_most_ms = two_hours;
    asking_begin(scripted, &asking);
    loop_advance(scripted->loop, HOUR_MS);
    for (size_t i = 0; i < scripted->n_sent; i++) {
        if (!strstr(scripted->sent[i].url, "operations/1"))
            continue;
        uint64_t pause = scripted->sent[i].at - before;

        if (looks > 0)
            assert_in_range(pause, 1000, 10 * 1000 + 200);
        before = scripted->sent[i].at;
        looks++;
    }
    /* 45 at once and 15 in each minute is what Azure allows. */
    assert_in_range(looks, HOUR_MS / (10 * 1000 + 200), 45 + 15 * 60);
    assert_true(strstr(scripted->sent[scripted->n_sent - 1].url, "?x=y") != NULL);

    scripted->script[2].body = "{\"status\": \"Succeeded\"}";
    assert_ok(asking_end(&asking, MINUTE_MS));
    scripted_arm_free(scripted);
}

static void test_nothing_is_waited_for_without_an_end(void **state)
{
    struct scripted_arm *scripted = scripted_arm_new("", endless);
    struct asking asking = change_vm;

    (void)state;
    asking_begin(scripted, &asking);
    loop_advance(scripted->loop, 10 * MINUTE_MS - 1000);
    assert_false(asking.ended);
    assert_fails(asking_end(&asking, MINUTE_MS), ERR_TIMEOUT,
                 "Azure has not ended the operation within 10 minutes");
    scripted_arm_free(scripted);
}

static void test_looks_wait_as_long_as_azure_says(void **state)
{
    static const struct line script[] = {
        {AUTHORITY},
        STARTED("Retry-After", "17"),
        {"operations/1", 1, 200, {"Retry-After", "40"}, "{\"status\": \"InProgress\"}"},
        {"operations/1", 0, 200, {NULL}, "{\"status\": \"Succeeded\"}"},
        {0},
    };
    struct scripted_arm *scripted = scripted_arm_new("", script);
    struct asking asking = change_vm;

    (void)state;
    asking_begin(scripted, &asking);
    assert_ok(asking_end(&asking, 2 * MINUTE_MS));
    const struct sent *last = &scripted->sent[scripted->n_sent - 1];
    assert_int_equal(last[-1].at - last[-2].at, 17 * 1000 + 100);
    assert_int_equal(last[0].at - last[-1].at, 40 * 1000 + 100);
    scripted_arm_free(scripted);
}

/* What an operation tells of its time at the end, after 1.1 s of which it was watched, and what is
 * remembered of it. */
static const struct {
    const char *body;
    uint64_t ms;
} ends_of_operations[] = {
    {"'startTime':'2026-01-01T00:00:00Z','endTime':'2026-01-01T00:00:00.9000000+00:00'", 900},
    {"'properties':{}", 1100},
    {"'startTime':'2026-01-01T00:00:00Z'", 1100},
    {"'startTime':'2026-01-01T00:00:09Z','endTime':'2026-01-01T00:00:00Z'", 1100},
    {"'startTime':'2026-01-01T00:00:00Z','endTime':'2026-01-01T00:01:00Z'", 1100},
    {"'startTime':'0001-01-01T00:00:00Z','endTime':'2026-01-01T00:00:00Z'", 1100},
    {"'startTime':'yesterday','endTime':1", 1100},
};

static void end_of_operation(size_t i)
{
    CLEANUP(freep) char *text = mem_printf("{'status':'Succeeded',%s}", ends_of_operations[i].body);

    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    const struct line script[] = {
        {AUTHORITY}, STARTED(NULL), {"operations/1", 0, 200, {NULL}, text}, {0}};
    struct scripted_arm *scripted = scripted_arm_new("", script);
    struct asking asking = change_vm;
    const struct operation_times *times = arm_client_times(scripted->arm, ARM_VM_UPDATE);

    asking_begin(scripted, &asking);
    assert_ok(asking_end(&asking, MINUTE_MS));
    assert_int_equal(times->n, 1);
    assert_int_equal(times->ms[0], ends_of_operations[i].ms);
    scripted_arm_free(scripted);
}

static void test_how_long_an_operation_took(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(ends_of_operations); i++)
        end_of_operation(i);
}

static void test_an_operation_that_failed_says_nothing_of_others(void **state)
{
    static const struct line script[] = {
        {AUTHORITY},
        STARTED(NULL),
        {"operations/1",
         0,
         200,
         {NULL},
         "{\"status\": \"Failed\", \"error\": {\"code\": \"InternalExecutionError\"}}"},
        {0},
    };
    struct scripted_arm *scripted = scripted_arm_new("", script);
    struct asking asking = change_vm;

    (void)state;
    asking_begin(scripted, &asking);
    CLEANUP(err_freep) struct err *err = asking_end(&asking, MINUTE_MS);
    assert_non_null(err);
    assert_int_equal(arm_client_times(scripted->arm, ARM_VM_UPDATE)->n, 0);
    scripted_arm_free(scripted);
}

/* A credential goes nowhere else. */
static const char *const elsewhere[] = {
    "https://elsewhere/subscriptions/s/operations/1",
    HOME ".evil.example/subscriptions/s/operations/1",
    HOME "@evil.example/subscriptions/s/operations/1",
    "https://user@arm.example/subscriptions/s/operations/1",
    HOME ":8443/subscriptions/s/operations/1",
    "http://arm.example/subscriptions/s/operations/1",
};

static void test_an_operation_elsewhere_is_not_followed(void **state)
{
    static const char *const headers[] = {"Location", "Azure-AsyncOperation"};

    (void)state;
    for (size_t i = 0; i < 2 * COUNT_OF(elsewhere); i++) {
        const struct line script[] = {
            {AUTHORITY},
            {"disks/d", 0, 202, {headers[i % 2], elsewhere[i / 2]}, NULL},
            {"operations/1", 0, 200, {NULL}, "{\"status\": \"Succeeded\"}"},
            {0}};
        struct scripted_arm *scripted = scripted_arm_new("", script);
        struct asking asking = put_disk;

        asking_begin(scripted, &asking);
        assert_fails(asking_end(&asking, MINUTE_MS), ERR_UNAVAILABLE,
                     "the operation's status is to be read outside " HOME
                     ", which is not permitted");
        assert_int_equal(count(scripted, "operations/1"), 0);
        scripted_arm_free(scripted);
    }
}

static void test_a_list_goes_on_at_home(void **state)
{
    static const struct line script[] = {{0}};
    struct scripted_arm *scripted = scripted_arm_new("", script);
    char *path;

    (void)state;
    assert_ok(arm_client_next_page(scripted->arm, "", &path));
    assert_null(path);
    assert_ok(arm_client_next_page(scripted->arm, "HTTPS://ARM.example:443/subscriptions/s/x?y=z",
                                   &path));
    assert_string_equal(path, "/subscriptions/s/x?y=z");
    free(path);
    for (size_t i = 0; i < COUNT_OF(elsewhere); i++) {
        CLEANUP(freep)
        char *fault = mem_printf("the next page of a list is outside %s: %s", HOME, elsewhere[i]);

        assert_fails(arm_client_next_page(scripted->arm, elsewhere[i], &path), ERR_INTERNAL, fault);
    }
    scripted_arm_free(scripted);
}

/* A connection takes a while; a refusal that comes meanwhile counts. */
static void test_what_has_no_connection_yet_is_held_back(void **state)
{
    static const struct line script[] = {
        {AUTHORITY},
        {"disks/d", 0, 200, {NULL}, "{}"},
        {"virtualMachines/v", 1, 429, {"Retry-After", "30"}, FAILURE("TooManyRequests")},
        {"virtualMachines/v", 0, 200, {NULL}, "{}"},
        {0}};
    struct scripted_arm *scripted = scripted_arm_new("", script);
    struct asking first = put_disk, refused = change_vm, waiting = change_vm;

    (void)state;
    asking_begin(scripted, &first);
    assert_ok(asking_end(&first, 1000)); /* there is a token now */
    scripted->connect_ms = 300;
    asking_begin(scripted, &refused);
    loop_advance(scripted->loop, 200);
    asking_begin(scripted, &waiting);
    assert_fails(asking_end(&refused, 1000), ERR_THROTTLED,
                 "POST " RESOURCES "virtualMachines/v/x: TooManyRequests: m (HTTP 429)");
    assert_ok(asking_end(&waiting, 60 * 1000));
    assert_int_equal(count(scripted, "virtualMachines/v"), 2);
    assert_true(scripted->sent[scripted->n_sent - 1].at >=
                scripted->sent[scripted->n_sent - 2].at + 30 * 1000);
    scripted_arm_free(scripted);
}

/* ---- more requests than connections ---- */

enum { ASKINGS = 3 * CONNECTIONS };

/* Of as many VMs, so that no VM's bucket runs out. */
struct crowd {
    struct scripted_arm *scripted;
    struct asking askings[ASKINGS];
    char paths[ASKINGS][96], resources[ASKINGS][96];
};

/* Answers take `answer_ms`; there is a token. */
static void gather(struct crowd *crowd, uint64_t answer_ms)
{
    static const struct line script[] = {
        {AUTHORITY}, {"/subscriptions/", 0, 200, {NULL}, "{}"}, {0}};
    struct asking first = put_disk;

    *crowd = (struct crowd){.scripted = scripted_arm_new("", script)};
    asking_begin(crowd->scripted, &first);
    assert_ok(asking_end(&first, 1000));
    crowd->scripted->answer_ms = answer_ms;
}

static void ask_for(struct crowd *crowd, size_t i, enum cloud_urgency urgency)
{
    struct asking *asking = &crowd->askings[i];

    snprintf(crowd->resources[i], sizeof crowd->resources[i], RESOURCES "virtualMachines/v%zu", i);
    snprintf(crowd->paths[i], sizeof crowd->paths[i], RESOURCES "virtualMachines/v%zu/x", i);
    *asking = change_vm;
    asking->request.path = crowd->paths[i];
    asking->request.resource = crowd->resources[i];
    asking->request.urgency = urgency;
    asking_begin(crowd->scripted, asking);
}

static void test_the_urgent_get_the_next_connection(void **state)
{
    struct crowd crowd;
    size_t i;

    (void)state;
    gather(&crowd, 10 * 1000);
    for (i = 0; i < CONNECTIONS; i++) { /* which are free one after the other then */
        ask_for(&crowd, i, CLOUD_COLLECTION);
        loop_advance(crowd.scripted->loop, 100);
    }
    ask_for(&crowd, i, CLOUD_COLLECTION);
    loop_advance(crowd.scripted->loop, 100);
    ask_for(&crowd, i + 1, CLOUD_FOR_PRIMARY);
    loop_advance(crowd.scripted->loop, HOUR_MS);
    const struct sent *last = &crowd.scripted->sent[crowd.scripted->n_sent - 1];
    assert_non_null(strstr(last[-1].url, "/v17/"));
    assert_non_null(strstr(last[0].url, "/v16/"));
    assert_int_equal(last[-1].at, last[-CONNECTIONS - 1].at + 10 * 1000);
    assert_int_equal(last[0].at, last[-1].at + 100);
    scripted_arm_free(crowd.scripted);
}

/* Azure's time is what counts. */
static void test_a_request_waits_for_a_connection_as_long_as_it_takes(void **state)
{
    struct crowd crowd;

    (void)state;
    gather(&crowd, 40 * 1000);
    for (size_t i = 0; i < ASKINGS; i++)
        ask_for(&crowd, i, CLOUD_FOR_REPLICA);
    loop_advance(crowd.scripted->loop, 121 * 1000);
    for (size_t i = 0; i < ASKINGS; i++)
        assert_ok(asking_end(&crowd.askings[i], 0));
    scripted_arm_free(crowd.scripted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_end_points_are_asked_for_by_one),
        cmocka_unit_test(test_another_one_asks_when_that_failed),
        cmocka_unit_test(test_a_stack_is_spoken_to_in_its_own_versions),
        cmocka_unit_test(test_a_condition_that_does_not_hold),
        cmocka_unit_test(test_a_redirect_is_no_success),
        cmocka_unit_test(test_a_refused_token_is_not_used_again),
        cmocka_unit_test(test_a_success_that_cannot_be_read),
        cmocka_unit_test(test_what_has_no_connection_yet_is_held_back),
        cmocka_unit_test(test_the_urgent_get_the_next_connection),
        cmocka_unit_test(test_a_request_waits_for_a_connection_as_long_as_it_takes),
        cmocka_unit_test(test_by_location_alone),
        cmocka_unit_test(test_looks_grow_rarer_within_the_bucket),
        cmocka_unit_test(test_nothing_is_waited_for_without_an_end),
        cmocka_unit_test(test_looks_wait_as_long_as_azure_says),
        cmocka_unit_test(test_how_long_an_operation_took),
        cmocka_unit_test(test_an_operation_that_failed_says_nothing_of_others),
        cmocka_unit_test(test_an_operation_elsewhere_is_not_followed),
        cmocka_unit_test(test_a_list_goes_on_at_home),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
