#include "scheduler-extender/flags.h"

#include "lib/api/names.h"
#include "lib/base/alloc.h"

static const char program[] = "azdisk-scheduler-extender";
static const char about[] = "tells kube-scheduler to which nodes a pod's Azure disks are attached";

static struct flags flags = {
    .address = "0.0.0.0:8889",
    .health_address = "",
    .metrics_address = "0.0.0.0:29606",
    .kubeconfig = "",
    .tls = {"--", "", "", ""},
    .metrics_tls = {"--metrics-", "", "", ""},
    .tls_reload_interval_ms = DEFAULT_TLS_RELOAD_INTERVAL_MS,
    .max_request_bytes = 2 * 1024 * 1024,
    .placement = {.mode = PLACEMENT_NONE,
                  .scheduler_names = "default-scheduler",
                  .excluded_namespaces = "kube-system"},
    .placement_address = "0.0.0.0:8890",
    .placement_cert_file = "",
    .placement_key_file = "",
    .lease_namespace = DEFAULT_LEASE_NAMESPACE,
    .lease_name = DEFAULT_LEASE_NAME,
    .log = {.verbosity = 2},
    .settings = {.driver_name = DEFAULT_DRIVER_NAME,
                 .namespace_ = DEFAULT_OBJECT_NAMESPACE,
                 .heartbeat_limit_ms = DEFAULT_HEARTBEAT_LIMIT_MS},
};

static const char *const placement_modes[] = {[PLACEMENT_NONE] = "none",
                                              [PLACEMENT_NOMINATE] = "nominate",
                                              [PLACEMENT_WEBHOOK] = "webhook",
                                              NULL};

static const struct option_row rows[] = {
    TEXT_FLAG("address", flags.address, "Address on which kube-scheduler's calls are served"),
    TEXT_FLAG("health-address", flags.health_address,
              "Address on which /healthz and /readyz are served; empty: only on --metrics-address"),
    TEXT_FLAG("metrics-address", flags.metrics_address,
              "Address on which /metrics is served, and /healthz and /readyz too"),
    METRICS_TLS_FLAGS(flags.metrics_tls),
    TEXT_FLAG("tls-cert-file", flags.tls.certificate,
              "Certificate (PEM, with its chain) of --address; empty: plain HTTP"),
    TEXT_FLAG("tls-key-file", flags.tls.key, "Private key (PEM) of the certificate"),
    TEXT_FLAG(
        "client-ca-file", flags.tls.client_ca,
        "Authorities (PEM) that issue the certificates of callers of --address; a caller without "
        "such a certificate gets no answer; empty: anyone may call"),
    TLS_RELOAD_INTERVAL_FLAG(flags.tls_reload_interval_ms),
    INT_FLAG("max-request-bytes", flags.max_request_bytes, 64 * 1024, 128 * 1024 * 1024,
             "Maximum size of a call; 2 MiB hold the names of more than 15,000 nodes, whole nodes "
             "(nodeCacheCapable: false) take about 15 kB each"),
    CHOICE_FLAG("placement-mode", flags.placement.mode, placement_modes,
                "What the webhook /placement does with new pods whose volumes are attached to "
                "nodes: none, nominate (adds a scheduling gate, which azdisk-controller takes away "
                "when it has proposed a node) or webhook (adds preferred nodes to their affinity)"),
    TEXT_FLAG("placement-address", flags.placement_address,
              "Address on which the API server's calls of /placement are served, if "
              "--placement-mode is not none"),
    TEXT_FLAG(
        "placement-tls-cert-file", flags.placement_cert_file,
        "Certificate (PEM, with its chain) of --placement-address; calls are served as soon as "
        "this file and the next are there"),
    TEXT_FLAG("placement-tls-key-file", flags.placement_key_file,
              "Private key (PEM) of the certificate"),
    TEXT_FLAG("placement-scheduler-names", flags.placement.scheduler_names,
              "Schedulers whose pods /placement treats, separated by commas"),
    TEXT_FLAG("placement-excluded-namespaces", flags.placement.excluded_namespaces,
              "Namespaces whose pods /placement leaves as they are, separated by commas"),
    LEASE_FLAGS(flags.lease_namespace, flags.lease_name),
    KUBECONFIG_FLAG(flags.kubeconfig),
    DRIVER_NAME_FLAG(flags.settings.driver_name),
    OBJECT_NAMESPACE_FLAG(flags.settings.namespace_),
    DURATION_FLAG("heartbeat-limit", flags.settings.heartbeat_limit_ms, 1000,
                  "Age of a node plug-in's last heartbeat from which the node scores 0"),
    LOG_FLAGS(flags.log),
};

bool flags_parse(int argc, char *const argv[], struct flags *ret, int *ret_status)
{
    if (!options_start(rows, COUNT_OF(rows), program, about, argc, argv, ret_status))
        return false;
    if (!tls_flags_check(program, &flags.tls, flags.address, ret_status) ||
        !tls_flags_check(program, &flags.metrics_tls, flags.metrics_address, ret_status))
        return false;
    if (flags.placement.mode != PLACEMENT_NONE &&
        (!flags.placement_cert_file[0] || !flags.placement_key_file[0]))
        return options_refuse(program, ret_status,
                              "--placement-mode=%s requires --placement-tls-cert-file and "
                              "--placement-tls-key-file: the API server calls webhooks by HTTPS",
                              placement_modes[flags.placement.mode]);
    *ret = flags;
    return true;
}
