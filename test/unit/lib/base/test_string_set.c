#include "lib/base/string_set.h"

#include "test/unit/expect.h"

static void test_each_text_is_there_once(void **state)
{
    struct string_set set = {0};

    (void)state;
    assert_false(string_set_has(&set, "a"));
    assert_false(string_set_remove(&set, "a"));
    assert_true(string_set_add(&set, "a"));
    assert_false(string_set_add(&set, "a"));
    assert_true(string_set_add(&set, ""));
    assert_int_equal(string_set_count(&set), 2);
    assert_true(string_set_has(&set, "a"));
    assert_true(string_set_has(&set, ""));
    assert_false(string_set_has(&set, "ab"));
    assert_true(string_set_remove(&set, "a"));
    assert_false(string_set_has(&set, "a"));
    assert_int_equal(string_set_count(&set), 1);
    string_set_clear(&set);
    assert_null(set.members);
    assert_int_equal(string_set_count(&set), 0);
    assert_true(string_set_add(&set, "")); /* it can be used again */
    string_set_clear(&set);
    string_set_clear(&set);
}

static void test_texts_are_the_sets_own(void **state)
{
    struct string_set set = {0};
    char text[] = "a";

    (void)state;
    assert_true(string_set_add(&set, text));
    text[0] = 'b';
    assert_true(string_set_has(&set, "a"));
    assert_false(string_set_has(&set, text));
    string_set_clear(&set);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_text_is_there_once),
        cmocka_unit_test(test_texts_are_the_sets_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
