#include "lib/base/alloc.h"

#include <string.h>

#include "test/unit/expect.h"

static void test_memory_is_zeroed_and_of_the_size(void **state)
{
    static const size_t sizes[] = {0, 1, 15, 16, 4096, 1 << 20};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        CLEANUP(freep) char *memory = mem_alloc(sizes[i]);

        assert_non_null(memory);
        for (size_t n = 0; n < sizes[i]; n++)
            assert_int_equal(memory[n], 0);
    }
}

static void test_growing_keeps_the_content(void **state)
{
    CLEANUP(freep) char *memory = mem_grow(NULL, 4);

    (void)state;
    memcpy(memory, "abc", 4);
    memory = mem_grow(memory, 100000);
    assert_string_equal(memory, "abc");
}

static void test_copies(void **state)
{
    CLEANUP(freep) char *bytes = mem_copy("a\0b", 3);
    CLEANUP(freep) char *nothing = mem_copy(NULL, 0);
    CLEANUP(freep) char *text = mem_strdup("text");
    CLEANUP(freep) char *lower = mem_lower("Disk-1 \xc3\x84");
    CLEANUP(freep) char *printed = mem_printf("%s-%d", "lun", 7);

    (void)state;
    assert_memory_equal(bytes, "a\0b", 3);
    assert_non_null(nothing);
    assert_string_equal(text, "text");
    assert_null(mem_strdup(NULL));
    assert_string_equal(lower, "disk-1 \xc3\x84");
    assert_null(mem_lower(NULL));
    assert_string_equal(printed, "lun-7");
}

static void test_strndup_ends_at_the_length_or_the_nul(void **state)
{
    static const char unterminated[] = {'a', 'b', 'c'};
    static const struct {
        const char *text;
        size_t most;
        const char *copy;
    } rows[] = {
        {"volume", 3, "vol"}, {"volume", 6, "volume"},  {"volume", 100, "volume"},
        {"volume", 0, ""},    {unterminated, 3, "abc"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep) char *copy = mem_strndup(rows[i].text, rows[i].most);

        assert_string_equal(copy, rows[i].copy);
    }
    assert_null(mem_strndup(NULL, 0));
}

static void test_arrays_grow_one_by_one(void **state)
{
    CLEANUP(freep) int *numbers = NULL;
    unsigned n = 0;

    (void)state;
    for (int i = 0; i < 1000; i++)
        ARRAY_ADD(numbers, n) = i;
    assert_int_equal(n, 1000);
    n = 5; /* taking some off the end is fine */
    for (int i = 5; i < 100; i++)
        ARRAY_ADD(numbers, n) = -i;
    for (int i = 0; i < 100; i++) {
        /* cppcheck-suppress nullPointer ; ARRAY_ADD has set it */
        assert_int_equal(numbers[i], i < 5 ? i : -i);
    }
}

static void test_running_out_aborts(void **state)
{
    volatile size_t too_much = SIZE_MAX / 2;

    (void)state;
    assert_dies(freep(&(void *){mem_alloc(too_much)}));
    assert_dies(freep(&(void *){mem_grow(NULL, too_much)}));
}

static void test_taking_a_pointer_empties_it(void **state)
{
    char *text = mem_strdup("owned");
    CLEANUP(freep) char *taken = TAKE_PTR(text);

    (void)state;
    assert_null(text);
    assert_string_equal(taken, "owned");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_is_zeroed_and_of_the_size),
        cmocka_unit_test(test_growing_keeps_the_content),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_strndup_ends_at_the_length_or_the_nul),
        cmocka_unit_test(test_arrays_grow_one_by_one),
        cmocka_unit_test(test_running_out_aborts),
        cmocka_unit_test(test_taking_a_pointer_empties_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
