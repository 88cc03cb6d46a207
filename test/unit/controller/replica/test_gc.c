#include "controller/replica/gc.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

#define MINUTE ((int64_t)60 * 1000 * 1000)

static const char *const step_names[] = {
    [REPLICA_GC_NONE] = "none", [REPLICA_GC_SET] = "set",     [REPLICA_GC_CANCEL] = "cancel",
    [REPLICA_GC_WAIT] = "wait", [REPLICA_GC_DUE] = "collect",
};

static const struct {
    const char *why, *words;
    int64_t deadline; /* minutes; now is 10, the delay 5 */
    const char *step;
    int64_t at;
} rows[] = {
    {"a published volume has no deadline", "published attached", 0, "none", 0},
    {"a publish takes it away", "published attached", 12, "cancel", 0},
    {"even after it has passed", "published attached", 9, "cancel", 0},
    {"unpublished: it is set", "attached", 0, "set", 15},
    {"it is waited for, whoever set it", "attached", 12, "wait", 12},
    {"and kept to the moment", "attached", 10, "collect", 10},
    {"or as soon as somebody leads", "attached", 1, "collect", 1},
    {"once the claim is gone nothing is waited for", "attached released", 0, "collect", 10},
    {"even if it was to be", "attached released", 12, "collect", 10},
    {"but for who has it published", "attached released published", 0, "none", 0},
    {"or has it on a node", "attached released in-use", 0, "none", 0},
    {"nothing is left to collect", "", 12, "cancel", 0},
    {"nothing was there", "", 0, "none", 0},
    {"what Kubernetes has on a node is not collected, whatever is on record", "attached in-use", 1,
     "cancel", 0},
    {"nor gets a deadline", "attached in-use", 0, "none", 0},
};

static struct replica_gc_snapshot snapshot_of(const char *words, int64_t deadline)
{
    return (struct replica_gc_snapshot){.published = strstr(words, "published"),
                                        .in_use = strstr(words, "in-use"),
                                        .released = strstr(words, "released"),
                                        .attached = strstr(words, "attached"),
                                        .deadline_us = deadline * MINUTE,
                                        .now_us = 10 * MINUTE,
                                        .delay_ms = 5 * 60 * 1000};
}

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct replica_gc_snapshot in = snapshot_of(rows[i].words, rows[i].deadline);
        struct replica_gc_plan plan = replica_gc_decide(&in);

        if (strcmp(step_names[plan.step], rows[i].step) != 0 || plan.at_us != rows[i].at * MINUTE)
            fail_msg("%s: expected \"%s\", got \"%s\" at %ld s", rows[i].why, rows[i].step,
                     step_names[plan.step], (long)(plan.at_us / 1000000));
    }
}

/* Leaders come and go, look at times of their own and have other delays; publishes come in between.
 * What is collected is collected at the first look from five minutes after the first look that
 * found it unpublished. */
static void test_leaders(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 500; seed++) {
        struct replica_gc_snapshot in = {.attached = true};
        int64_t found = 0;
        unsigned r = seed;

        for (in.now_us = MINUTE; in.attached; in.now_us += rand_r(&r) % MINUTE) {
            in.delay_ms = 5 * 60 * 1000;
            if (in.deadline_us && rand_r(&r) % 2)
                in.delay_ms = (uint64_t)rand_r(&r); /* another leader, which has another delay */
            in.published = rand_r(&r) % 16 == 0;
            if (in.published)
                found = 0;
            else if (!found)
                found = in.now_us;
            struct replica_gc_plan plan = replica_gc_decide(&in);
            bool due = found && in.now_us >= found + 5 * MINUTE;

            assert_int_equal(plan.step == REPLICA_GC_DUE, due);
            if (plan.step == REPLICA_GC_SET)
                in.deadline_us = plan.at_us;
            if (plan.step == REPLICA_GC_CANCEL)
                in.deadline_us = 0;
            in.attached = !due;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_leaders),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
