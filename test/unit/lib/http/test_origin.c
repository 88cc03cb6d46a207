#include "lib/http/origin.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

#define HOME "https://management.azure.com"

static const struct {
    const char *url, *home;
    bool same;
} rows[] = {
    {HOME "/subscriptions/s?x=y", HOME, true},
    {HOME, HOME, true},
    {"HTTPS://Management.Azure.com/x", HOME, true},
    {HOME ":443/x", HOME, true},
    {HOME "/x", HOME ":443", true},
    {"https://127.0.0.1:8443/x", "https://127.0.0.1:8443", true},
    {HOME "/x", HOME "/base", true},
    {HOME ".evil.example/x", HOME, false},
    {HOME "@evil.example/x", HOME, false},
    {"https://user@management.azure.com/x", HOME, false},
    {"https://user:password@management.azure.com/x", HOME, false},
    {HOME ":8443/x", HOME, false},
    {HOME ":4430/x", HOME ":443", false},
    {"http://management.azure.com/x", HOME, false},
    {"http://management.azure.com:443/x", HOME, false},
    {"https://evil.example/" HOME, HOME, false},
    {"https://evil.example\\@management.azure.com/x", HOME, false},
    {"//management.azure.com/x", HOME, false},
    {"/subscriptions/s", HOME, false},
    {"management.azure.com", HOME, false},
    {"", HOME, false},
};

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (http_same_origin(rows[i].url, rows[i].home) != rows[i].same)
            fail_msg("%s and %s are %sthe same", rows[i].url, rows[i].home,
                     rows[i].same ? "not " : "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
