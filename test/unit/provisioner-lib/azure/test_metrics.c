/* What can be read from the metrics of each kind of request. */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/azure/azure_metrics.h"
#include "test/unit/provisioner-lib/azure/cloud_world.h"

static struct metric *const metrics[] = {
    &METRIC_AZURE_REQUESTS,     &METRIC_AZURE_REQUEST_SECONDS, &METRIC_AZURE_RETRIES,
    &METRIC_AZURE_GATE_SECONDS, &METRIC_AZURE_VM_UPDATE_DISKS, &METRIC_AZURE_VM_QUEUE_SECONDS,
    &METRIC_AZURE_BUDGET_LEFT,
};

/* The value of a series as Prometheus reads it; -1 if it is not there. */
static double value_of(struct world *world, const char *series)
{
    struct buffer out;

    azure_cloud_refresh_metrics(world->cloud);
    buffer_init(&out, 1024 * 1024);
    metrics_write(metrics, COUNT_OF(metrics), &out);
    CLEANUP(freep) char *text = buffer_take(&out);
    CLEANUP(freep) char *line = mem_printf("\nazuredisk_azure_%s ", series);
    const char *found = strstr(text, line);

    return found ? strtod(found + strlen(line), NULL) : -1;
}

static void assert_value(struct world *world, const char *series, double expected)
{
    double value = value_of(world, series);

    if (value != expected)
        fail_msg("%s: expected %g, got %g", series, expected, value);
}

static const struct {
    const char *series;
    double value;
} after_two_disks[] = {
    /* count and result */
    {"requests_total{kind=\"disk_write\",result=\"ok\"}", 2},
    {"requests_total{kind=\"vm_update\",result=\"ok\"}", 2},
    {"requests_total{kind=\"vm_update\",result=\"Throttled\"}", 1},
    {"requests_total{kind=\"disk_delete\",result=\"ok\"}", 1},
    {"requests_total{kind=\"sku_read\",result=\"ok\"}", 1},
    /* latency; a refusal is an answer too */
    {"request_duration_seconds_count{kind=\"disk_write\"}", 2},
    {"request_duration_seconds_count{kind=\"vm_update\"}", 3},
    {"request_duration_seconds_count{kind=\"disk_delete\"}", 1},
    /* retried */
    {"retries_total{kind=\"vm_update\",reason=\"throttled\"}", 1},
    /* wait for buckets */
    {"budget_wait_seconds_count{kind=\"vm_update\"}", 3},
    /* batch size: the first disk alone is refused, and goes with the second; then one leaves */
    {"vm_update_disks_count", 3},
    {"vm_update_disks_sum", 1 + 2 + 1},
    /* wait in the VM's queue */
    {"vm_queue_wait_seconds_count{urgency=\"primary\"}", 2},
    {"vm_queue_wait_seconds_count{urgency=\"replica\"}", 1},
    {"vm_queue_wait_seconds_count{urgency=\"collection\"}", 1},
};

static void test_each_kind_is_counted(void **state)
{
    static const char *const names[] = {"a", "b"};
    struct world *world = world_new();
    struct wish a = {.kind = ATTACH, .vm = VM("vm1"), .disk = "a", .lun = 0};
    struct wish b = {
        .kind = ATTACH, .vm = VM("vm1"), .disk = "b", .lun = 1, .urgency = CLOUD_FOR_REPLICA};

    (void)state;
    make_disks(world, names, 2, 1);
    world->network.stand_in = (struct stand_in){
        .text = "attachDetachDataDisks",
        .times = 1,
        .status = 429,
        .headers = {{"Retry-After", "5"}},
        .body = "{'code': 'OperationNotAllowed', 'message': 'too many requests'}"};
    begin(world, &a);
    loop_advance(world->azure->loop, 1000);
    begin(world, &b);
    loop_advance(world->azure->loop, 60 * 1000);
    assert_true(a.ended && b.ended);
    assert_ok(a.err);
    assert_ok(b.err);
    assert_ok(wish(
        world,
        (struct wish){.kind = DETACH, .vm = VM("vm1"), .disk = "b", .urgency = CLOUD_COLLECTION}));
    assert_ok(wish(world, (struct wish){.kind = DELETE, .disk = "b"}));

    for (size_t i = 0; i < COUNT_OF(after_two_disks); i++)
        assert_value(world, after_two_disks[i].series, after_two_disks[i].value);
    assert_true(value_of(world, "vm_queue_wait_seconds_sum{urgency=\"primary\"}") >= 5);
    world_free(world);
}

static void test_what_is_left_of_the_budget(void **state)
{
    static const char *const names[] = {"a"};
    struct world *world = world_new();

    (void)state;
    assert_value(world, "budget_left{kind=\"vm_update\",scope=\"resource\"}", 12);
    assert_value(world, "budget_left{kind=\"vm_update\",scope=\"subscription\"}", 1500);
    make_disks(world, names, 1, 1);
    assert_ok(wish(world, (struct wish){.kind = ATTACH, .vm = VM("vm1"), .disk = "a"}));
    assert_value(world, "budget_left{kind=\"vm_update\",scope=\"resource\"}", 11);
    assert_value(world, "budget_left{kind=\"vm_update\",scope=\"subscription\"}", 1499);
    assert_in_range(value_of(world, "budget_left{kind=\"vm_update\",scope=\"method\"}"), 190, 200);
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_kind_is_counted),
        cmocka_unit_test(test_what_is_left_of_the_budget),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
