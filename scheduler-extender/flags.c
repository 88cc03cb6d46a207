#include "scheduler-extender/flags.h"

#include <stdio.h>

#include "lib/api/names.h"
#include "lib/base/alloc.h"

static const char program[] = "azdisk-scheduler-extender";
static const char about[] = "tells kube-scheduler which nodes have a pod's Azure disks attached";

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
    TEXT("address", address, "Where kube-scheduler's calls are served"),
    TEXT("metrics-address", metrics_address, "Where /healthz, /readyz and /metrics are served"),
    TEXT("tls-cert-file", tls_cert_file,
         "Certificate (PEM, with its chain) of --address; empty: plain HTTP"),
    TEXT("tls-key-file", tls_key_file, "Private key (PEM) of the certificate"),
    TEXT("client-ca-file", client_ca_file,
         "Authorities (PEM) of those who may call --address; a caller without a certificate of "
         "theirs gets no answer; empty: anybody may call"),
    {.name = "tls-reload-interval",
     .type = OPTION_DURATION,
     .target = &flags.tls_reload_interval_ms,
     .least = 100,
     .help = "Between two looks whether these three files have changed; they are used anew then"},
    {.name = "max-request-bytes",
     .type = OPTION_INT,
     .target = &flags.max_request_bytes,
     .least = 64 * 1024,
     .most = 128 * 1024 * 1024,
     .help = "Largest call that is read; 2 MiB are the names of 15,000 nodes and more, whole nodes "
             "(nodeCacheCapable: false) take some 15 kB each"},
    TEXT("kubeconfig", kubeconfig, "Kubeconfig file; empty: the pod's own account"),
    TEXT("driver-name", settings.driver_name, "Name of the CSI driver"),
    TEXT("object-namespace", settings.namespace_, "Namespace of the custom resources"),
    {.name = "heartbeat-limit",
     .type = OPTION_DURATION,
     .target = &flags.settings.heartbeat_limit_ms,
     .least = 1000,
     .help = "A node whose plug-in was silent for longer scores 0"},
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
     .help = "Form of the log's lines"},
};

bool flags_parse(int argc, char *const argv[], struct flags *ret, int *ret_status)
{
    if (!options_start(rows, COUNT_OF(rows), program, about, argc, argv, ret_status))
        return false;
    if (!flags.tls_cert_file[0] != !flags.tls_key_file[0]) {
        fprintf(stderr, "%s: --tls-cert-file and --tls-key-file need each other\n", program);
        *ret_status = 2;
        return false;
    }
    if (flags.client_ca_file[0] && !flags.tls_cert_file[0]) {
        fprintf(stderr, "%s: --client-ca-file needs --tls-cert-file\n", program);
        *ret_status = 2;
        return false;
    }
    *ret = flags;
    return true;
}
