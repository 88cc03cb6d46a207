/* options.h - command-line flags from one table.
 *
 * A row is a flag: its name, what it sets, its default (what the target holds before parsing), the
 * environment variable that may set it too, and a sentence of help. From the table come parsing,
 * defaults, checks, `--help` and docs/options.md.
 *
 * Spelling: --name=value, --name value, -name=value; a boolean may stand alone. The command line
 * wins over the environment. String values point into argv or the environment. A flag that is given
 * twice has the last value, except for a list, which has all of them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"

enum option_type {
    OPTION_STRING,   /* const char * */
    OPTION_BOOL,     /* bool */
    OPTION_INT,      /* int64_t, least..most */
    OPTION_DURATION, /* uint64_t milliseconds, least..most milliseconds */
    OPTION_CHOICE,   /* int: index into `choices` */
    OPTION_LIST,     /* struct option_list: a word each time that the flag is given */
};

enum { OPTION_LIST_MOST = 64 };

struct option_list {
    const char *words[OPTION_LIST_MOST];
    size_t n;
};

struct option_row {
    const char *name;
    enum option_type type;
    void *target;
    const char *help;
    const char *environment;    /* NULL: none */
    int64_t least, most;        /* of OPTION_INT and OPTION_DURATION; most 0: no bound above */
    const char *const *choices; /* of OPTION_CHOICE, NULL at the end */
};

/* Rows of flags that only the command line sets. */
#define TEXT_FLAG(flag, variable, text)                                                            \
    {                                                                                              \
        .name = flag, .type = OPTION_STRING, .target = &(variable), .help = text                   \
    }
#define BOOL_FLAG(flag, variable, text)                                                            \
    {                                                                                              \
        .name = flag, .type = OPTION_BOOL, .target = &(variable), .help = text                     \
    }
#define INT_FLAG(flag, variable, smallest, largest, text)                                          \
    {                                                                                              \
        .name = flag, .type = OPTION_INT, .target = &(variable), .least = smallest,                \
        .most = largest, .help = text                                                              \
    }
#define DURATION_FLAG(flag, variable, shortest, text)                                              \
    {                                                                                              \
        .name = flag, .type = OPTION_DURATION, .target = &(variable), .least = shortest,           \
        .help = text                                                                               \
    }
#define LIST_FLAG(flag, variable, text)                                                            \
    {                                                                                              \
        .name = flag, .type = OPTION_LIST, .target = &(variable), .help = text                     \
    }
#define CHOICE_FLAG(flag, variable, words, text)                                                   \
    {                                                                                              \
        .name = flag, .type = OPTION_CHOICE, .target = &(variable), .choices = words, .help = text \
    }

/* Sets every target that the environment or the command line names. INVALID, with a message that
 * names the flag, the value and what is allowed, on the first fault. */
struct err *options_parse(const struct option_row *rows, size_t n, int argc, char *const argv[])
    __attribute__((warn_unused_result));

/* The table for a person, defaults included; call before options_parse. */
void options_help(const struct option_row *rows, size_t n, const char *program, const char *about);

/* What main does first. Answers --help and --version, reports a wrong flag on stderr. True to go
 * on; false to end with `ret_status` (0, or 2 for a wrong flag). */
bool options_start(const struct option_row *rows, size_t n, const char *program, const char *about,
                   int argc, char *const argv[], int *ret_status)
    __attribute__((warn_unused_result));

/* For faults that no row can say: reports one on stderr, as options_start does. Always false. */
bool options_refuse(const char *program, int *ret_status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
