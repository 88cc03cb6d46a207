/* mount_table.h - what is mounted where, as this process sees it (libmount over
 * /proc/self/mountinfo).
 *
 * A mount is looked up by where it is, without touching it: a file system whose disk is gone
 * answers with errors, or not at all. Blocks while the kernel writes the table: for a thread pool.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "lib/base/err.h"

struct mount_entry {
    dev_t device; /* of the file system */
    char *source; /* "/dev/sdc" */
    char *root;   /* the part of the file system that shows, "/" for all */
    char *type;   /* "ext4" */
    char *target;
    bool read_only;           /* the mount or its file system */
    char *filesystem_options; /* "rw,errors=remount-ro" */
};

void mount_entry_fini(struct mount_entry *entry);

/* The topmost mount at `path`; `ret->target` is NULL if there is none. */
struct err *mount_table_at(const char *path, struct mount_entry *ret)
    __attribute__((warn_unused_result));

/* The same, and whether a mount of that file system is for writing, there or elsewhere. */
struct err *mount_table_look(const char *path, struct mount_entry *ret, bool *ret_for_writing)
    __attribute__((warn_unused_result));

/* Another mount of the same thing: of any part of the file system, or, for a single file such as a
 * device's node, of that file. `ret->target` is NULL if there is none. */
struct err *mount_table_other(const struct mount_entry *entry, struct mount_entry *ret)
    __attribute__((warn_unused_result));

/* The same, but of the very part that `entry` shows. */
struct err *mount_table_twin(const struct mount_entry *entry, struct mount_entry *ret)
    __attribute__((warn_unused_result));

/* Whether a file system's options have a word, with or without a value. */
bool mount_table_has_option(const char *options, const char *name);

/* The newest mount of a file system whose device is one of these; `ret->target` is NULL if there is
 * none. */
struct err *mount_table_find(bool (*is_one)(dev_t device, const void *ctx), const void *ctx,
                             struct mount_entry *ret) __attribute__((warn_unused_result));
/* Whether the file system of this device is mounted anywhere. */
struct err *mount_table_has(dev_t device, bool *ret_mounted) __attribute__((warn_unused_result));
