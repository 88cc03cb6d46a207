/* Each row is what a plug-in told last, and what is made of it at noon with a limit of 2 minutes.
 */
#include "provisioner-lib/placement/node_health.h"

#include "lib/base/alloc.h"
#include "lib/base/timestamp.h"
#include "test/unit/expect.h"

enum { ABSENT = -1 };

static const struct {
    const char *why, *heartbeat;
    int ready;
    enum node_health health;
} rows[] = {
    {"ready, just now", "2026-03-01T12:00:00Z", true, NODE_HEALTHY},
    {"ready, just below the limit", "2026-03-01T11:58:00.001Z", true, NODE_HEALTHY},
    {"ready, at the limit", "2026-03-01T11:58:00Z", true, NODE_SILENT},
    {"not ready, just now", "2026-03-01T12:00:00Z", false, NODE_NOT_READY},
    {"not ready, beyond the limit: old news", "2026-03-01T11:57:59Z", false, NODE_SILENT},
    {"a clock ahead of ours", "2026-03-01T12:10:00Z", true, NODE_HEALTHY},
    {"an offset from UTC", "2026-03-01T13:59:00+02:00", true, NODE_HEALTHY},
    {"no time that can be read", "noon", true, NODE_SILENT},
    {"ready, but never a heartbeat", NULL, true, NODE_SILENT},
    {"not ready from the start", NULL, false, NODE_NOT_READY},
    {"a heartbeat, but no word", "2026-03-01T12:00:00Z", ABSENT, NODE_SILENT},
    {"nothing", NULL, ABSENT, NODE_SILENT},
};

static void test_table(void **state)
{
    int64_t noon;

    (void)state;
    assert_ok(timestamp_parse("2026-03-01T12:00:00Z", &noon));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Api__AzDriverNode node = API__AZ_DRIVER_NODE__INIT;
        Api__AzDriverNodeStatus status = API__AZ_DRIVER_NODE_STATUS__INIT;

        node.status = &status;
        status.last_heartbeat_time = (char *)(uintptr_t)rows[i].heartbeat;
        status.has_ready_for_volume_allocation = rows[i].ready != ABSENT;
        status.ready_for_volume_allocation = rows[i].ready == true;
        const struct node_report report = node_report_of(&node);
        enum node_health health = node_report_is_current(report.heard_us, noon, 2 * 60 * 1000)
                                      ? report.health
                                      : NODE_SILENT;
        if (health != rows[i].health)
            fail_msg("%s: expected %d, got %d", rows[i].why, (int)rows[i].health, (int)health);
    }
}

static void test_nobody_ever_spoke(void **state)
{
    Api__AzDriverNode node = API__AZ_DRIVER_NODE__INIT;

    (void)state;
    assert_int_equal(node_report_of(&node).health, NODE_SILENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_nobody_ever_spoke),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
