#include "lib/program/csi_driver.h"

#include "lib/base/cleanup.h"
#include "test/unit/expect.h"

static void test_calls_are_counted_by_method_and_status(void **state)
{
    static struct metric *const metrics[] = {&METRIC_CSI_OPERATIONS};
    CLEANUP(err_freep) struct err *err = err_new(ERR_NOT_FOUND, "no such volume");
    CLEANUP(buffer_fini) struct buffer out;

    (void)state;
    buffer_init(&out, 64 * 1024);
    metrics_count_csi_call("d", "M", NULL, 1500);
    metrics_count_csi_call("d", "M", NULL, 500);
    metrics_count_csi_call("d", "M", err, 250);
    metrics_write(metrics, 1, &out);
    assert_non_null(
        strstr(out.data, "azuredisk_csi_operations_seconds_sum{driver_name=\"d\",method_name=\"M\","
                         "grpc_status_code=\"0\"} 2\n"));
    assert_non_null(
        strstr(out.data, "azuredisk_csi_operations_seconds_sum{driver_name=\"d\",method_name=\"M\","
                         "grpc_status_code=\"5\"} 0.25\n"));
    metrics_clear(metrics, 1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_are_counted_by_method_and_status),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
