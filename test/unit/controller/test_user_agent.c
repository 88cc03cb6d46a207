/* Which of the names of the controller Azure is told. */
#include "controller/user_agent.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

static void test_user_agent(void **state)
{
    static const struct {
        const char *custom, *suffix, *configured, *expected;
    } cases[] = {
        {"", "", NULL, "own/1"},
        {"", "", "configured/1", "configured/1"},
        {"custom/1", "", NULL, "custom/1"},
        {"custom/1", "", "configured/1", "custom/1"},
        {"", "OSS-helm", NULL, "own/1 OSS-helm"},
        {"custom/1 (a b)", "OSS-helm", "configured/1", "custom/1 (a b) OSS-helm"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct flags flags = {.user_agent = cases[i].custom, .user_agent_suffix = cases[i].suffix};
        CLEANUP(freep) char *agent = user_agent_for_azure(&flags, cases[i].configured, "own/1");

        assert_string_equal(agent, cases[i].expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_user_agent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
