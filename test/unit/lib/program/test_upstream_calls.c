/* CSI's calls by the names that the Azure Disk CSI driver's metrics have. */
#include "lib/program/upstream_calls.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/cleanup.h"
#include "test/unit/expect.h"

static struct metric *const metrics[] = {&METRIC_UPSTREAM_CALLS, &METRIC_UPSTREAM_CALL_SECONDS};

static void test_calls_are_counted_by_operation_and_success(void **state)
{
    static const char *const lines[] = {
        "azuredisk_csi_driver_operations_total{operation=\"controller_publish_volume\","
        "success=\"true\"} 2\n",
        "azuredisk_csi_driver_operations_total{operation=\"node_stage_volume\","
        "success=\"false\"} 1\n",
        "azuredisk_csi_driver_operation_duration_seconds_sum{"
        "operation=\"controller_publish_volume\",success=\"true\"} 2\n",
        "azuredisk_csi_driver_operation_duration_seconds_bucket{"
        "operation=\"node_stage_volume\",success=\"false\",le=\"300\"} 0\n",
        "azuredisk_csi_driver_operation_duration_seconds_bucket{"
        "operation=\"node_stage_volume\",success=\"false\",le=\"+Inf\"} 1\n",
    };
    CLEANUP(buffer_fini) struct buffer out;

    (void)state;
    buffer_init(&out, 64 * 1024);
    upstream_count_call("/csi.v1.Controller/ControllerPublishVolume", true, 0.5);
    upstream_count_call("/csi.v1.Controller/ControllerPublishVolume", true, 1.5);
    upstream_count_call("/csi.v1.Node/NodeStageVolume", false, 301);
    metrics_write(metrics, COUNT_OF(metrics), &out);
    for (size_t i = 0; i < COUNT_OF(lines); i++)
        if (!strstr(out.data, lines[i]))
            fail_msg("%s is not in\n%s", lines[i], out.data);
    metrics_clear(metrics, COUNT_OF(metrics));
}

static void test_what_it_does_not_count_is_not_counted(void **state)
{
    CLEANUP(buffer_fini) struct buffer out;

    (void)state;
    buffer_init(&out, 64 * 1024);
    upstream_count_call("/csi.v1.Identity/Probe", true, 1);
    upstream_count_call("/csi.v1.Node/NodeGetVolumeStats", true, 1);
    metrics_write(metrics, COUNT_OF(metrics), &out);
    assert_null(strstr(out.data, "operation="));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_are_counted_by_operation_and_success),
        cmocka_unit_test(test_what_it_does_not_count_is_not_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
