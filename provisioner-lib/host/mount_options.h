/* mount_options.h - what a StorageClass or a PersistentVolume says of how to mount, taken apart.
 *
 * Some options are the mount's own (noexec), the others its file system's (commit=30). Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/err.h"

struct mount_option {
    char *name, *value; /* no value: NULL */
};

struct mount_options {
    unsigned attributes;      /* MOUNT_ATTR_...; of access times the last that is named */
    struct mount_option *own; /* of the file system, in their order */
    size_t n_own;
};

/* Each text has one or more as in fstab: "noatime", "commit=30,data=ordered". A value in double
 * quotes may have commas, and loses the quotes. Of labels of one name, which the kernel takes once,
 * the last counts. INVALID for what would name another source than the volume. */
struct err *mount_options_parse(const char *const *texts, size_t n, struct mount_options *ret)
    __attribute__((warn_unused_result));
void mount_options_fini(struct mount_options *options);

/* Those that say which SELinux labels the files have. A kernel where SELinux is off knows no such
 * options, and mount(8) ignores them there, too. */
bool mount_options_have_labels(const struct mount_options *options);
void mount_options_drop_labels(struct mount_options *options);

/* Whether they ask for a read-only mount. */
bool mount_options_read_only(const char *const *texts, size_t n);
