#include "node/flags.h"

#include <stdio.h>

#include "lib/base/alloc.h"

static const char program[] = "azdisk-node";
static const char about[] = "CSI node plug-in of the Azure disk driver";

static const char *const log_formats[] = {"text", "json", NULL};

static struct flags flags = {
    .endpoint = "unix:///csi/csi.sock",
    .kubeconfig = "",
    .registration_dir = "/registration",
    .health_address = "0.0.0.0:29603",
    .metrics_address = "0.0.0.0:29605",
    .max_concurrent_format = 2,
    .verbosity = 2,
    .settings = {.driver_name = "disk.csi.azure.com",
                 .node_id = "",
                 .namespace_ = "azure-disk-csi",
                 .kubelet_endpoint = "/var/lib/kubelet/plugins/disk.csi.azure.com/csi.sock",
                 .heartbeat_interval_ms = 30 * 1000,
                 .volume_attach_limit = -1},
};

#define TEXT(flag, member, text)                                                                   \
    {                                                                                              \
        .name = flag, .type = OPTION_STRING, .target = &flags.member, .help = text                 \
    }
#define NUMBER(flag, member, smallest, largest, text)                                              \
    {                                                                                              \
        .name = flag, .type = OPTION_INT, .target = &flags.member, .least = smallest,              \
        .most = largest, .help = text                                                              \
    }

static const struct option_row rows[] = {
    TEXT("endpoint", endpoint, "Unix socket on which CSI is served"),
    {.name = "node-id",
     .type = OPTION_STRING,
     .target = &flags.settings.node_id,
     .environment = "KUBE_NODE_NAME",
     .help = "Name of the Kubernetes node; required"},
    TEXT("driver-name", settings.driver_name, "Name of the CSI driver"),
    TEXT("kubeconfig", kubeconfig, "Kubeconfig file; empty: the pod's service account"),
    TEXT("object-namespace", settings.namespace_, "Namespace of the custom resources"),
    TEXT("registration-dir", registration_dir, "Directory in which kubelet looks for plug-ins"),
    TEXT("kubelet-endpoint", settings.kubelet_endpoint,
         "Path of the CSI socket as kubelet sees it"),
    TEXT("health-address", health_address, "Address on which /healthz and /readyz are served"),
    TEXT("metrics-address", metrics_address,
         "Address on which /metrics is served; empty: only on --health-address"),
    {.name = "heartbeat-interval",
     .type = OPTION_DURATION,
     .target = &flags.settings.heartbeat_interval_ms,
     .least = 100,
     .help = "Maximum time between two heartbeats in the AzDriverNode"},
    NUMBER("volume-attach-limit", settings.volume_attach_limit, -1, 1000,
           "Maximum number of volumes on this node; -1: as many as the VM's size allows"),
    NUMBER("max-concurrent-format", max_concurrent_format, 1, 100,
           "Number of file systems that are created concurrently"),
    NUMBER("v", verbosity, 0, 10, "Log level: 0 warnings, 2 information, 5 debug"),
    {.name = "log-format",
     .type = OPTION_CHOICE,
     .target = &flags.log_format,
     .choices = log_formats,
     .help = "Format of the log lines"},
};

bool flags_parse(int argc, char *const argv[], struct flags *ret, int *ret_status)
{
    if (!options_start(rows, COUNT_OF(rows), program, about, argc, argv, ret_status))
        return false;
    if (!flags.settings.node_id[0]) {
        fprintf(stderr, "%s: --node-id or KUBE_NODE_NAME is required\n", program);
        *ret_status = 2;
        return false;
    }
    *ret = flags;
    return true;
}
