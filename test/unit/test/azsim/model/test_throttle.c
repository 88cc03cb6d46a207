/* Azure's published buckets, drained and refilled; and what a refused request is told. */
#include "test/azsim/model/throttle.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

enum { MINUTE = 60 * 1000, HALF_HOUR = 30 * MINUTE };

static bool take(struct throttle *throttle, enum throttle_policy policy, const char *owner,
                 uint64_t now, struct throttle_charge *ret)
{
    throttle_take(throttle, policy, "s", owner, now, ret);
    return !ret->refused;
}

/* How many requests go through at that time; each of an owner of its own if `many`. */
static unsigned drain(struct throttle *throttle, enum throttle_policy policy, bool many,
                      uint64_t now)
{
    struct throttle_charge charge;
    unsigned n = 0;
    char owner[16];

    do
        snprintf(owner, sizeof owner, "%u", many ? n : 0);
    while (take(throttle, policy, owner, now, &charge) && ++n);
    return n;
}

/* ---- the numbers ---- */

static const struct {
    enum throttle_policy policy;
    unsigned size, refill, period, all_size, all_refill, all_period;
} rows[] = {
    {THROTTLE_PUT_VM, 12, 4, MINUTE, 1500, 500, MINUTE},
    {THROTTLE_UPDATE_VM, 12, 4, MINUTE, 1500, 500, MINUTE},
    {THROTTLE_DELETE_VM, 12, 4, MINUTE, 1500, 500, MINUTE},
    {THROTTLE_GET_VM, 36, 12, MINUTE, 24000, 8000, MINUTE},
    {THROTTLE_LIST_VMS, 900, 300, MINUTE, 900, 300, MINUTE},
    {THROTTLE_GUEST_PATCH, 6, 2, MINUTE, 600, 200, MINUTE},
    {THROTTLE_GET_OPERATION, 45, 15, MINUTE, 15000, 5000, MINUTE},
    {THROTTLE_PUT_VMSS, 12, 4, MINUTE, 375, 125, MINUTE},
    {THROTTLE_UPDATE_VMSS, 12, 4, MINUTE, 1500, 500, MINUTE},
    {THROTTLE_DELETE_VMSS, 12, 4, MINUTE, 525, 175, MINUTE},
    {THROTTLE_GET_VMSS, 36, 12, MINUTE, 2400, 800, MINUTE},
    {THROTTLE_LIST_VMSS, 30, 10, MINUTE, 1080, 360, MINUTE},
    {THROTTLE_UPDATE_VMSS_VM, 12, 4, MINUTE, 1500, 500, MINUTE},
    {THROTTLE_DELETE_VMSS_VM, 12, 4, MINUTE, 1500, 500, MINUTE},
    {THROTTLE_GET_VMSS_VM, 36, 12, MINUTE, 6000, 2000, MINUTE},
    {THROTTLE_PUT_DISK, 3000, 3000, 3 * MINUTE, 3000, 3000, 3 * MINUTE},
    {THROTTLE_DELETE_DISK, 1000, 1000, 3 * MINUTE, 1000, 1000, 3 * MINUTE},
    {THROTTLE_GET_DISK, 15000, 15000, 3 * MINUTE, 15000, 15000, 3 * MINUTE},
    {THROTTLE_GET_DISK_OPERATION, 50000, 50000, 3 * MINUTE, 50000, 50000, 3 * MINUTE},
    {THROTTLE_READS, 250, 25, 1000, 3750, 375, 1000},
    {THROTTLE_WRITES, 200, 10, 1000, 3000, 150, 1000},
    {THROTTLE_DELETES, 200, 10, 1000, 3000, 150, 1000},
};

static void check_limit(enum throttle_policy policy, bool many, unsigned size, unsigned refill,
                        unsigned period)
{
    CLEANUP(throttle_freep) struct throttle *throttle = throttle_new();
    const uint64_t start = 12345;

    assert_int_equal(drain(throttle, policy, many, start), size);
    assert_int_equal(drain(throttle, policy, many, start + period - 1), 0);
    assert_int_equal(drain(throttle, policy, many, start + period), refill);
    assert_int_equal(drain(throttle, policy, many, start + 2 * (uint64_t)period - 1), 0);
}

static void test_published_numbers(void **state)
{
    (void)state;
    assert_int_equal(COUNT_OF(rows), THROTTLE_POLICY_COUNT - 1);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        check_limit(rows[i].policy, false, rows[i].size, rows[i].refill, rows[i].period);
        check_limit(rows[i].policy, true, rows[i].all_size, rows[i].all_refill, rows[i].all_period);
    }
}

/* Eight times the allowance of three minutes is all that there is in half an hour. */
static void test_a_long_window_beside_the_short_one(void **state)
{
    CLEANUP(throttle_freep) struct throttle *throttle = throttle_new();
    unsigned n = 0;

    (void)state;
    for (uint64_t now = 0; now < HALF_HOUR; now += 3 * MINUTE)
        n += drain(throttle, THROTTLE_DELETE_DISK, false, now);
    assert_int_equal(n, 8000);
    assert_int_equal(drain(throttle, THROTTLE_DELETE_DISK, false, HALF_HOUR), 1000);
}

/* ---- one bucket ---- */

static void test_what_a_request_is_told(void **state)
{
    CLEANUP(throttle_freep) struct throttle *throttle = throttle_new();
    struct throttle_charge charge;

    (void)state;
    assert_true(take(throttle, THROTTLE_UPDATE_VM, "vm1", 1000, &charge));
    assert_int_equal(charge.n, 2);
    assert_string_equal(charge.limits[0].limit, "UpdateVMResource");
    assert_int_equal(charge.limits[0].left, 11);
    assert_string_equal(charge.limits[1].limit, "UpdateVMSubscriptionMaximum");
    assert_int_equal(charge.limits[1].left, 1499);

    drain(throttle, THROTTLE_UPDATE_VM, true, 2000); /* of owners "0", "1", ... */
    assert_false(take(throttle, THROTTLE_UPDATE_VM, "VM1", 2000, &charge));
    assert_string_equal(charge.refused, "UpdateVMSubscriptionMaximum");
    assert_int_equal(charge.allowed, 1500);
    assert_int_equal(charge.measured, 1502);
    assert_int_equal(charge.limits[0].left, 11);
    assert_int_equal(throttle_retry_after_s(&charge, 2000), 59);
    assert_int_equal(throttle_retry_after_s(&charge, 2001), 59);
    assert_int_equal(throttle_retry_after_s(&charge, 60999), 1);
    assert_int_equal(throttle_retry_after_s(&charge, 61000), 1);

    assert_true(take(throttle, THROTTLE_NONE, "vm1", 2000, &charge));
    assert_int_equal(charge.n, 0);
}

/* A refused request takes nothing, so that a resource's refusals cost the subscription nothing. */
static void test_a_refusal_is_free(void **state)
{
    CLEANUP(throttle_freep) struct throttle *throttle = throttle_new();
    struct throttle_charge charge;

    (void)state;
    drain(throttle, THROTTLE_UPDATE_VM, false, 0);
    for (int i = 0; i < 100; i++)
        assert_false(take(throttle, THROTTLE_UPDATE_VM, "0", 0, &charge));
    assert_string_equal(charge.refused, "UpdateVMResource");
    assert_int_equal(charge.limits[1].left, 1500 - 12);
}

/* A period begins with the request that finds the bucket full, be it anew. */
static void test_a_full_bucket_has_no_period(void **state)
{
    CLEANUP(throttle_freep) struct throttle *throttle = throttle_new();
    struct throttle_charge charge;

    (void)state;
    assert_true(take(throttle, THROTTLE_UPDATE_VM, "0", 0, &charge));
    assert_int_equal(drain(throttle, THROTTLE_UPDATE_VM, false, 90 * 1000), 12);
    assert_int_equal(drain(throttle, THROTTLE_UPDATE_VM, false, 120 * 1000), 0);
    assert_int_equal(drain(throttle, THROTTLE_UPDATE_VM, false, 150 * 1000), 4);
}

/* ---- setting ---- */

static void test_it_is_scaled_and_switched_off(void **state)
{
    CLEANUP(throttle_freep) struct throttle *throttle = throttle_new();
    struct throttle_charge charge;

    (void)state;
    drain(throttle, THROTTLE_UPDATE_VM, false, 0);
    assert_ok(throttle_set(throttle, "2.5"));
    assert_int_equal(drain(throttle, THROTTLE_UPDATE_VM, false, 0), 30);
    assert_int_equal(drain(throttle, THROTTLE_UPDATE_VM, false, MINUTE), 10);
    assert_ok(throttle_set(throttle, "0.01"));
    assert_int_equal(drain(throttle, THROTTLE_UPDATE_VM, false, MINUTE), 1);
    assert_ok(throttle_set(throttle, "off"));
    for (int i = 0; i < 10000; i++)
        assert_true(take(throttle, THROTTLE_UPDATE_VM, "0", MINUTE, &charge));
    assert_int_equal(charge.limits[0].left, 11);
    assert_ok(throttle_set(throttle, "on"));
    assert_int_equal(drain(throttle, THROTTLE_UPDATE_VM, false, MINUTE), 12);
}

static void test_a_wrong_setting_changes_nothing(void **state)
{
    static const char *const texts[] = {"", "of", "-1", "0", "1x", "nan", "1e9"};
    CLEANUP(throttle_freep) struct throttle *throttle = throttle_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        CLEANUP(freep)
        char *message = mem_printf("throttling \"%s\": expected on, off, or a factor for the size "
                                   "of Azure's token buckets, such as 0.5",
                                   texts[i]);

        assert_fails(throttle_set(throttle, texts[i]), ERR_INVALID, message);
    }
    assert_int_equal(drain(throttle, THROTTLE_UPDATE_VM, false, 0), 12);
}

/* A caller and a resource's subscription have a bucket in each subscription. */
static void test_each_subscription_has_its_own(void **state)
{
    static const enum throttle_policy policies[] = {THROTTLE_READS, THROTTLE_LIST_VMS,
                                                    THROTTLE_GET_DISK};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(policies); i++) {
        CLEANUP(throttle_freep) struct throttle *throttle = throttle_new();
        struct throttle_charge charge;
        unsigned n = drain(throttle, policies[i], false, 0);

        throttle_take(throttle, policies[i], "other", "0", 0, &charge);
        assert_null(charge.refused);
        assert_int_equal(charge.limits[0].left, n - 1);
        throttle_take(throttle, policies[i], "OTHER", "0", 0, &charge);
        assert_int_equal(charge.limits[0].left, n - 2);
    }
}

static void test_what_is_not_full_is_shown(void **state)
{
    CLEANUP(throttle_freep) struct throttle *throttle = throttle_new();
    struct throttle_charge charge;

    (void)state;
    assert_true(take(throttle, THROTTLE_UPDATE_VM, "Vm1", 0, &charge));
    json_t *json = throttle_json(throttle, 15 * 1000);
    CLEANUP(freep) char *text = json_dumps(json, JSON_COMPACT);
    assert_string_equal(text, "{\"throttling\":\"on\",\"buckets\":[{\"limit\":\"UpdateVMResource\","
                              "\"subscription\":\"s\",\"owner\":\"Vm1\",\"left\":11,\"of\":12,"
                              "\"refillMs\":45000},{\"limit\":"
                              "\"UpdateVMSubscriptionMaximum\",\"subscription\":\"s\",\"owner\":"
                              "\"\",\"left\":1499,\"of\":1500,"
                              "\"refillMs\":45000}]}");
    json_decref(json);
    json = throttle_json(throttle, MINUTE);
    assert_int_equal(json_array_size(json_object_get(json, "buckets")), 0);
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_numbers),
        cmocka_unit_test(test_a_long_window_beside_the_short_one),
        cmocka_unit_test(test_what_a_request_is_told),
        cmocka_unit_test(test_a_refusal_is_free),
        cmocka_unit_test(test_a_full_bucket_has_no_period),
        cmocka_unit_test(test_it_is_scaled_and_switched_off),
        cmocka_unit_test(test_a_wrong_setting_changes_nothing),
        cmocka_unit_test(test_each_subscription_has_its_own),
        cmocka_unit_test(test_what_is_not_full_is_shown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
