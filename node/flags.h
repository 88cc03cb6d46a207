/* flags.h - the command line of azdisk-node.
 */
#pragma once

#include "lib/program/shared_flags.h"
#include "node/node.h"

struct flags {
    const char *endpoint, *kubeconfig, *registration_dir, *health_address, *metrics_address;
    struct tls_files metrics_tls; /* of `metrics_address` */
    uint64_t tls_reload_interval_ms;
    int64_t max_concurrent_format;
    struct log_flags log;
    struct settings settings;
};

/* True to go on; false to end with `ret_status`, as options_start. */
bool flags_parse(int argc, char *const argv[], struct flags *ret, int *ret_status)
    __attribute__((warn_unused_result));
