/* flags.h - the command line of azdisk-scheduler-extender.
 */
#pragma once

#include "lib/program/shared_flags.h"
#include "scheduler-extender/extender.h"
#include "scheduler-extender/placement_patch.h"

struct flags {
    const char *address, *health_address, *metrics_address, *kubeconfig;
    struct tls_files tls;         /* of `address` */
    struct tls_files metrics_tls; /* of `metrics_address` */
    uint64_t tls_reload_interval_ms;
    int64_t max_request_bytes;
    struct placement_rules placement;
    const char *placement_address, *placement_cert_file, *placement_key_file;
    const char *lease_namespace, *lease_name; /* of the controllers */
    struct log_flags log;
    struct settings settings;
};

/* True to go on; false to end with `ret_status`, as options_start. */
bool flags_parse(int argc, char *const argv[], struct flags *ret, int *ret_status)
    __attribute__((warn_unused_result));
