/* shared_flags.h - flags that several programs have, with one name, meaning and default.
 *
 * A program puts the rows into its own table (lib/base/options.h) and the values into its own
 * struct.
 */
#pragma once

#include "lib/base/options.h"

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
