#include "lib/base/hash.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

struct entry {
    char name[8];
    UT_hash_handle hh;
};

static struct entry *fill(unsigned n)
{
    struct entry *table = NULL;

    for (unsigned i = 0; i < n; i++) {
        struct entry *entry = mem_alloc(sizeof *entry);

        snprintf(entry->name, sizeof entry->name, "%u", (i * 7919) % n);
        HASH_ADD_STR(table, name, entry);
    }
    return table;
}

static void test_iterates_in_order_of_insertion(void **state)
{
    enum { N = 1000 };
    struct entry *table = fill(N);
    unsigned i = 0;

    (void)state;
    HASH_FOREACH(table, entry) {
        char expected[8];

        snprintf(expected, sizeof expected, "%u", (i++ * 7919) % N);
        assert_string_equal(entry->name, expected);
        HASH_DEL(table, entry); /* the current may go */
        free(entry);
    }
    assert_int_equal(i, N);
    assert_null(table);
}

static void test_an_empty_table_has_no_items(void **state)
{
    struct entry *table = NULL;

    (void)state;
    HASH_FOREACH(table, entry)
        fail_msg("found %s", entry->name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_iterates_in_order_of_insertion),
        cmocka_unit_test(test_an_empty_table_has_no_items),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
