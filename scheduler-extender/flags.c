#include "scheduler-extender/flags.h"

#include "lib/api/names.h"
#include "lib/base/alloc.h"

static const char program[] = "azdisk-scheduler-extender";
static const char about[] = "tells kube-scheduler to which nodes a pod's Azure disks are attached";

static struct flags flags = {
    .address = "0.0.0.0:8889",
    .metrics_address = "0.0.0.0:29606",
    .kubeconfig = "",
    .tls_cert_file = "",
    .tls_key_file = "",
    .client_ca_file = "",
    .tls_reload_interval_ms = 60 * 1000,
    .max_request_bytes = 2 * 1024 * 1024,
    .log = {.verbosity = 2},
    .settings = {.driver_name = DEFAULT_DRIVER_NAME,
                 .namespace_ = DEFAULT_OBJECT_NAMESPACE,
                 .heartbeat_limit_ms = DEFAULT_HEARTBEAT_LIMIT_MS},
};

static const struct option_row rows[] = {
    TEXT_FLAG("address", flags.address, "Address on which kube-scheduler's calls are served"),
    TEXT_FLAG("metrics-address", flags.metrics_address,
              "Address on which /healthz, /readyz and /metrics are served"),
    TEXT_FLAG("tls-cert-file", flags.tls_cert_file,
              "Certificate (PEM, with its chain) of --address; empty: plain HTTP"),
    TEXT_FLAG("tls-key-file", flags.tls_key_file, "Private key (PEM) of the certificate"),
    TEXT_FLAG(
        "client-ca-file", flags.client_ca_file,
        "Authorities (PEM) that issue the certificates of callers of --address; a caller without "
        "such a certificate gets no answer; empty: anyone may call"),
    DURATION_FLAG(
        "tls-reload-interval", flags.tls_reload_interval_ms, 100,
        "Time between two checks whether the three TLS files have changed; changed files are "
        "loaded without a restart"),
    INT_FLAG("max-request-bytes", flags.max_request_bytes, 64 * 1024, 128 * 1024 * 1024,
             "Maximum size of a call; 2 MiB hold the names of more than 15,000 nodes, whole nodes "
             "(nodeCacheCapable: false) take about 15 kB each"),
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
    if (!flags.tls_cert_file[0] != !flags.tls_key_file[0])
        return options_refuse(program, ret_status,
                              "--tls-cert-file and --tls-key-file must be set together");
    if (flags.client_ca_file[0] && !flags.tls_cert_file[0])
        return options_refuse(program, ret_status, "--client-ca-file requires --tls-cert-file");
    *ret = flags;
    return true;
}
