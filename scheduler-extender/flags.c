#include "scheduler-extender/flags.h"

#include <stdio.h>

#include "lib/api/names.h"
#include "lib/base/alloc.h"

static const char program[] = "azdisk-scheduler-extender";
static const char about[] = "tells kube-scheduler to which nodes a pod's Azure disks are attached";

static const char *const log_formats[] = {"text", "json", NULL};

static struct flags flags = {
    .address = "0.0.0.0:8889",
    .metrics_address = "0.0.0.0:29606",
    .kubeconfig = "",
    .tls_cert_file = "",
    .tls_key_file = "",
    .client_ca_file = "",
    .tls_reload_interval_ms = 60 * 1000,
    .max_request_bytes = 2 * 1024 * 1024,
    .verbosity = 2,
    .settings = {.driver_name = "disk.csi.azure.com",
                 .namespace_ = "azure-disk-csi",
                 .heartbeat_limit_ms = DEFAULT_HEARTBEAT_LIMIT_MS},
};

#define TEXT(flag, member, text)                                                                   \
    {                                                                                              \
        .name = flag, .type = OPTION_STRING, .target = &flags.member, .help = text                 \
    }

static const struct option_row rows[] = {
    TEXT("address", address, "Address on which kube-scheduler's calls are served"),
    TEXT("metrics-address", metrics_address,
         "Address on which /healthz, /readyz and /metrics are served"),
    TEXT("tls-cert-file", tls_cert_file,
         "Certificate (PEM, with its chain) of --address; empty: plain HTTP"),
    TEXT("tls-key-file", tls_key_file, "Private key (PEM) of the certificate"),
    TEXT("client-ca-file", client_ca_file,
         "Authorities (PEM) that issue the certificates of callers of --address; a caller without "
         "such a certificate gets no answer; empty: anyone may call"),
    {.name = "tls-reload-interval",
     .type = OPTION_DURATION,
     .target = &flags.tls_reload_interval_ms,
     .least = 100,
     .help = "Time between two checks whether the three TLS files have changed; changed files are "
             "loaded without a restart"},
    {.name = "max-request-bytes",
     .type = OPTION_INT,
     .target = &flags.max_request_bytes,
     .least = 64 * 1024,
     .most = 128 * 1024 * 1024,
     .help = "Maximum size of a call; 2 MiB hold the names of more than 15,000 nodes, whole nodes "
             "(nodeCacheCapable: false) take about 15 kB each"},
    TEXT("kubeconfig", kubeconfig, "Kubeconfig file; empty: the pod's service account"),
    TEXT("driver-name", settings.driver_name, "Name of the CSI driver"),
    TEXT("object-namespace", settings.namespace_, "Namespace of the custom resources"),
    {.name = "heartbeat-limit",
     .type = OPTION_DURATION,
     .target = &flags.settings.heartbeat_limit_ms,
     .least = 1000,
     .help = "Age of a node plug-in's last heartbeat from which the node scores 0"},
    {.name = "v",
     .type = OPTION_INT,
     .target = &flags.verbosity,
     .least = 0,
     .most = 10,
     .help = "Log level: 0 warnings, 2 information, 5 debug"},
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
    if (!flags.tls_cert_file[0] != !flags.tls_key_file[0]) {
        fprintf(stderr, "%s: --tls-cert-file and --tls-key-file must be set together\n", program);
        *ret_status = 2;
        return false;
    }
    if (flags.client_ca_file[0] && !flags.tls_cert_file[0]) {
        fprintf(stderr, "%s: --client-ca-file requires --tls-cert-file\n", program);
        *ret_status = 2;
        return false;
    }
    *ret = flags;
    return true;
}
