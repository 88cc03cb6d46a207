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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_encode)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
