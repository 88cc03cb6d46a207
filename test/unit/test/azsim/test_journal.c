#include "test/azsim/journal.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

static const char template[] = "/tmp/azsim-journal-XXXXXX";
static char folder[sizeof template];

static struct journal *open_journal(void)
{
    struct journal *journal;

    assert_ok(journal_open(folder, &journal));
    return journal;
}

static int set_up(void **state)
{
    (void)state;
    memcpy(folder, template, sizeof template);
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    static const char *const names[] = {"journal.jsonl", "journal.jsonl.1"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        CLEANUP(freep) char *path = mem_printf("%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

static void write_entry(struct journal *journal, const char *path)
{
    const struct http_call call = {.method = "GET", .path = path, .query = ""};
    const struct arm_record record = {.call = &call, .status = 200, .kind = "disks.get"};

    journal_record(journal, &record);
}

/* The numbers of the entries, as a list. */
static json_t *numbers(const struct journal *journal, uint64_t after, size_t limit)
{
    CLEANUP(freep) char *text = journal_text(journal, after, limit);
    json_t *json = json_loads(text, 0, NULL), *list = json_array(), *entry;
    size_t i;

    assert_non_null(json);
    json_array_foreach(json_object_get(json, "entries"), i, entry)
        json_array_append(list, json_object_get(entry, "number"));
    json_decref(json);
    return list;
}

static void expect_numbers(const struct journal *journal, uint64_t after, size_t limit,
                           uint64_t first, size_t n)
{
    json_t *list = numbers(journal, after, limit);

    assert_int_equal(json_array_size(list), n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(json_integer_value(json_array_get(list, i)), first + i);
    json_decref(list);
}

/* What a request was charged, and what struck it. */
static void test_charges_and_faults(void **state)
{
    struct journal *journal = open_journal();
    const struct http_call call = {.method = "GET", .path = "/a", .query = ""};
    const struct throttle_charge provider = {
        .limits = {{"UpdateVMResource", 0}, {"UpdateVMSubscriptionMaximum", 1488}},
        .n = 2,
        .refused = "UpdateVMResource"};
    const struct arm_record record = {
        .call = &call, .status = 429, .charges = {&provider, NULL}, .fault = "throttle"};

    (void)state;
    journal_record(journal, &record);
    CLEANUP(freep) char *text = journal_text(journal, 0, 1);
    assert_non_null(strstr(text, "\"throttled\":\"UpdateVMResource\",\"charged\":"
                                 "{\"UpdateVMResource\":0,\"UpdateVMSubscriptionMaximum\":1488},"
                                 "\"fault\":\"throttle\""));
    journal_free(journal);
}

static void test_entries_after_a_number(void **state)
{
    struct journal *journal = open_journal();

    (void)state;
    expect_numbers(journal, 0, 100, 0, 0);
    for (int i = 0; i < 10; i++)
        write_entry(journal, "/x");
    expect_numbers(journal, 0, 100, 1, 10);
    expect_numbers(journal, 7, 100, 8, 3);
    expect_numbers(journal, 3, 2, 4, 2);
    expect_numbers(journal, 10, 100, 0, 0);
    expect_numbers(journal, 99, 100, 0, 0);
    journal_free(journal);
}

static void test_the_oldest_entries_give_way(void **state)
{
    struct journal *journal = open_journal();

    (void)state;
    for (int i = 0; i < JOURNAL_MAX_ENTRIES + 5; i++)
        write_entry(journal, "/x");
    expect_numbers(journal, 0, SIZE_MAX, 6, JOURNAL_MAX_ENTRIES);
    journal_free(journal);
    journal = open_journal();
    expect_numbers(journal, 0, SIZE_MAX, 6, JOURNAL_MAX_ENTRIES);
    write_entry(journal, "/x");
    assert_int_equal(journal_last(journal), JOURNAL_MAX_ENTRIES + 6);
    journal_free(journal);
}

static void test_the_file_is_put_aside_when_it_is_large(void **state)
{
    struct journal *journal = open_journal();
    CLEANUP(freep) char *aside = mem_printf("%s/journal.jsonl.1", folder);
    char path[1000];
    int n = 0;

    (void)state;
    memset(path, 'x', sizeof path);
    path[sizeof path - 1] = '\0';
    for (; access(aside, F_OK) < 0 && n < 100000; n++)
        write_entry(journal, path);
    assert_in_range(n, JOURNAL_MAX_FILE / 1200, JOURNAL_MAX_FILE / 1000);
    journal_free(journal);
    journal = open_journal();
    assert_int_equal(journal_last(journal), n);
    journal_free(journal);
}

static void test_what_is_long_or_no_text_is_cut(void **state)
{
    struct journal *journal = open_journal();
    CLEANUP(freep) char *path = mem_alloc(100001);

    (void)state;
    memset(path, 'x', 100000);
    write_entry(journal, path);
    write_entry(journal, "/\xff");
    CLEANUP(freep) char *text = journal_text(journal, 0, 10);
    assert_true(strlen(text) < 2000);
    expect_numbers(journal, 0, 10, 1, 2);
    journal_free(journal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_charges_and_faults, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_entries_after_a_number, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_oldest_entries_give_way, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_file_is_put_aside_when_it_is_large, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_long_or_no_text_is_cut, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
