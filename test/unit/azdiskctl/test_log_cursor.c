/* Which lines of a log that is opened anew have been taken before. */
#include "azdiskctl/log_cursor.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

/* Times of lines, each a digit, as they come: '|' opens the log anew. In `taken`, '-' stands for a
 * line that was taken before. */
static const struct {
    const char *come, *taken;
} rows[] = {
    {"", ""},
    {"123", "123"},
    {"123|34", "123|-4"},
    {"123|123456", "123|---456"},
    /* Of one time, some have come before and some have not. */
    {"122|2223", "122|--23"},
    {"122|222|2222", "122|--2|---2"},
    {"11|11|11", "11|--|--"},
    /* It was opened in vain, or broke off before it had caught up. */
    {"12|||123", "12|||--3"},
    {"122|12|1223", "122|--|---3"},
    {"12|1|123", "12|-|--3"},
    /* A log whose beginning is gone begins behind the cursor. */
    {"12|45|456", "12|45|--6"},
    /* Two that write to one log may swap their lines; these are new. */
    {"1324", "1324"},
    {"13|1324", "13|--24"},
    {"132|1324", "132|---4"},
    {"1323|132342", "1323|----42"},
    {"12|131", "12|-31"},
    {"1332|33", "1332|--"},
    /* Lines without a time, at the beginning. */
    {"0|0", "0|-"},
    {"01|01", "01|--"},
};

static char *take_all(const char *come)
{
    struct log_cursor cursor = {0};
    char *taken = mem_strdup(come);

    for (size_t i = 0; come[i]; i++)
        if (come[i] == '|')
            log_cursor_reopen(&cursor);
        else if (!log_cursor_take(&cursor, come[i] - '0'))
            taken[i] = '-';
    return taken;
}

static void test_each_line_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep) char *taken = take_all(rows[i].come);

        if (strcmp(taken, rows[i].taken) != 0)
            fail_msg("%s: %s, not %s", rows[i].come, taken, rows[i].taken);
    }
}

static void test_the_further_one(void **state)
{
    struct log_cursor cursor = {0}, far = {.us = 2, .n = 3}, near = {.us = 1, .n = 4};

    (void)state;
    log_cursor_advance(&cursor, &near);
    assert_int_equal(cursor.n, 4);
    log_cursor_advance(&cursor, &far);
    log_cursor_advance(&cursor, &near);
    assert_int_equal(cursor.us, 2);
    assert_int_equal(cursor.n, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_line_once),
        cmocka_unit_test(test_the_further_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
