#include "provisioner-lib/azure/azure_metrics.h"

#include "lib/base/alloc.h"
#include "lib/base/err.h"
#include "provisioner-lib/azure/token_buckets.h"

static const double disks[] = {1, 2, 4, 8, 16, 32, 64, 0};

struct metric METRIC_AZURE_REQUESTS = {
    .name = "azuredisk_azure_requests_total",
    .help =
        "Requests to Azure Resource Manager, by kind and result; Throttled means HTTP status 429.",
    .type = METRIC_COUNTER,
    .labels = {"kind", "result"},
};

struct metric METRIC_AZURE_REQUEST_SECONDS = {
    .name = "azuredisk_azure_request_duration_seconds",
    .help = "Time from sending a request to Azure Resource Manager to its answer.",
    .type = METRIC_HISTOGRAM,
    .labels = {"kind"},
    .buckets = METRIC_SECONDS,
};

struct metric METRIC_AZURE_RETRIES = {
    .name = "azuredisk_azure_retries_total",
    .help = "Requests to Azure Resource Manager that were sent again, by kind and reason.",
    .type = METRIC_COUNTER,
    .labels = {"kind", "reason"},
};

struct metric METRIC_AZURE_GATE_SECONDS = {
    .name = "azuredisk_azure_budget_wait_seconds",
    .help =
        "Time that requests waited before they were sent, to avoid throttling or for a connection.",
    .type = METRIC_HISTOGRAM,
    .labels = {"kind"},
    .buckets = METRIC_SECONDS,
};

struct metric METRIC_AZURE_VM_UPDATE_DISKS = {
    .name = "azuredisk_azure_vm_update_disks",
    .help = "Disks attached and detached by one update of a VM.",
    .type = METRIC_HISTOGRAM,
    .buckets = disks,
};

struct metric METRIC_AZURE_VM_QUEUE_SECONDS = {
    .name = "azuredisk_azure_vm_queue_wait_seconds",
    .help = "Time that an attach or detach waited until the update of the VM that contains it was "
            "sent.",
    .type = METRIC_HISTOGRAM,
    .labels = {"urgency"},
    .buckets = METRIC_SECONDS,
};

struct metric METRIC_AZURE_BUDGET_LEFT = {
    .name = "azuredisk_azure_budget_left",
    .help = "Requests that Azure would accept now: for the subscription, for the VM with the "
            "fewest left (scope resource), and for Resource Manager (scope method).",
    .type = METRIC_GAUGE,
    .labels = {"kind", "scope"},
};

struct metric METRIC_AZURE_SKU_SOURCE = {
    .name = "azuredisk_azure_sku_source",
    .help =
        "1 for the source of the limits of VM sizes and kinds of disks: azure, cache or built-in.",
    .type = METRIC_GAUGE,
    .labels = {"source"},
};

void azure_metrics_begin(void)
{
    static const enum err_kind refusals[] = {ERR_THROTTLED, ERR_DENIED, ERR_EXHAUSTED};

    for (int kind = 0; kind < ARM_KINDS; kind++)
        for (size_t i = 0; i < COUNT_OF(refusals); i++)
            metric_begin(&METRIC_AZURE_REQUESTS, arm_kind_name((enum arm_kind)kind),
                         err_kind_reason(refusals[i]));
    metric_begin(&METRIC_AZURE_RETRIES, arm_kind_name(ARM_VM_UPDATE), "throttled");
    metric_begin(&METRIC_AZURE_RETRIES, arm_kind_name(ARM_INSTANCE_UPDATE), "throttled");
}
