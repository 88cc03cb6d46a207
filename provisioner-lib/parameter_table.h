/* parameter_table.h - how the parameters of a class are read: a table with a row for each.
 *
 * For the files that have such a table: parameters.c (StorageClass) and snapshot_parameters.c
 * (VolumeSnapshotClass). Neither names nor the values of a choice are case-sensitive.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"

enum parameter_type {
    TEXT,     /* char * */
    SELECTOR, /* char *, of the labels of nodes */
    GROUP,    /* char *, the name of a resource group */
    GUID,     /* char * */
    CHOICE,   /* const char *: one of `allowed` */
    INTEGER,  /* int64_t, least to most */
    COUNT,    /* int, least to most */
    TRUTH,    /* bool */
    CACHING,  /* enum caching_mode */
    TAGS,     /* char *, see tag_list.h */
    NAME,     /* char *, see parameters_template.h */
    SETTING,  /* NAME/ and a path below the device's folder in sysfs */
    FIXED,    /* has no effect, and may only be one of `allowed` */
    IGNORED,  /* has no effect, whatever it is */
};

enum parameter_use {
    CREATION, /* the disk is made with it */
    LASTING,  /* attaching and mounting need it too */
    MUTABLE,  /* CREATION, and a VolumeAttributesClass can change it */
};

struct parameter_row {
    const char *name; /* one that ends with a slash is the beginning of many */
    enum parameter_type type;
    enum parameter_use use;
    size_t offset;              /* of the member that it fills */
    const char *const *allowed; /* NULL at the end */
    int64_t least, most;
    const char *fallback; /* when it is not said; NULL: `help` says what then */
    const char *help;     /* for the page in docs/ that `make docs` makes of the table */
};

struct parameter_table {
    const struct parameter_row *rows;
    size_t n;
};

/* NULL if it has none of this name. */
const struct parameter_row *parameter_table_find(const struct parameter_table *table,
                                                 const char *name);

/* Reads a value into the row's member of `ret`; not of a SETTING, which has none. INVALID with the
 * value and what is allowed, but without the parameter's name. */
struct err *parameter_row_read(const struct parameter_row *row, const char *value, void *ret)
    __attribute__((warn_unused_result));
/* Reads what counts when nothing is said. */
struct err *parameter_table_read_fallbacks(const struct parameter_table *table, void *ret)
    __attribute__((warn_unused_result));
