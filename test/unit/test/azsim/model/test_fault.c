/* Rules for faults: which of them strikes, how often; what is refused; what the codes mean. */
#include "test/azsim/model/fault.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "test/azsim/model/fault_code.h"
#include "test/unit/expect.h"

static json_t *json_of(const char *text)
{
    CLEANUP(freep) char *proper = mem_strdup(text);

    for (char *c = proper; *c; c++)
        if (*c == '\'')
            *c = '"';
    return json_loads(proper, 0, NULL);
}

static const struct fault *add(struct faults *faults, const char *rule)
{
    const struct fault *fault;
    json_t *json = json_of(rule);

    assert_ok(faults_add(faults, json, &fault));
    json_decref(json);
    return fault;
}

/* ---- what matches ---- */

static const struct {
    const char *rule;
    struct fault_subject subject;
    bool strikes;
} matches[] = {
    {"{'fault': 'hangUp'}", {.kind = "disks.get"}, true},
    {"{'fault': 'hangUp'}", {0}, true},
    {"{'fault': 'hangUp', 'kind': 'disks.get'}", {.kind = "disks.get"}, true},
    {"{'fault': 'hangUp', 'kind': 'DISKS.*'}", {.kind = "disks.get"}, true},
    {"{'fault': 'hangUp', 'kind': 'disks.*'}", {.kind = "virtualMachines.get"}, false},
    {"{'fault': 'hangUp', 'kind': 'disks'}", {.kind = "disks.get"}, false},
    {"{'fault': 'hangUp', 'kind': '*'}", {0}, false},
    {"{'fault': 'hangUp', 'resource': 'pvc-?'}", {.resource = "PVC-1"}, true},
    {"{'fault': 'hangUp', 'resource': 'pvc-?'}", {.resource = "pvc-10"}, false},
    {"{'fault': 'hangUp', 'kind': 'disks.*', 'resource': 'a'}",
     {.kind = "disks.get", .resource = "b"},
     false},
    {"{'fault': 'hangUp', 'disk': 'd1'}", {.body = "{\"id\": \"/x/Disks/D1\"}"}, true},
    {"{'fault': 'hangUp', 'disk': 'd1'}", {.body = "{\"id\": \"/x/disks/d10\"}"}, false},
    {"{'fault': 'hangUp', 'disk': 'd1'}", {0}, false},
    {"{'fault': 'failAttach', 'code': 'X', 'disk': 'd1'}", {.disk = "D1"}, true},
    {"{'fault': 'failAttach', 'code': 'X', 'disk': 'd1'}", {.disk = "d2"}, false},
    {"{'fault': 'stick', 'zone': '1'}", {.zone = "1"}, true},
    {"{'fault': 'stick', 'zone': '1'}", {.zone = "2"}, false},
    {"{'fault': 'refuse', 'code': 'NotFound', 'operationStatus': 'Succeeded'}",
     {.operation_status = "Succeeded"},
     true},
    {"{'fault': 'refuse', 'code': 'NotFound', 'operationStatus': 'Succeeded'}",
     {.operation_status = "InProgress"},
     false},
};

static enum fault_place place_of(const struct fault *fault)
{
    return fault->type == FAULT_FAIL_ATTACH ? FAULT_AT_ATTACH
           : fault->type == FAULT_STICK     ? FAULT_AT_START
                                            : FAULT_AT_REQUEST;
}

static void test_what_a_rule_matches(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(matches); i++) {
        CLEANUP(faults_freep) struct faults *faults = faults_new();
        const struct fault *fault = add(faults, matches[i].rule);

        if (!faults_strike(faults, place_of(fault), &matches[i].subject, 0) == matches[i].strikes)
            fail_msg("row %zu: %s", i, matches[i].rule);
        assert_null(faults_strike(faults, FAULT_AT_ANSWER, &matches[i].subject, 0));
    }
}

/* ---- how often ---- */

/* Ten calls, one each second: "x" where the rule strikes. */
static const struct {
    const char *rule, *strikes;
} sequences[] = {
    {"{'fault': 'hangUp'}", "xxxxxxxxxx"},
    {"{'fault': 'hangUp', 'calls': '1'}", "x........."},
    {"{'fault': 'hangUp', 'calls': '3'}", "..x......."},
    {"{'fault': 'hangUp', 'calls': '2-5'}", ".xxxx....."},
    {"{'fault': 'hangUp', 'calls': '8-'}", ".......xxx"},
    {"{'fault': 'hangUp', 'for': '3s'}", "xxx......."},
    {"{'fault': 'hangUp', 'for': '3s', 'calls': '4-'}", "...xxx...."},
    {"{'fault': 'hangUp', 'for': '2500ms'}", "xxx......."},
};

static void strike_ten(struct faults *faults, char ret[11])
{
    static const struct fault_subject subject = {.kind = "disks.get"};

    for (uint64_t i = 0; i < 10; i++)
        ret[i] = faults_strike(faults, FAULT_AT_REQUEST, &subject, 5000 + 1000 * i) ? 'x' : '.';
    ret[10] = '\0';
}

static void test_which_calls_it_strikes(void **state)
{
    char strikes[11];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(sequences); i++) {
        CLEANUP(faults_freep) struct faults *faults = faults_new();

        add(faults, sequences[i].rule);
        strike_ten(faults, strikes);
        assert_string_equal(strikes, sequences[i].strikes);
    }
}

static unsigned strikes_of_1000(const char *rule, char ret_first[11])
{
    static const struct fault_subject subject = {.kind = "disks.get"};
    CLEANUP(faults_freep) struct faults *faults = faults_new();
    const struct fault *fault = add(faults, rule);

    strike_ten(faults, ret_first);
    for (int i = 10; i < 1000; i++)
        faults_strike(faults, FAULT_AT_REQUEST, &subject, 0);
    return (unsigned)fault->struck;
}

static void test_a_probability_with_a_seed(void **state)
{
    char first[11], again[11], other[11];
    unsigned struck = strikes_of_1000("{'fault': 'hangUp', 'probability': 0.3, 'seed': 5}", first);

    (void)state;
    assert_in_range(struck, 250, 350);
    assert_int_equal(strikes_of_1000("{'fault': 'hangUp', 'probability': 0.3, 'seed': 5}", again),
                     struck);
    assert_string_equal(first, again);
    assert_int_not_equal(
        strikes_of_1000("{'fault': 'hangUp', 'probability': 0.3, 'seed': 6}", other), struck);
}

/* ---- many rules ---- */

static void test_the_first_that_strikes_is_the_only_one(void **state)
{
    CLEANUP(faults_freep) struct faults *faults = faults_new();
    static const struct fault_subject subject = {.kind = "disks.get"};
    unsigned first = add(faults, "{'fault': 'hangUp', 'calls': '2'}")->id;
    unsigned second = add(faults, "{'fault': 'redirect'}")->id;

    (void)state;
    assert_int_equal(faults_strike(faults, FAULT_AT_REQUEST, &subject, 0)->id, second);
    assert_int_equal(faults_strike(faults, FAULT_AT_REQUEST, &subject, 0)->id, first);
    assert_int_equal(faults_strike(faults, FAULT_AT_REQUEST, &subject, 0)->id, second);

    json_t *json = faults_json(faults);
    CLEANUP(freep) char *text = json_dumps(json, JSON_COMPACT);
    assert_string_equal(text, "{\"faults\":[{\"id\":1,\"matched\":3,\"struck\":1,\"fault\":"
                              "\"hangUp\",\"calls\":\"2\"},{\"id\":2,\"matched\":2,\"struck\":2,"
                              "\"fault\":\"redirect\"}]}");
    json_decref(json);

    assert_true(faults_remove(faults, second));
    assert_false(faults_remove(faults, second));
    assert_null(faults_strike(faults, FAULT_AT_REQUEST, &subject, 0));
    assert_true(add(faults, "{'fault': 'hangUp'}")->id > second);
    faults_clear(faults);
    assert_null(faults_strike(faults, FAULT_AT_REQUEST, &subject, 0));
}

/* ---- reading ---- */

static const struct {
    const char *rule, *message;
} wrong[] = {
    {"{'fault': 'hangUp', 'kindd': 'x'}", "kindd: unknown member; test/azsim/README.md lists them"},
    {"{'fault': 'hangUp', 'kind': 1}", "kind: expected a string"},
    {"{'fault': 'hangUp', 'calls': '0'}",
     "calls: expected \"3\", \"2-5\" or \"4-\", counted from 1"},
    {"{'fault': 'hangUp', 'calls': '5-2'}",
     "calls: expected \"3\", \"2-5\" or \"4-\", counted from 1"},
    {"{'fault': 'hangUp', 'calls': '-2'}",
     "calls: expected \"3\", \"2-5\" or \"4-\", counted from 1"},
    {"{'fault': 'hangUp', 'calls': '2x'}",
     "calls: expected \"3\", \"2-5\" or \"4-\", counted from 1"},
    {"{'fault': 'hangUp', 'probability': 0}", "probability: expected a number above 0 and up to 1"},
    {"{'fault': 'hangUp', 'probability': 1.5}",
     "probability: expected a number above 0 and up to 1"},
    {"{'fault': 'hangUp', 'for': 5}", "for: expected a string such as \"10s\""},
    {"{'fault': 'hangUp', 'for': '0s'}", "for: expected more than 0"},
    {"{'fault': 'stall', 'time': 'soon'}",
     "time: \"soon\" is not a duration such as 300ms, 30s, 5m or 1h30m"},
    {"{'fault': 'stall'}", "time: missing; \"stall\" requires it"},
    {"{'fault': 'refuse'}", "code: missing; \"refuse\" requires it"},
    {"{'fault': 'refuse', 'code': 'X', 'status': 200}",
     "status: expected a number from 300 to 599"},
    {"{'fault': 'throttle', 'retryAfter': '17'}", "retryAfter: expected a number from 0 to 86400"},
    {"{'fault': 'throttle', 'asDate': 1}", "asDate: expected true or false"},
    {"{'fault': 'throttle', 'by': 'me'}", "by: expected \"compute\" or \"resourceManager\""},
    {"[]", "a rule: expected an object"},
};

static void test_wrong_rules(void **state)
{
    CLEANUP(faults_freep) struct faults *faults = faults_new();
    const struct fault *fault;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        json_t *json = json_of(wrong[i].rule);

        assert_fails(faults_add(faults, json, &fault), ERR_INVALID, wrong[i].message);
        json_decref(json);
    }
    json_t *json = json_of("{'faults': [{'fault': 'hangUp'}, {'fault': 'stall'}]}");
    assert_fails(faults_add_all(faults, json), ERR_INVALID,
                 "faults[1]: time: missing; \"stall\" requires it");
    json_decref(json);
    json = faults_json(faults);
    assert_int_equal(json_array_size(json_object_get(json, "faults")), 0);
    json_decref(json);
}

static void test_every_fault_is_known_by_its_name(void **state)
{
    CLEANUP(faults_freep) struct faults *faults = faults_new();

    (void)state;
    for (int i = 0; i < FAULT_COUNT; i++) {
        CLEANUP(freep)
        char *rule = mem_printf("{'fault': '%s', 'code': 'Conflict', 'time': '1s'}",
                                fault_type_name((enum fault_type)i));

        assert_int_equal(add(faults, rule)->type, i);
    }
}

/* ---- codes ---- */

static const struct {
    const char *rule;
    int status;
    const char *code, *text;
} codes[] = {
    {"{'fault': 'refuse', 'code': 'ScopeLocked'}", 409, "ScopeLocked",
     "The scope 'pvc-1' cannot perform delete operation because following scope(s) are locked: "
     "'pvc-1'. Please remove the lock and try again."},
    {"{'fault': 'refuse', 'code': 'ServerTimeout'}", 503, "ServerTimeout",
     "The request timed out. Please retry later."},
    {"{'fault': 'refuse', 'code': 'Unheard'}", 409, "Unheard", "It failed, as it was asked to."},
    {"{'fault': 'refuse', 'code': 'OperationNotAllowed', 'status': 403, 'message': '100% of the "
     "quota, %s'}",
     403, "OperationNotAllowed", "100% of the quota, pvc-1"},
};

static void test_codes(void **state)
{
    CLEANUP(faults_freep) struct faults *faults = faults_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(codes); i++) {
        CLEANUP(refusal_freep)
        struct refusal *refusal = fault_refusal(add(faults, codes[i].rule), "pvc-1");

        assert_int_equal(refusal->status, codes[i].status);
        assert_string_equal(refusal->code, codes[i].code);
        assert_string_equal(refusal->message, codes[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_a_rule_matches),
        cmocka_unit_test(test_which_calls_it_strikes),
        cmocka_unit_test(test_a_probability_with_a_seed),
        cmocka_unit_test(test_the_first_that_strikes_is_the_only_one),
        cmocka_unit_test(test_wrong_rules),
        cmocka_unit_test(test_every_fault_is_known_by_its_name),
        cmocka_unit_test(test_codes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
