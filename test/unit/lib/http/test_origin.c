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

static void test_this_machine(void **state)
{
    static const struct {
        const char *url;
        bool is;
    } urls[] = {
        {"https://localhost:6443", true},
        {"https://LocalHost/x", true},
        {"http://127.0.0.1:1/x", true},
        {"https://127.8.9.10", true},
        {"https://[::1]:6443/x", true},
        {"https://[0:0:0:0:0:0:0:1]", true},
        {"https://localhost.example", false},
        {"https://example.com", false},
        {"https://10.127.0.1", false},
        {"https://128.0.0.1", false},
        {"https://[fe80::1]", false},
        {"https://[::]", false},
        {"https://127.0.0.1.example", false},
        {"https://127.0.0.1@10.0.0.1", false},
        {"https://", false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(urls); i++)
        if (http_is_loopback(urls[i].url) != urls[i].is)
            fail_msg("%s is %sthis machine's", urls[i].url, urls[i].is ? "not " : "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_this_machine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
