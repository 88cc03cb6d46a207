#include "controller/node/liveness.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

#define SECOND ((int64_t)1000 * 1000)

static const struct {
    const char *why;
    bool ready;
    int64_t heard; /* seconds ago; -1: never */
    bool unreachable;
    uint64_t again_ms;
} rows[] = {
    {"both are heard", true, 10, false, 0},
    {"kubelet is heard: the node is there, whatever the plug-in", true, 1000, false, 0},
    {"the plug-in is heard: its heartbeats may end", false, 10, false, 110001},
    {"neither is heard", false, 120, true, 0},
    {"neither was ever heard", false, -1, true, 0},
};

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct node_liveness_snapshot in = {
            .node_ready = rows[i].ready, .now_us = 10000 * SECOND, .limit_ms = 120 * 1000};

        if (rows[i].heard >= 0)
            in.heard_us = in.now_us - rows[i].heard * SECOND;
        struct node_liveness_plan plan = node_liveness_decide(&in);
        if (plan.unreachable != rows[i].unreachable || plan.again_ms != rows[i].again_ms)
            fail_msg("%s: unreachable %d, again after %lu ms", rows[i].why, plan.unreachable,
                     (unsigned long)plan.again_ms);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
