/* What Azure's states of something that is being made come to. */
#include "provisioner-lib/azure/creation.h"

#include "test/unit/expect.h"

static void test_states(void **state)
{
    static const struct {
        const char *said;
        enum creation_state state;
    } rows[] = {
        {NULL, CREATION_DONE},       {"Succeeded", CREATION_DONE},
        {"Failed", CREATION_FAILED}, {"canceled", CREATION_FAILED},
        {"", CREATION_UNDER_WAY},    {"Creating", CREATION_UNDER_WAY},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_int_equal(creation_state_of(rows[i].said), rows[i].state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_states)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
