#include "node/flags.h"

#include <stdio.h>

#include "lib/base/alloc.h"

enum { SHORTEST_LEASE_MS = 2 * 1000, LONGEST_LEASE_MS = 60 * 60 * 1000 };

static const char program[] = "azdisk-node";
static const char about[] = "CSI node plug-in of the Azure disk driver";

static struct flags flags = {
    .endpoint = "unix:///csi/csi.sock",
    .kubeconfig = "",
    .registration_dir = "/registration",
    .health_address = "0.0.0.0:29603",
    .metrics_address = "0.0.0.0:29605",
    .metrics_tls = {"--metrics-", "", "", ""},
    .tls_reload_interval_ms = DEFAULT_TLS_RELOAD_INTERVAL_MS,
    .max_concurrent_format = 2,
    .log = {.verbosity = 2},
    .settings = {.driver_name = DEFAULT_DRIVER_NAME,
                 .node_id = "",
                 .namespace_ = DEFAULT_OBJECT_NAMESPACE,
                 .kubelet_endpoint = "/var/lib/kubelet/plugins/disk.csi.azure.com/csi.sock",
                 .heartbeat_interval_ms = 30 * 1000,
                 .replica_check_interval_ms = 60 * 1000,
                 .volume_attach_limit = -1,
                 .remove_not_ready_taint = true},
};

static const struct option_row rows[] = {
    TEXT_FLAG("endpoint", flags.endpoint, "Unix socket on which CSI is served"),
    {.name = "node-id",
     .type = OPTION_STRING,
     .target = &flags.settings.node_id,
     .environment = "KUBE_NODE_NAME",
     .help = "Name of the Kubernetes node; required"},
    DRIVER_NAME_FLAG(flags.settings.driver_name),
    KUBECONFIG_FLAG(flags.kubeconfig),
    OBJECT_NAMESPACE_FLAG(flags.settings.namespace_),
    TEXT_FLAG("registration-dir", flags.registration_dir,
              "Directory in which kubelet looks for plug-ins"),
    TEXT_FLAG("kubelet-endpoint", flags.settings.kubelet_endpoint,
              "Path of the CSI socket as kubelet sees it"),
    TEXT_FLAG("health-address", flags.health_address,
              "Address on which /healthz and /readyz are served"),
    TEXT_FLAG("metrics-address", flags.metrics_address,
              "Address on which /metrics is served; empty: only on --health-address"),
    METRICS_TLS_FLAGS(flags.metrics_tls),
    TLS_RELOAD_INTERVAL_FLAG(flags.tls_reload_interval_ms),
    DURATION_FLAG("heartbeat-interval", flags.settings.heartbeat_interval_ms, 100,
                  "Maximum time between two heartbeats in the AzDriverNode"),
    DURATION_FLAG("node-lease-duration", flags.settings.node_lease_duration_ms, 0,
                  "Duration of the Lease that the node holds while it is the primary of a volume "
                  "with automatic failover, from 2s to 1h; it is renewed each third of that; 0: "
                  "no Lease"),
    DURATION_FLAG("replica-check-interval", flags.settings.replica_check_interval_ms, 100,
                  "About how often the disk of each replica is checked and read"),
    INT_FLAG("volume-attach-limit", flags.settings.volume_attach_limit, -1, 1000,
             "Maximum number of volumes on this node; -1: as many as the VM's size allows"),
    BOOL_FLAG("remove-not-ready-taint", flags.settings.remove_not_ready_taint,
              "Whether the taint DRIVER/agent-not-ready is removed from the node when kubelet has "
              "registered the plug-in"),
    INT_FLAG("max-concurrent-format", flags.max_concurrent_format, 1, 100,
             "Number of file systems that are created concurrently"),
    LOG_FLAGS(flags.log),
};

bool flags_parse(int argc, char *const argv[], struct flags *ret, int *ret_status)
{
    if (!options_start(rows, COUNT_OF(rows), program, about, argc, argv, ret_status))
        return false;
    if (!flags.settings.node_id[0])
        return options_refuse(program, ret_status, "--node-id or KUBE_NODE_NAME is required");
    if (!tls_flags_check(program, &flags.metrics_tls, flags.metrics_address, ret_status))
        return false;
    uint64_t lease = flags.settings.node_lease_duration_ms;
    if (lease && (lease < SHORTEST_LEASE_MS || lease > LONGEST_LEASE_MS))
        return options_refuse(program, ret_status,
                              "--node-lease-duration must be 0, or from 2s to 1h");
    *ret = flags;
    return true;
}
