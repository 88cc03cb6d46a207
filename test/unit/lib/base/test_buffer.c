#include "lib/base/buffer.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/cleanup.h"
#include "test/unit/expect.h"

static void test_pieces_are_joined_and_end_in_nul(void **state)
{
    CLEANUP(buffer_fini) struct buffer buffer = {.limit = 10000};

    (void)state;
    for (int i = 0; i < 1000; i++) {
        assert_true(buffer_append(&buffer, &"0123456789"[i % 10], 1));
        assert_int_equal(buffer.length, i + 1);
        assert_int_equal(buffer.data[i + 1], '\0');
    }
    for (int i = 0; i < 1000; i++)
        assert_int_equal(buffer.data[i], '0' + i % 10);
    buffer_printf(&buffer, "-%s", "end");
    assert_string_equal(buffer.data + 1000, "-end");
}

/* Texts that end one byte before the room for them does, with it, and beyond it. */
static void test_text_that_is_printed_is_whole(void **state)
{
    (void)state;
    for (int length = 0; length < 600; length++) {
        CLEANUP(buffer_fini) struct buffer buffer = {.limit = 10000};

        buffer_printf(&buffer, "%s", "before ");
        buffer_printf(&buffer, "%0*d", length, 0);
        buffer_printf(&buffer, "%s", " after");
        assert_int_equal(buffer.length, strlen(buffer.data));
        assert_int_equal(strspn(buffer.data + 7, "0"), length ? length : 1);
        assert_memory_equal(buffer.data, "before ", 7);
        assert_string_equal(buffer.data + buffer.length - 6, " after");
    }
}

static void test_the_limit_holds_to_the_byte(void **state)
{
    CLEANUP(buffer_fini) struct buffer buffer;

    (void)state;
    buffer_init(&buffer, 5);
    assert_false(buffer_append(&buffer, "123456", 6));
    assert_int_equal(buffer.length, 0);
    assert_true(buffer_append(&buffer, "123", 3));
    assert_false(buffer_append(&buffer, "456", 3));
    assert_string_equal(buffer.data, "123");
    assert_true(buffer_append(&buffer, "45", 2));
    assert_true(buffer_append(&buffer, NULL, 0));
    assert_false(buffer_append(&buffer, "", SIZE_MAX));
    assert_string_equal(buffer.data, "12345");
    assert_dies(buffer_printf(&buffer, "6"));
}

static void test_consume_from_the_front(void **state)
{
    CLEANUP(buffer_fini) struct buffer buffer = {.limit = 100};

    (void)state;
    buffer_consume(&buffer, 0);
    assert_null(buffer.data);
    buffer_printf(&buffer, "line 1\nline 2\n");
    buffer_consume(&buffer, 7);
    assert_string_equal(buffer.data, "line 2\n");
    buffer_consume(&buffer, 7);
    assert_string_equal(buffer.data, "");
    assert_int_equal(buffer.length, 0);
    assert_dies(buffer_consume(&buffer, 1));
}

static void test_take_leaves_an_empty_buffer_with_its_limit(void **state)
{
    CLEANUP(buffer_fini) struct buffer buffer = {.limit = 3};
    CLEANUP(freep) char *empty = buffer_take(&buffer);

    (void)state;
    assert_string_equal(empty, "");
    assert_true(buffer_append(&buffer, "abc", 3));
    CLEANUP(freep) char *taken = buffer_take(&buffer);
    assert_string_equal(taken, "abc");
    assert_null(buffer.data);
    assert_int_equal(buffer.length, 0);
    assert_true(buffer_append(&buffer, "def", 3));
    assert_false(buffer_append(&buffer, "g", 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_are_joined_and_end_in_nul),
        cmocka_unit_test(test_text_that_is_printed_is_whole),
        cmocka_unit_test(test_the_limit_holds_to_the_byte),
        cmocka_unit_test(test_consume_from_the_front),
        cmocka_unit_test(test_take_leaves_an_empty_buffer_with_its_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
