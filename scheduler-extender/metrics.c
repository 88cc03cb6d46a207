#include "scheduler-extender/metrics.h"

#include "lib/base/alloc.h"
#include "lib/base/err.h"
#include "lib/program/shared_metrics.h"

static const double request_buckets[] = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01,
                                         0.025,  0.05,    0.1,    0.25,  0.5,    1,     0};
static const double upstream_buckets[] = {0.00001, 0.00002, 0.00004, 0.00008, 0.00016,
                                          0.00032, 0.00064, 0.00128, 0.00256, 0.00512,
                                          0.01024, 0.02048, 0};

static struct metric request_seconds = {
    .name = "azuredisk_extender_request_duration_seconds",
    .help = "Time to answer a call of the scheduler after the call has been received completely.",
    .type = METRIC_HISTOGRAM,
    .labels = {"verb"},
    .buckets = request_buckets,
};

static struct metric requests = {
    .name = "azuredisk_extender_requests_total",
    .help = "Calls of the scheduler, by result: ok, or the reason for which the call was refused.",
    .type = METRIC_COUNTER,
    .labels = {"verb", "result"},
};

static struct metric index_objects = {
    .name = "azuredisk_extender_index_objects",
    .help = "Objects in memory that are used to answer calls.",
    .type = METRIC_GAUGE,
    .labels = {"kind"},
};

static struct metric placement_seconds = {
    .name = "azuredisk_placement_request_duration_seconds",
    .help = "Time to answer a call of the webhook after the call has been received completely.",
    .type = METRIC_HISTOGRAM,
    .buckets = request_buckets,
};

static struct metric placement_requests = {
    .name = "azuredisk_placement_requests_total",
    .help = "New pods that the webhook was asked about, by result: patched, unchanged, or the "
            "reason for which the call was not understood.",
    .type = METRIC_COUNTER,
    .labels = {"result"},
};

static struct metric overdue_gates = {
    .name = "azuredisk_placement_overdue_gates_total",
    .help = "Attempts to remove an overdue scheduling gate, by result: ok, or the reason for which "
            "it failed; NotFound and Invalid: the gate was gone already.",
    .type = METRIC_COUNTER,
    .labels = {"result"},
};

/* The names of the Azure Disk CSI driver V2, for dashboards that know them. */

static struct metric upstream_filter_seconds = {
    .name = "schedulerExtender_extender_filter_nodes_duration_seconds",
    .help = "Time to answer a filter call.",
    .type = METRIC_HISTOGRAM,
    .labels = {"filter"},
    .buckets = upstream_buckets,
};

static struct metric upstream_prioritize_seconds = {
    .name = "schedulerExtender_extender_prioritize_nodes_duration_seconds",
    .help = "Time to answer a prioritize call.",
    .type = METRIC_HISTOGRAM,
    .labels = {"prioritize"},
    .buckets = upstream_buckets,
};

static struct metric upstream_requests = {
    .name = "schedulerExtender_extender_requests_total",
    .help = "Calls of the scheduler.",
    .type = METRIC_COUNTER,
};

struct metric *const EXTENDER_METRICS[] = {
    &request_seconds,         &requests,
    &index_objects,           &placement_seconds,
    &placement_requests,      &overdue_gates,
    &METRIC_WATCH_FAILURES,   &METRIC_BUILD_INFO,
    &upstream_filter_seconds, &upstream_prioritize_seconds,
    &upstream_requests,
};
const size_t N_EXTENDER_METRICS = COUNT_OF(EXTENDER_METRICS);

void metrics_count(enum verb verb, const struct err *err, double seconds)
{
    static const char *const verbs[] = {[VERB_FILTER] = "filter", [VERB_PRIORITIZE] = "prioritize"};

    metric_observe(&request_seconds, seconds, verbs[verb]);
    metric_add(&requests, 1, verbs[verb], err ? err_kind_reason(err_kind(err)) : "ok");
    metric_add(&upstream_requests, 1, NULL);
    if (verb == VERB_FILTER)
        metric_observe(&upstream_filter_seconds, seconds, "Filter");
    else
        metric_observe(&upstream_prioritize_seconds, seconds, "Prioritize");
}

void metrics_count_placement(const struct err *err, bool patched, double seconds)
{
    metric_observe(&placement_seconds, seconds, NULL);
    metric_add(&placement_requests, 1,
               err       ? err_kind_reason(err_kind(err))
               : patched ? "patched"
                         : "unchanged");
}

void metrics_count_gate(const struct err *err)
{
    metric_add(&overdue_gates, 1, err ? err_kind_reason(err_kind(err)) : "ok");
}

void metrics_refresh(const struct extender *extender)
{
    const struct {
        const char *kind;
        const struct store *store;
    } kinds[] = {
        {"PersistentVolumeClaim", extender->claims},
        {"PersistentVolume", extender->volumes},
        {"AzVolumeAttachment", extender->attachments},
        {"AzDriverNode", extender->driver_nodes},
    };

    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        metric_set(&index_objects, kinds[i].store ? (double)store_count(kinds[i].store) : 0,
                   kinds[i].kind);
    metric_set(&METRIC_BUILD_INFO, 1, VERSION);
}
