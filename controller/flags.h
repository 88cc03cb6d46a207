/* flags.h - the command line of azdisk-controller.
 */
#pragma once

#include "controller/controller.h"
#include "lib/program/shared_flags.h"

struct flags {
    const char *endpoint, *kubeconfig, *health_address, *metrics_address;
    const char *cloud_config_secret, *cloud_config_namespace, *cloud_config_file, *cloud_cache;
    const char *user_agent, *user_agent_suffix;
    const char *lease_namespace, *lease_name, *pod_name;
    struct tls_files metrics_tls; /* of `metrics_address` */
    uint64_t tls_reload_interval_ms;
    uint64_t lease_duration_ms, renew_deadline_ms, retry_period_ms;
    struct log_flags log;
    struct settings settings;
};

/* True to go on; false to end with `ret_status`, as options_start. */
bool flags_parse(int argc, char *const argv[], struct flags *ret, int *ret_status)
    __attribute__((warn_unused_result));
