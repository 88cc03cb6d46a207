#include "lib/api/known_texts.h"

#include <string.h>

#include "test/unit/expect.h"

static void test_they_are_sorted(void **state)
{
    (void)state;
    for (size_t i = 1; i < N_KNOWN_TEXTS; i++) {
        const struct known_text *a = &KNOWN_TEXTS[i - 1], *b = &KNOWN_TEXTS[i];

        if (a->length > b->length || (a->length == b->length && strcmp(a->text, b->text) >= 0))
            fail_msg("%s comes before %s", a->text, b->text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_they_are_sorted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
