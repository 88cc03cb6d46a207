/* The specs of Leases. */
#include "lib/kube/lease_spec.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

enum { US = 1000 * 1000 };

static const char *text_of(json_t *spec, const char *name)
{
    return json_string_value(json_object_get(spec, name));
}

static void test_held(void **state)
{
    CLEANUP(json_decrefp) json_t *taken = lease_spec_held("me", 7500, 5 * US + 7, true);
    CLEANUP(json_decrefp) json_t *renewed = lease_spec_held("me", 8000, 6 * US, false);

    (void)state;
    assert_string_equal(text_of(taken, "holderIdentity"), "me");
    assert_int_equal(json_integer_value(json_object_get(taken, "leaseDurationSeconds")), 8);
    assert_string_equal(text_of(taken, "renewTime"), "1970-01-01T00:00:05.000007Z");
    assert_string_equal(text_of(taken, "acquireTime"), "1970-01-01T00:00:05.000007Z");
    assert_string_equal(text_of(renewed, "renewTime"), "1970-01-01T00:00:06.000000Z");
    assert_null(json_object_get(renewed, "acquireTime"));
}

static void test_given_back(void **state)
{
    CLEANUP(json_decrefp) json_t *spec = lease_spec_free(5 * US);

    (void)state;
    assert_string_equal(text_of(spec, "holderIdentity"), "");
    assert_int_equal(json_integer_value(json_object_get(spec, "leaseDurationSeconds")), 1);
    assert_null(json_object_get(spec, "acquireTime"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_held),
        cmocka_unit_test(test_given_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
