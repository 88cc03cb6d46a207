/* Ages and sizes as kubectl spells them (k8s.io/apimachinery: duration.HumanDuration,
 * resource.Quantity). */
#include "azdiskctl/age.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

#define HOURS(n) ((n)*INT64_C(3600))
#define DAYS(n) ((n)*HOURS(24))

static void test_ages(void **state)
{
    static const struct {
        int64_t seconds;
        const char *text;
    } rows[] = {
        {-3600, "<invalid>"},
        {-2, "<invalid>"},
        {-1, "0s"},
        {0, "0s"},
        {119, "119s"},
        {120, "2m"},
        {121, "2m1s"},
        {599, "9m59s"},
        {600, "10m"},
        {HOURS(3) - 1, "179m"},
        {HOURS(3), "3h"},
        {HOURS(3) + 59, "3h"},
        {HOURS(3) + 60, "3h1m"},
        {HOURS(8) - 1, "7h59m"},
        {HOURS(8), "8h"},
        {HOURS(48) - 1, "47h"},
        {HOURS(48), "2d"},
        {HOURS(49), "2d1h"},
        {DAYS(8) - 1, "7d23h"},
        {DAYS(8), "8d"},
        {DAYS(730) - 1, "729d"},
        {DAYS(730), "2y"},
        {DAYS(731), "2y1d"},
        {DAYS(8 * 365), "8y"},
        {INT64_MAX, "292471208677y"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep) char *text = age_text(rows[i].seconds);

        assert_string_equal(text, rows[i].text);
    }
}

static void test_sizes(void **state)
{
    static const struct {
        int64_t bytes;
        const char *text;
    } rows[] = {
        {0, "0"},
        {1000, "1000"},
        {INT64_C(10) << 30, "10Gi"},
        {INT64_C(1536) << 20, "1536Mi"},
        {INT64_C(1) << 40, "1Ti"},
        {INT64_C(1) << 62, "4Ei"},
        {INT64_MAX, "9223372036854775807"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep) char *text = size_text(rows[i].bytes);

        assert_string_equal(text, rows[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ages),
        cmocka_unit_test(test_sizes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
