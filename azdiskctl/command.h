/* command.h - a command of azdiskctl: its row, and the run that it belongs to.
 *
 * A command is a file in azdiskctl/commands/ and a row of COMMANDS, in the order of --help.
 */
#pragma once

#include <stdio.h>

#include "azdiskctl/cluster.h"
#include "azdiskctl/named_kind.h"
#include "azdiskctl/session.h"

/* The exit status. */
enum { STATUS_OK, STATUS_FOUND, STATUS_FAILED };

struct program {
    struct flags flags;
    struct session session;
    const struct command *command;
    int status;
};

/* Flags that have an effect on some commands only. With TAKES_ALL, --all stands for a subject. */
enum {
    TAKES_NODE = 1 << 0,
    TAKES_DRY_RUN = 1 << 1,
    TAKES_TIMEOUT = 1 << 2,
    TAKES_ALL = 1 << 3,
    TAKES_NAMES = 1 << 4,      /* behind its subject */
    TAKES_NO_SUBJECT = 1 << 5, /* as well */
    TAKES_LOGS = 1 << 6,       /* --node, --since and --follow */
    TAKES_FILTER = 1 << 7,     /* --node, --zone and --pod */
    TAKES_NAMESPACE = 1 << 8,
    TAKES_PRICES = 1 << 9,
    TAKES_MOVES = TAKES_DRY_RUN | TAKES_TIMEOUT,
};

struct command {
    const char *name;
    const char *subject; /* what has to follow the command; NULL: nothing may */
    const char *usage;   /* its forms; NULL: name and subject */
    const char *help;    /* a sentence */
    unsigned takes;
    struct {
        named_kind_fn *kind;                 /* KIND, or KIND/NAME */
        const struct api_resource *resource; /* the name of one of these */
        const char *const *words;            /* one of these; NULL at the end */
    } completes;                             /* what its subject may be */
    bool offline;                            /* it needs no cluster, and so no session */
    /* What is found out becomes a document; NULL: it is printed already, and the status is set. */
    struct err *(*run)(struct task *self, struct program *program, json_t **ret);
    bool (*is_well)(const json_t *document); /* else it exits with STATUS_FOUND; NULL: it is */
    struct output_writers writers;
};

/* The writers of a command that has text, and of one that has tables and names. */
#define TEXT_ONLY(write)                                                                           \
    {                                                                                              \
        .of = { [OUTPUT_TEXT] = write }                                                            \
    }

#define TABLES(table, wide, names)                                                                 \
    {                                                                                              \
        .of = {                                                                                    \
            [OUTPUT_TEXT] = table,                                                                 \
            [OUTPUT_TABLE] = table,                                                                \
            [OUTPUT_WIDE] = wide,                                                                  \
            [OUTPUT_NAME] = names                                                                  \
        }                                                                                          \
    }

/* clang-format off */
#define COMMANDS(row)                                                                              \
    row(get)                                                                                       \
    row(describe)                                                                                  \
    row(map)                                                                                       \
    row(why)                                                                                       \
    row(timeline)                                                                                  \
    row(check)                                                                                     \
    row(logs)                                                                                      \
    row(bundle)                                                                                    \
    row(failover)                                                                                  \
    row(drain)                                                                                     \
    row(ungate)                                                                                    \
    row(install_check)                                                                             \
    row(upgrade_check)                                                                             \
    row(uninstall_check)                                                                           \
    row(completion)
/* clang-format on */

#define DECLARE_COMMAND(name) extern const struct command command_##name;
COMMANDS(DECLARE_COMMAND)

/* False if a flag has no effect on the command. */
bool command_takes(const struct command *command, const char *flag);

/* ---- what several commands do ---- */

/* What to read: these parts (cluster.h), and of the pods those of the namespace. */
struct cluster_query query_for(const struct program *program, unsigned parts);

/* For who says of nodes whether they are silent. */
void read_heartbeat_limit(struct task *self, const struct program *program,
                          struct cluster *cluster);

/* Where the steps of a command that changes something go: what is printed at the end is whole. */
FILE *step_output(const struct program *program);
