#include "controller/metrics.h"

#include "lib/base/alloc.h"
#include "lib/program/csi_call.h"
#include "lib/program/shared_metrics.h"
#include "lib/program/upstream_calls.h"
#include "provisioner-lib/azure/azure_metrics.h"
#include "provisioner-lib/azure/upstream_requests.h"
#include "provisioner-lib/records/driver_node.h"

struct metric METRIC_RECONCILES = {
    .name = "azuredisk_reconcile_total",
    .help = "Reconciles, by kind of object and result.",
    .type = METRIC_COUNTER,
    .labels = {"kind", "result"},
};

struct metric METRIC_RECONCILE_SECONDS = {
    .name = "azuredisk_reconcile_duration_seconds",
    .help = "Duration of reconciles.",
    .type = METRIC_HISTOGRAM,
    .labels = {"kind"},
    .buckets = METRIC_SECONDS,
};

struct metric METRIC_AUDIT_FINDINGS = {
    .name = "azuredisk_audit_findings",
    .help = "Findings of the audit that persist, by kind (docs/findings.md).",
    .type = METRIC_GAUGE,
    .labels = {"kind"},
};

struct metric METRIC_AUDIT_SCANS = {
    .name = "azuredisk_audit_scans_total",
    .help = "Scans of the audit, by result.",
    .type = METRIC_COUNTER,
    .labels = {"result"},
};

struct metric METRIC_FAILOVERS = {
    .name = "azuredisk_failovers_total",
    .help =
        "Nodes that were silent, or whose Node was deleted, by what came of it (docs/failover.md).",
    .type = METRIC_COUNTER,
    .labels = {"result"},
};

struct metric METRIC_FAILOVER_SECONDS = {
    .name = "azuredisk_failover_duration_seconds",
    .help = "Duration of the phases of automatic failovers.",
    .type = METRIC_HISTOGRAM,
    .labels = {"phase"},
    .buckets = METRIC_SECONDS,
};

struct metric METRIC_PODS_NOMINATED = {
    .name = "azuredisk_pods_nominated_total",
    .help = "Pods for which a node was proposed to the scheduler (docs/scheduling.md).",
    .type = METRIC_COUNTER,
};

struct metric METRIC_PODS_UNGATED = {
    .name = "azuredisk_pods_ungated_total",
    .help = "Pods whose scheduling gate was removed without a proposal, by reason.",
    .type = METRIC_COUNTER,
    .labels = {"reason"},
};

struct metric METRIC_GATE_SECONDS = {
    .name = "azuredisk_placement_gate_seconds",
    .help = "Time from the creation of pods, of which whole seconds are known, until the leader "
            "removed their scheduling gate.",
    .type = METRIC_HISTOGRAM,
    .buckets = METRIC_SECONDS,
};

struct metric METRIC_WEBHOOK_CERTIFICATE_BEGINS = {
    .name = "azuredisk_webhook_certificate_not_before_seconds",
    .help = "Since when the certificate of the placement webhook is valid, in seconds since 1970; "
            "only where the leader makes it (docs/scheduling.md).",
    .type = METRIC_GAUGE,
};

struct metric METRIC_WEBHOOK_CERTIFICATE_ENDS = {
    .name = "azuredisk_webhook_certificate_not_after_seconds",
    .help = "Until when the certificate of the placement webhook is valid, likewise.",
    .type = METRIC_GAUGE,
};

struct metric METRIC_AUDIT_DIFFERENCES = {
    .name = "azuredisk_audit_differences",
    .help = "Deprecated name of azuredisk_audit_findings (docs/upgrading.md).",
    .type = METRIC_GAUGE,
    .labels = {"kind"},
};

struct metric METRIC_AUDIT_LOOKS = {
    .name = "azuredisk_audit_looks_total",
    .help = "Deprecated name of azuredisk_audit_scans_total (docs/upgrading.md).",
    .type = METRIC_COUNTER,
    .labels = {"result"},
};

static struct metric queue_depth_gauge = {
    .name = "azuredisk_workqueue_depth",
    .help = "Objects that are waiting to be reconciled.",
    .type = METRIC_GAUGE,
    .labels = {"name"},
};

static struct metric leader_gauge = {
    .name = "azuredisk_leader",
    .help = "1 while this process is the leader.",
    .type = METRIC_GAUGE,
};

static struct metric volumes_gauge = {
    .name = "azuredisk_volumes",
    .help = "AzVolumes, by state.",
    .type = METRIC_GAUGE,
    .labels = {"state"},
};

static struct metric attachments_gauge = {
    .name = "azuredisk_attachments",
    .help = "AzVolumeAttachments, by role and state.",
    .type = METRIC_GAUGE,
    .labels = {"role", "state"},
};

static struct metric driver_nodes_gauge = {
    .name = "azuredisk_driver_nodes",
    .help = "AzDriverNodes: alive, or silent, those whose last heartbeat is older than "
            "--heartbeat-limit.",
    .type = METRIC_GAUGE,
    .labels = {"state"},
};

struct metric METRIC_LACKING_REPLICAS = {
    .name = "azuredisk_volumes_lacking_replicas",
    .help = "Published volumes that have fewer replicas than wanted, since there is no place for "
            "more, or Azure still copies their data.",
    .type = METRIC_GAUGE,
};

struct metric METRIC_SILENT_NODES = {
    .name = "azuredisk_silent_nodes",
    .help = "Nodes whose plug-in has not renewed its Lease for the grace period and that have not "
            "been given up (docs/failover.md).",
    .type = METRIC_GAUGE,
};

static const double operation_buckets[] = {0.1, 0.2, 0.5, 1,   5,   10,  15,  20,   30,
                                           40,  50,  60,  100, 200, 300, 600, 1200, 0};

static struct metric upstream_seconds = {
    .name = "cloudprovider_azure_op_duration_seconds",
    .help = "Duration of CSI calls, by the name that the Azure Disk CSI driver has for this.",
    .type = METRIC_HISTOGRAM,
    .labels = {"request", "resource_group", "subscription_id", "source"},
    .buckets = operation_buckets,
};

static struct metric upstream_failures = {
    .name = "cloudprovider_azure_op_failure_count",
    .help = "CSI calls that failed, by the name that the Azure Disk CSI driver has for this.",
    .type = METRIC_COUNTER,
    .labels = {"request", "resource_group", "subscription_id", "source"},
};

struct metric *const CONTROLLER_METRICS[] = {
    &METRIC_CSI_OPERATIONS,
    &METRIC_RECONCILES,
    &METRIC_RECONCILE_SECONDS,
    &METRIC_WATCH_FAILURES,
    &METRIC_AUDIT_FINDINGS,
    &METRIC_AUDIT_SCANS,
    &METRIC_FAILOVERS,
    &METRIC_FAILOVER_SECONDS,
    &METRIC_PODS_NOMINATED,
    &METRIC_PODS_UNGATED,
    &METRIC_GATE_SECONDS,
    &METRIC_WEBHOOK_CERTIFICATE_BEGINS,
    &METRIC_WEBHOOK_CERTIFICATE_ENDS,
    &METRIC_AUDIT_DIFFERENCES,
    &METRIC_AUDIT_LOOKS,
    &queue_depth_gauge,
    &leader_gauge,
    &volumes_gauge,
    &attachments_gauge,
    &driver_nodes_gauge,
    &METRIC_LACKING_REPLICAS,
    &METRIC_SILENT_NODES,
    &METRIC_BUILD_INFO,
    &METRIC_AZURE_REQUESTS,
    &METRIC_AZURE_REQUEST_SECONDS,
    &METRIC_AZURE_RETRIES,
    &METRIC_AZURE_GATE_SECONDS,
    &METRIC_AZURE_VM_UPDATE_DISKS,
    &METRIC_AZURE_VM_QUEUE_SECONDS,
    &METRIC_AZURE_BUDGET_LEFT,
    &METRIC_AZURE_SKU_SOURCE,
    &METRIC_UPSTREAM_CALLS,
    &METRIC_UPSTREAM_CALL_SECONDS,
    &upstream_seconds,
    &upstream_failures,
    &METRIC_UPSTREAM_REQUEST_SECONDS,
    &METRIC_UPSTREAM_REQUEST_ERRORS,
    &METRIC_UPSTREAM_REQUESTS_THROTTLED,
};
const size_t N_CONTROLLER_METRICS = COUNT_OF(CONTROLLER_METRICS);

void metrics_count_operation(const char *driver_name, const struct azure_config *config,
                             const char *method, bool succeeded, uint64_t duration_ms)
{
    const char *operation = upstream_operation(method);

    if (!operation)
        return;
    CLEANUP(freep) char *request = mem_printf("azuredisk_csi_driver_%s", operation);
    CLEANUP(freep) char *group = mem_lower(config->resource_group);
    metric_observe(&upstream_seconds, (double)duration_ms / 1000, request, group,
                   config->subscription, driver_name);
    if (!succeeded)
        metric_add(&upstream_failures, 1, request, group, config->subscription, driver_name);
}

static const char *text_or_none(const char *text)
{
    return text && *text ? text : "none";
}

/* States come and go, so their series are counted anew each time. */
static void count_objects(const struct controller *controller)
{
    struct metric *counted[] = {&volumes_gauge, &attachments_gauge};

    metrics_clear(counted, COUNT_OF(counted));
    STORE_FOREACH(controller->volumes, object) {
        const Api__AzVolumeStatus *status = as_volume(object)->status;

        metric_add(&volumes_gauge, 1, text_or_none(status ? status->state : NULL));
    }
    STORE_FOREACH(controller->attachments, object) {
        const Api__AzVolumeAttachmentStatus *status = as_attachment(object)->status;
        const char *role = status && status->detail ? status->detail->role : NULL;

        metric_add(&attachments_gauge, 1, text_or_none(role),
                   text_or_none(status ? status->state : NULL));
    }
}

static void count_driver_nodes(const struct controller *controller)
{
    double silent = 0;

    STORE_FOREACH(controller->driver_nodes, object) {
        int64_t heard_us = driver_node_heard_us(KUBE_AS(Api__AzDriverNode, object));

        silent += heartbeat_is_stale(heard_us, loop_wall_us(controller->loop),
                                     controller->settings.heartbeat_limit_ms);
    }
    metric_set(&driver_nodes_gauge, silent, "silent");
    metric_set(&driver_nodes_gauge, (double)store_count(controller->driver_nodes) - silent,
               "alive");
}

static void begin_at_zero(void)
{
    metric_begin(&METRIC_FAILOVERS, "held back");
    metric_begin(&METRIC_FAILOVERS, "in part");
    metric_begin(&METRIC_FAILOVERS, "released");
    metric_begin(&METRIC_FAILOVER_SECONDS, "detect");
    metric_begin(&METRIC_FAILOVER_SECONDS, "fence");
    metric_begin(&METRIC_AUDIT_SCANS, "ok");
    azure_metrics_begin();
}

void metrics_refresh(const struct controller *controller, bool leads)
{
    for (size_t i = 0; controller->leading && i < N_QUEUES; i++) {
        const struct workqueue *queue = controller->leading->queues[i];

        metric_set(&queue_depth_gauge, (double)workqueue_depth(queue), workqueue_name(queue));
    }
    metric_set(&leader_gauge, leads ? 1 : 0, NULL);
    metric_set(&METRIC_BUILD_INFO, 1, VERSION);
    count_objects(controller);
    count_driver_nodes(controller);
    begin_at_zero();
}
