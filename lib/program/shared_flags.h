/* shared_flags.h - flags that several programs have, with one name, meaning and default.
 *
 * A program puts the rows into its own table (lib/base/options.h) and the values into its own
 * struct.
 */
#pragma once

#include "lib/base/options.h"
#include "lib/program/tls_files.h"

#define DEFAULT_DRIVER_NAME "disk.csi.azure.com"
#define DEFAULT_OBJECT_NAMESPACE "azure-disk-csi"

#define KUBECONFIG_FLAG(variable)                                                                  \
    TEXT_FLAG("kubeconfig", variable,                                                              \
              "Kubeconfig files, separated by colons; empty: the pod's service account")
#define DRIVER_NAME_FLAG(variable) TEXT_FLAG("driver-name", variable, "Name of the CSI driver")
#define OBJECT_NAMESPACE_FLAG(variable)                                                            \
    TEXT_FLAG("object-namespace", variable, "Namespace of the custom resources")

/* The Lease of the controllers. */
#define DEFAULT_LEASE_NAMESPACE "kube-system"
#define DEFAULT_LEASE_NAME "csi-azuredisk-controller"
#define LEASE_FLAGS(namespace_, name)                                                              \
    TEXT_FLAG("leader-election-namespace", namespace_,                                             \
              "Namespace of the Lease with which a leader is elected"),                            \
        TEXT_FLAG("leader-election-name", name,                                                    \
                  "Name of the Lease with which a leader is elected")

/* ---- TLS ---- */

#define DEFAULT_TLS_RELOAD_INTERVAL_MS (60 * 1000)
#define TLS_RELOAD_INTERVAL_FLAG(variable)                                                         \
    DURATION_FLAG("tls-reload-interval", variable, 100,                                            \
                  "Time between two checks whether the TLS files have changed; changed files are " \
                  "loaded without a restart")

/* `files`: a struct tls_files with the prefix "--metrics-". */
#define METRICS_TLS_FLAGS(files)                                                                   \
    TEXT_FLAG("metrics-tls-cert-file", (files).certificate,                                        \
              "Certificate (PEM, with its chain) of --metrics-address; empty: plain HTTP"),        \
        TEXT_FLAG("metrics-tls-key-file", (files).key, "Private key (PEM) of the certificate"),    \
        TEXT_FLAG("metrics-client-ca-file", (files).client_ca,                                     \
                  "Authorities (PEM) that issue the certificates of those who read metrics; a "    \
                  "reader without such a certificate gets no answer; empty: anyone may read")

/* Of the listener at `address`. True to go on; false, as options_refuse, for files that do not go
 * together, or with nothing that could show them. */
bool tls_flags_check(const char *program, const struct tls_files *files, const char *address,
                     int *ret_status) __attribute__((warn_unused_result));

/* ---- the log ---- */

struct log_flags {
    int64_t verbosity;
    int format; /* enum log_format */
};

extern const char *const LOG_FORMATS[];

#define LOG_FLAGS(log)                                                                             \
    INT_FLAG("v", (log).verbosity, 0, 10, "Log level: 0 warnings, 2 information, 5 debug"),        \
        CHOICE_FLAG("log-format", (log).format, LOG_FORMATS, "Format of the log lines")

/* Before other threads start. */
void log_flags_apply(const struct log_flags *log);
