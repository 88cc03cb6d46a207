/* kubeconfig_files.h - kubeconfig files, read as one as kubectl reads them.
 *
 * The first file that sets the current context wins, and so does the first that has an entry (a
 * cluster, user or context) of a name: of that entry, nothing is taken from the others. Files that
 * do not exist are passed over. Owned by the caller; what is found is borrowed from it.
 */
#pragma once

#include <jansson.h>

#include "lib/base/err.h"

struct kubeconfig_file {
    char *path;
    json_t *document; /* null: the file is empty */
};

struct kubeconfig_files {
    char *paths; /* as they were given */
    struct kubeconfig_file *items;
    size_t n;
};

/* `paths` are separated by colons; empty ones count for nothing. NOT_FOUND, with all of them, if no
 * file exists; INVALID, with the file, if one cannot be understood. */
struct err *kubeconfig_files_read(const char *paths, struct kubeconfig_files *ret)
    __attribute__((warn_unused_result));
void kubeconfig_files_fini(struct kubeconfig_files *files);

struct kubeconfig_entry {
    const char *kind, *name;
    const char *path;    /* of the file that has it, from which on its relative paths count */
    const json_t *value; /* NULL: it has none */
};

/* The name of the current context. INVALID, with the contexts that there are, if no file says. */
struct err *kubeconfig_files_current(const struct kubeconfig_files *files, const char **ret)
    __attribute__((warn_unused_result));
/* The entry of a kind, "cluster", "user" or "context". INVALID, with the names that there are, if
 * no file has it; INVALID if one has it twice. */
struct err *kubeconfig_files_find(const struct kubeconfig_files *files, const char *kind,
                                  const char *name, struct kubeconfig_entry *ret)
    __attribute__((warn_unused_result));

/* The error with the entry that it is of and its file, if there is one. */
struct err *kubeconfig_entry_err(const struct kubeconfig_entry *entry, struct err *err)
    __attribute__((warn_unused_result));
