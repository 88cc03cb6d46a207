#include "lib/program/csi_call.h"

#include <string.h>

#include "lib/api/csi.pb-c.h"
#include "lib/base/cleanup.h"
#include "test/unit/captured_stderr.h"
#include "test/unit/expect.h"

static void test_calls_are_counted_by_method_and_status(void **state)
{
    static struct metric *const metrics[] = {&METRIC_CSI_OPERATIONS};
    CLEANUP(err_freep) struct err *err = err_new(ERR_NOT_FOUND, "no such volume");
    CLEANUP(buffer_fini) struct buffer out;

    (void)state;
    buffer_init(&out, 64 * 1024);
    csi_call_count("d", &(struct rpc_outcome){.method = "M", .duration_ms = 1500});
    csi_call_count("d", &(struct rpc_outcome){.method = "M", .duration_ms = 500});
    csi_call_count("d", &(struct rpc_outcome){.method = "M", .duration_ms = 250, .err = err});
    metrics_write(metrics, 1, &out);
    assert_non_null(
        strstr(out.data, "azuredisk_csi_operations_seconds_sum{driver_name=\"d\",method_name=\"M\","
                         "grpc_status_code=\"0\"} 2\n"));
    assert_non_null(
        strstr(out.data, "azuredisk_csi_operations_seconds_sum{driver_name=\"d\",method_name=\"M\","
                         "grpc_status_code=\"5\"} 0.25\n"));
    metrics_clear(metrics, 1);
}

static char *logged(const struct rpc_outcome *outcome, int verbosity)
{
    log_setup(verbosity, LOG_TEXT);
    struct captured_stderr capture = capture_stderr();
    csi_call_log(outcome, LOG_INFO);
    return captured_text(capture);
}

static void expect_logged(const struct rpc_outcome *outcome, char level, const char *line)
{
    CLEANUP(freep) char *text = logged(outcome, 5);

    assert_int_equal(text[0], level);
    assert_non_null(strstr(text, "] "));
    assert_string_equal(strstr(text, "] ") + 2, line);
}

static void test_the_log_names_what_a_call_was_about(void **state)
{
    Csi__V1__ControllerPublishVolumeRequest publish;
    Csi__V1__CreateSnapshotRequest snapshot;
    Csi__V1__ListVolumesRequest list;
    CLEANUP(err_freep) struct err *err = err_new(ERR_NOT_FOUND, "no such node");

    (void)state;
    csi__v1__controller_publish_volume_request__init(&publish);
    csi__v1__create_snapshot_request__init(&snapshot);
    csi__v1__list_volumes_request__init(&list);
    publish.volume_id = (char[]){"/disks/pvc-1"};
    publish.node_id = (char[]){"n1\nE forged"};
    snapshot.name = (char[]){"s"};
    snapshot.source_volume_id = publish.volume_id;
    expect_logged(&(struct rpc_outcome){"/P", &publish.base, NULL, 25}, 'I',
                  "/P: volume_id /disks/pvc-1, node_id n1\\x0aE forged: ok (25 ms)\n");
    publish.node_id = NULL;
    expect_logged(&(struct rpc_outcome){"/P", &publish.base, err, 3}, 'W',
                  "/P: volume_id /disks/pvc-1: NotFound: no such node (3 ms)\n");
    expect_logged(&(struct rpc_outcome){"/S", &snapshot.base, NULL, 0}, 'I',
                  "/S: name s, source_volume_id /disks/pvc-1: ok (0 ms)\n");
    expect_logged(&(struct rpc_outcome){"/L", &list.base, NULL, 7}, 'D', "/L: ok (7 ms)\n");
    expect_logged(&(struct rpc_outcome){"unknown", NULL, err, 0}, 'W',
                  "unknown: NotFound: no such node (0 ms)\n");

    CLEANUP(freep) char *quiet = logged(&(struct rpc_outcome){"/L", &list.base, NULL, 7}, 2);
    assert_string_equal(quiet, "");
}

static char *filled(size_t length)
{
    char *text = mem_alloc(length + 1);

    memset(text, 'x', length);
    return text;
}

static void test_the_log_has_no_secret_and_no_endless_text(void **state)
{
    Csi__V1__CreateVolumeRequest__SecretsEntry secret;
    Csi__V1__CreateVolumeRequest__SecretsEntry *secrets[] = {&secret};
    Csi__V1__CreateVolumeRequest create;
    CLEANUP(freep) char *name = filled(100000);

    (void)state;
    csi__v1__create_volume_request__secrets_entry__init(&secret);
    csi__v1__create_volume_request__init(&create);
    secret.key = (char[]){"key"};
    secret.value = (char[]){"hunter2"};
    create.secrets = secrets;
    create.n_secrets = 1;
    create.name = name;
    CLEANUP(freep) char *text = logged(&(struct rpc_outcome){"/C", &create.base, NULL, 1}, 5);
    assert_non_null(strstr(text, "xxx: ok (1 ms)\n"));
    assert_null(strstr(text, "hunter2"));
    assert_in_range(strlen(text), 320, 480);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_are_counted_by_method_and_status),
        cmocka_unit_test(test_the_log_names_what_a_call_was_about),
        cmocka_unit_test(test_the_log_has_no_secret_and_no_endless_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
