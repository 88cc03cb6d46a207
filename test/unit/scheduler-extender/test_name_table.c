/* Names by their hashes, and the table against a plain array that is asked the same. */
#include "scheduler-extender/name_table.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

static uint64_t hash_of(const char *text)
{
    return named_of(text, strlen(text)).hash;
}

static void test_names(void **state)
{
    const struct named name = named_of("node-1, and more", 6);

    (void)state;
    assert_int_equal(name.length, 6);
    assert_memory_equal(name.text, "node-1", 6);
    assert_true(name.hash == hash_of("node-1"));
}

/* Every character of a name counts, wherever it is, and so does the length. */
static void test_names_that_differ_little(void **state)
{
    char zeros[32] = {0};

    (void)state;
    for (size_t length = 1; length <= 40; length++)
        for (size_t place = 0; place < length; place++) {
            char one[40], other[40];

            memset(one, 'a', length);
            memcpy(other, one, length);
            other[place] = 'b';
            CLEANUP(freep) char *exactly = mem_copy(one, length);
            assert_true(named_of(exactly, length).hash == named_of(one, length).hash);
            assert_true(named_of(one, length).hash != named_of(other, length).hash);
        }
    for (size_t length = 0; length < sizeof zeros; length++)
        assert_true(named_of(zeros, length).hash != named_of(zeros, length + 1).hash);
}

static void test_the_empty_table(void **state)
{
    struct name_table table = {0};

    (void)state;
    assert_null(name_table_find(&table, 7));
    name_table_remove(&table, 7);
    name_table_fini(&table);
}

enum { N_HASHES = 100, N_STEPS = 20 * 1000 };

/* Few homes for many, the last slot among them, so that searches are long and go round the end. */
static uint64_t nth_hash(size_t i)
{
    static const uint64_t homes[] = {1, 5, 13, 15};

    return i << 32 | homes[i % COUNT_OF(homes)];
}

static void check(const struct name_table *table, const int64_t *numbers)
{
    size_t n = 0;

    for (size_t i = 0; i < N_HASHES; i++) {
        const int64_t *number = name_table_find(table, nth_hash(i));

        n += numbers[i] != 0;
        if ((number ? *number : 0) != numbers[i])
            fail_msg("hash %zu: expected %d, got %d", i, (int)numbers[i],
                     number ? (int)*number : 0);
    }
    assert_int_equal(table->n, n);
    assert_true(4 * n <= 3 * table->n_slots);
}

static void test_against_an_array(void **state)
{
    struct name_table table = {0};
    int64_t numbers[N_HASHES] = {0};
    unsigned seed = 1;

    (void)state;
    for (int64_t step = 1; step <= N_STEPS; step++) {
        size_t i = (size_t)rand_r(&seed) % N_HASHES;

        /* Now it fills, now it empties. */
        numbers[i] = rand_r(&seed) % 10 < (step / 1000 % 2 ? 7 : 2) ? step : 0;
        if (numbers[i])
            name_table_put(&table, nth_hash(i), numbers[i]);
        else
            name_table_remove(&table, nth_hash(i));
        check(&table, numbers);
    }
    name_table_fini(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_names_that_differ_little),
        cmocka_unit_test(test_the_empty_table),
        cmocka_unit_test(test_against_an_array),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
