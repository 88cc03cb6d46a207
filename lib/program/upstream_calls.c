#include "lib/program/upstream_calls.h"

#include <string.h>

#include "lib/base/alloc.h"

static const double call_buckets[] = {0.1, 0.2, 0.5, 1,  5,   10,  15,  20,
                                      30,  40,  50,  60, 100, 200, 300, 0};

struct metric METRIC_UPSTREAM_CALLS = {
    .name = "azuredisk_csi_driver_operations_total",
    .help = "CSI calls, by the name that version 1 of the Azure Disk CSI driver has for this.",
    .type = METRIC_COUNTER,
    .labels = {"operation", "success"},
};

struct metric METRIC_UPSTREAM_CALL_SECONDS = {
    .name = "azuredisk_csi_driver_operation_duration_seconds",
    .help = "Duration of CSI calls, by the name that version 1 of the Azure Disk CSI driver has "
            "for this.",
    .type = METRIC_HISTOGRAM,
    .labels = {"operation", "success"},
    .buckets = call_buckets,
};

static const struct {
    const char *method, *operation;
} calls[] = {
    {"/csi.v1.Controller/CreateVolume", "controller_create_volume"},
    {"/csi.v1.Controller/DeleteVolume", "controller_delete_volume"},
    {"/csi.v1.Controller/ControllerPublishVolume", "controller_publish_volume"},
    {"/csi.v1.Controller/ControllerUnpublishVolume", "controller_unpublish_volume"},
    {"/csi.v1.Controller/ControllerExpandVolume", "controller_expand_volume"},
    {"/csi.v1.Controller/ControllerModifyVolume", "controller_modify_volume"},
    {"/csi.v1.Controller/ListVolumes", "controller_list_volumes"},
    {"/csi.v1.Controller/CreateSnapshot", "controller_create_snapshot"},
    {"/csi.v1.Controller/DeleteSnapshot", "controller_delete_snapshot"},
    {"/csi.v1.Controller/ListSnapshots", "controller_list_snapshots"},
    {"/csi.v1.Node/NodeStageVolume", "node_stage_volume"},
    {"/csi.v1.Node/NodeUnstageVolume", "node_unstage_volume"},
    {"/csi.v1.Node/NodePublishVolume", "node_publish_volume"},
    {"/csi.v1.Node/NodeUnpublishVolume", "node_unpublish_volume"},
    {"/csi.v1.Node/NodeExpandVolume", "node_expand_volume"},
};

const char *upstream_operation(const char *method)
{
    for (size_t i = 0; i < COUNT_OF(calls); i++)
        if (strcmp(calls[i].method, method) == 0)
            return calls[i].operation;
    return NULL;
}

void upstream_count_call(const char *method, bool succeeded, double seconds)
{
    const char *operation = upstream_operation(method), *success = succeeded ? "true" : "false";

    if (!operation)
        return;
    metric_add(&METRIC_UPSTREAM_CALLS, 1, operation, success);
    metric_observe(&METRIC_UPSTREAM_CALL_SECONDS, seconds, operation, success);
}
