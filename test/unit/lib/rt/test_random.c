#include "lib/rt/random.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

/* splitmix64 is a published algorithm; these are its first numbers from the state 0. */
static void test_the_stream_is_the_published_one(void **state)
{
    static const uint64_t expected[] = {0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f,
                                        0xf88bb8a8724c81ec, 0x1b39896a51a8749b};
    struct random random = {0};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(expected); i++)
        assert_true(random_next(&random) == expected[i]);
}

static void test_below_reaches_all_and_only_those(void **state)
{
    struct random random = {.state = 7};
    unsigned seen[10] = {0};

    (void)state;
    for (int i = 0; i < 10000; i++) {
        uint64_t number = random_below(&random, COUNT_OF(seen));

        assert_in_range(number, 0, COUNT_OF(seen) - 1);
        seen[number]++;
    }
    for (size_t i = 0; i < COUNT_OF(seen); i++)
        assert_in_range(seen[i], 800, 1200);
    assert_int_equal(random_below(&random, 1), 0);
    assert_dies(random_below(&random, 0));
}

static void test_uuids_are_of_version_4(void **state)
{
    struct random random = {.state = 0};
    char uuid[UUID_SIZE];

    (void)state;
    random_uuid(&random, uuid);
    assert_string_equal(uuid, "e220a839-7b1d-4daf-ae78-9e6aa1b965f4");
    for (int i = 0; i < 1000; i++) {
        random_uuid(&random, uuid);
        assert_int_equal(strlen(uuid), UUID_SIZE - 1);
        assert_int_equal(uuid[14], '4');
        assert_non_null(strchr("89ab", uuid[19]));
        for (int n = 0; n < UUID_SIZE - 1; n++)
            assert_non_null(strchr(
                n == 8 || n == 13 || n == 18 || n == 23 ? "-" : "0123456789abcdef", uuid[n]));
    }
}

static void test_the_system_seeds_differently_each_time(void **state)
{
    struct random a, b;

    (void)state;
    random_seed_from_system(&a);
    random_seed_from_system(&b);
    assert_true(a.state != b.state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_stream_is_the_published_one),
        cmocka_unit_test(test_below_reaches_all_and_only_those),
        cmocka_unit_test(test_uuids_are_of_version_4),
        cmocka_unit_test(test_the_system_seeds_differently_each_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
