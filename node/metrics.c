#include "node/metrics.h"

#include "lib/base/alloc.h"
#include "lib/program/csi_call.h"
#include "lib/program/shared_metrics.h"
#include "lib/program/upstream_calls.h"
#include "node/informers.h"
#include "node/replica_check.h"
#include "node/replica_disk.h"
#include "node/volume_looks.h"

struct metric METRIC_STAGE_SECONDS = {
    .name = "azuredisk_stage_duration_seconds",
    .help = "Duration of the steps of staging a volume: attach (waiting for the attachment), find "
            "(waiting for the device), prove, fence, uuid, format, fsck, record, mount.",
    .type = METRIC_HISTOGRAM,
    .labels = {"phase"},
    .buckets = METRIC_SECONDS,
};

struct metric METRIC_PROOFS = {
    .name = "azuredisk_disk_proofs_total",
    .help = "Decisions about devices: mount, format, copy (mount a disk that carries its origin's "
            "file system), or refused because the device may be the wrong disk.",
    .type = METRIC_COUNTER,
    .labels = {"verdict"},
};

struct metric METRIC_FENCES = {
    .name = "azuredisk_fences_total",
    .help =
        "Fences around shared disks before they were mounted: held (the disk refuses the writes "
        "of other VMs), unsupported (the device cannot do that), or refused (the disk is "
        "reserved by somebody else); and lost: another node has taken it while the volume was in "
        "use.",
    .type = METRIC_COUNTER,
    .labels = {"result"},
};

struct metric METRIC_PREEMPT_REQUESTS = {
    .name = "azuredisk_preempt_requests_total",
    .help = "Attempts to have a disk refuse the writes of a silent node, for automatic failover: "
            "done, refused (the request or the disk is not what it should be), unsupported (the "
            "device has no reservations), or failed.",
    .type = METRIC_COUNTER,
    .labels = {"result"},
};

struct metric METRIC_NODE_LEASE = {
    .name = "azuredisk_node_lease_writes_total",
    .help = "Writes of the node's Lease, by result; each is tried for a renewal period at most.",
    .type = METRIC_COUNTER,
    .labels = {"result"},
};

struct metric METRIC_HEARTBEATS = {
    .name = "azuredisk_heartbeats_total",
    .help = "Writes of the AzDriverNode's status, by result.",
    .type = METRIC_COUNTER,
    .labels = {"result"},
};

static struct metric heartbeat_age = {
    .name = "azuredisk_heartbeat_age_seconds",
    .help = "Time since the last heartbeat was written.",
    .type = METRIC_GAUGE,
};

static struct metric slots = {
    .name = "azuredisk_slots",
    .help =
        "Data disk slots of the VM: the limit, and the slots used by this driver's attachments.",
    .type = METRIC_GAUGE,
    .labels = {"kind"},
};

static struct metric busy_workers = {
    .name = "azuredisk_busy_workers",
    .help =
        "System calls that have not returned yet; one that never returns means that a disk hangs.",
    .type = METRIC_GAUGE,
};

static struct metric hung_disks = {
    .name = "azuredisk_hung_disks",
    .help = "Disks of volumes in use at which a look for NodeGetVolumeStats does not return.",
    .type = METRIC_GAUGE,
};

static struct metric replica_disks = {
    .name = "azuredisk_replica_disks",
    .help = "Disks of replicas: held (kept from everybody else on the node), in_use (somebody else "
            "has claimed them, and has them still when they are promoted), and not_ready (they "
            "could not be used if they were promoted now; the AzVolumeAttachment says why).",
    .type = METRIC_GAUGE,
    .labels = {"state"},
};

struct metric *const NODE_METRICS[] = {
    &METRIC_CSI_OPERATIONS, &METRIC_STAGE_SECONDS,
    &METRIC_PROOFS,         &METRIC_FENCES,
    &METRIC_HEARTBEATS,     &METRIC_WATCH_FAILURES,
    &METRIC_NODE_LEASE,     &METRIC_PREEMPT_REQUESTS,
    &heartbeat_age,         &slots,
    &busy_workers,          &hung_disks,
    &replica_disks,         &METRIC_BUILD_INFO,
    &METRIC_UPSTREAM_CALLS, &METRIC_UPSTREAM_CALL_SECONDS,
};
const size_t N_NODE_METRICS = COUNT_OF(NODE_METRICS);

static void begin_at_zero(void)
{
    metric_begin(&METRIC_PROOFS, "refused");
    metric_begin(&METRIC_FENCES, "refused");
    metric_begin(&METRIC_FENCES, "lost");
    metric_begin(&METRIC_HEARTBEATS, "failed");
    metric_begin(&METRIC_NODE_LEASE, "failed");
    metric_begin(&METRIC_PREEMPT_REQUESTS, "done");
    metric_begin(&METRIC_PREEMPT_REQUESTS, "failed");
    metric_begin(&METRIC_PREEMPT_REQUESTS, "refused");
}

void metrics_refresh(const struct node *node)
{
    int limit = informers_slot_limit(node), taken = informers_slots_taken(node);

    begin_at_zero();
    metric_set(&METRIC_BUILD_INFO, 1, VERSION);
    metric_set(&busy_workers, host_busy_workers(node->host));
    metric_set(&hung_disks, volume_looks_hung(node->looks));
    metric_set(&replica_disks, replica_disks_held(node), "held");
    metric_set(&replica_disks, replica_disks_in_use(node), "in_use");
    metric_set(&replica_disks, replica_checks_failed(node), "not_ready");
    if (taken >= 0)
        metric_set(&slots, taken, "used");
    if (limit >= 0)
        metric_set(&slots, limit, "limit");
    if (node->heartbeat)
        metric_set(&heartbeat_age, (double)(loop_now(node->loop) - node->heartbeat) / 1000);
}
