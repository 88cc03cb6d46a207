/* The examples of RFC 4648, section 10, and bytes that are no text. */
#include "lib/base/base64.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

static const struct {
    const char *data, *text;
    size_t length;
} rows[] = {
    {"", "", 0},
    {"f", "Zg==", 1},
    {"fo", "Zm8=", 2},
    {"foo", "Zm9v", 3},
    {"foob", "Zm9vYg==", 4},
    {"fooba", "Zm9vYmE=", 5},
    {"foobar", "Zm9vYmFy", 6},
    {"\0\xff\xfe\xfb", "AP/++w==", 4},
};

static void test_encode(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep) char *text = base64_encode(rows[i].data, rows[i].length);

        assert_string_equal(text, rows[i].text);
    }
}

static void test_decode(void **state)
{
    static const char *const wrong[] = {
        "Zg", "Zg=", "Z===", "====", "Zg==Zg==", "Zm9v\n", "Z\n==", "Zm9v    ", "Z!==", "-_-_"};
    char *data;
    size_t length;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_true(base64_decode(rows[i].text, &data, &length));
        assert_int_equal(length, rows[i].length);
        assert_memory_equal(data, rows[i].data, length + 1);
        free(data);
    }
    for (size_t i = 0; i < COUNT_OF(wrong); i++)
        if (base64_decode(wrong[i], &data, &length))
            fail_msg("%s", wrong[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_encode),
                                       cmocka_unit_test(test_decode)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
