#include "lib/http/message.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

static void test_header_names_have_no_case(void **state)
{
    const struct http_header headers[] = {{"Retry-After", "7"}, {"ETag", ""}, {"etag", "2"}};

    (void)state;
    assert_string_equal(http_header_find(headers, 3, "retry-after"), "7");
    assert_string_equal(http_header_find(headers, 3, "ETAG"), "");
    assert_null(http_header_find(headers, 3, "Retry"));
    assert_null(http_header_find(headers, 0, "ETag"));
}

static void test_escape(void **state)
{
    static const struct {
        const char *text, *escaped;
    } rows[] = {
        {"", ""},
        {"azAZ09-._~", "azAZ09-._~"},
        {"a/b?c=d&e+f %", "a%2Fb%3Fc%3Dd%26e%2Bf%20%25"},
        {"\xc3\xa4\x01", "%C3%A4%01"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep) char *escaped = http_escape(rows[i].text);

        assert_string_equal(escaped, rows[i].escaped);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_header_names_have_no_case),
        cmocka_unit_test(test_escape),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
