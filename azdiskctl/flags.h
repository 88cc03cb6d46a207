/* flags.h - the command line of azdiskctl: flags, and the words between them.
 */
#pragma once

#include "azdiskctl/output.h"
#include "lib/program/shared_flags.h"

enum { DEFAULT_TIMEOUT_MS = 10 * 60 * 1000 };

struct flags {
    const char *kubeconfig, *driver_name;
    const char *context;          /* of the kubeconfig; "": the current one */
    const char *as, *as_uid;      /* "": as the kubeconfig says */
    struct option_list as_groups; /* none: the same */
    const char *object_namespace; /* of the custom resources */
    const char *namespace_;       /* of claims and pods; "": that of the context */
    const char *cloud_config;     /* "": without Azure */
    const char *prices;           /* of disks; "": none */
    const char *to;               /* a node; "": the best one */
    const char *node;             /* that is asked about; "": any, or where the volume is */
    const char *zone, *pod;       /* that get asks about; "": any */
    uint64_t since_ms;            /* how old a line of a log may be; 0: no limit */
    bool follow;                  /* a log goes on as it grows */
    bool dry_run, all;
    uint64_t timeout_ms; /* of a command that changes something */
    int output;          /* enum output */
    struct log_flags log;
    const char *program;           /* as it was called: "azdiskctl" or "kubectl azdisk" */
    const char *command, *subject; /* NULL: not said */
    const char *const *names;      /* what follows the subject */
    size_t n_names;
};

/* True to go on; false to end with `ret_status`, as options_start. --help ends with `usage`. */
bool flags_parse(int argc, char *const argv[], const char *usage, struct flags *ret,
                 int *ret_status) __attribute__((warn_unused_result));
/* The same without a word to the person: INVALID, also for --help and --version. */
struct err *flags_read(int argc, char *const argv[], struct flags *ret)
    __attribute__((warn_unused_result));

const struct option_row *flags_rows(size_t *ret_n);
/* The flag that a word is, as "--output=json", "-o" or "-ojson"; NULL if it is none. `ret_value` is
 * what of the word is the value; NULL: it is no part of it. */
const struct option_row *flags_row(char *word, char **ret_value);
