/* That a zone is lost is told from a network that is bad. */
#include "controller/failover/silent_zones.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

/* A word for each node: its zone, "-" for none, and "!" if it is silent. */
static const struct {
    const char *nodes;
    unsigned count;
} rows[] = {
    {"", 0},
    {"- - -! -!", 2},
    {"1 1! 2 2 3 3", 1},
    /* one of three is lost */
    {"1! 1! 1! 2 2 2 3 3 3", 0},
    {"1! 1! 1! 2! 2 2 3 3! 3", 2},
    {"1! 1! 1! 2 2 2 -! -", 1},
    /* most of one */
    {"1! 1! 1 2 2 2 3 3 3", 0},
    {"1! 1! 1! 1! 1! 1! 1! 1! 1! 1! 1! 1 1 1 1 1 1 1 1 1 2", 11}, /* 55 % */
    {"1! 1! 1! 1! 1! 1! 1! 1! 1! 1! 1! 1! 1 1 1 1 1 1 1 1 2", 0},
    /* one of two, and a half of four */
    {"1! 1! 2 2", 0},
    {"1! 2! 3 4", 0},
    /* more of them, or the only one */
    {"1! 1! 2! 2! 3 3", 4},
    {"1! 2! 3!", 3},
    {"1! 1! 1!", 3},
    {"1! 1! -", 2},
};

static unsigned count(const char *nodes)
{
    struct silent_zones zones = {0};
    char zone[8];

    for (const char *word = nodes; *word; word += strcspn(word, " "), word += *word == ' ') {
        size_t length = strcspn(word, "! ");

        memcpy(zone, word, length);
        zone[word[0] == '-' ? 0 : length] = '\0';
        silent_zones_add(&zones, zone, word[length] == '!');
    }
    unsigned n = silent_zones_count(&zones);
    silent_zones_fini(&zones);
    return n;
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (count(rows[i].nodes) != rows[i].count)
            fail_msg("%s: %u count", rows[i].nodes, count(rows[i].nodes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
