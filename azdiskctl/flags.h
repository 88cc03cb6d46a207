/* flags.h - the command line of azdiskctl: flags, and the words between them.
 */
#pragma once

#include "lib/program/shared_flags.h"

enum { DEFAULT_TIMEOUT_MS = 10 * 60 * 1000 };

enum output { OUTPUT_TEXT, OUTPUT_JSON };

struct flags {
    const char *kubeconfig, *driver_name;
    const char *object_namespace; /* of the custom resources */
    const char *namespace_;       /* of claims and pods */
    const char *cloud_config;     /* "": without Azure */
    const char *prices;           /* of disks; "": none */
    const char *to;               /* a node; "": the best one */
    bool dry_run, all;
    uint64_t timeout_ms; /* of a command that changes something */
    int output;          /* enum output */
    struct log_flags log;
    const char *command, *subject; /* NULL: not said */
};

/* True to go on; false to end with `ret_status`, as options_start. */
bool flags_parse(int argc, char *const argv[], struct flags *ret, int *ret_status)
    __attribute__((warn_unused_result));
