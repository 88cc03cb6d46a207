#include "provisioner-lib/host/target_mount.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/host/block.h"
#include "provisioner-lib/host/mount_point.h"
#include "provisioner-lib/host/staging.h"

enum { MOST_LAYERS = 16 }; /* of mounts on top of each other at one target */

static bool same_mount(const struct mount_entry *a, const struct mount_entry *b)
{
    return a->device == b->device && strcmp(a->root, b->root) == 0;
}

/* What a container sees of the volume by a subPath is another part of it, and does not count. */
static struct err *check_alone(const struct mount_entry *staged, const char *why)
{
    CLEANUP(mount_entry_fini) struct mount_entry other = {0};

    TRY(mount_table_twin(staged, &other));
    if (!other.target)
        return NULL;
    return err_new(ERR_PRECONDITION,
                   "the volume is published at %s; %s it must be unpublished there first",
                   other.target, why);
}

/* A bind mount does not keep anybody from writing to a device. A device that is made read-only is
 * so for everybody on this machine: whoever had it for writing would lose what he writes. */
static struct err *settle_access(const struct mount_entry *staged, const char *node, bool read_only)
{
    CLEANUP(closep) int fd = -1;
    bool is_read_only;

    TRY(block_open(node, &fd));
    TRY(block_is_read_only(fd, &is_read_only));
    if (!read_only && is_read_only)
        return err_new(ERR_PRECONDITION, "the volume is read-only on this node");
    if (read_only == is_read_only)
        return NULL;
    TRY(check_alone(staged, "as a raw volume is read-only for all pods of a node,"));
    return block_set_read_only(fd, true);
}

struct err *target_mount_make(const struct target_mount *wanted)
{
    const char *staging = wanted->staging, *target = wanted->target;
    CLEANUP(freep) char *source = staging_source(staging, wanted->raw);
    CLEANUP(mount_entry_fini) struct mount_entry staged = {0};
    CLEANUP(mount_entry_fini) struct mount_entry published = {0};
    bool read_only;

    TRY(staging_find(staging, wanted->raw, &staged));
    if (!staged.target)
        return err_new(ERR_PRECONDITION, "the volume is not staged at %s", staging);
    read_only = wanted->read_only || staged.read_only;
    TRY(mount_table_at(target, &published));
    if (published.target && !same_mount(&published, &staged))
        return err_new(ERR_PRECONDITION, "%s is in use: %s is mounted there", target,
                       published.source);
    if (published.target && published.read_only != read_only)
        return err_new(ERR_EXISTS, "the volume is already published at %s, %s", target,
                       published.read_only ? "read-only" : "for writing");
    if (published.target)
        return NULL;
    if (wanted->alone)
        TRY(check_alone(&staged, "with access mode SINGLE_NODE_SINGLE_WRITER"));
    if (wanted->raw)
        TRY(settle_access(&staged, source, read_only));
    TRY(wanted->raw ? mount_point_make_file(target) : mount_point_make_folder(target));
    return mount_bind(source, target, read_only);
}

struct err *target_mount_remove(const char *target)
{
    for (int i = 0; i < MOST_LAYERS; i++) {
        CLEANUP(mount_entry_fini) struct mount_entry published = {0};

        TRY(mount_table_at(target, &published));
        if (!published.target)
            return mount_point_remove(target);
        TRY(mount_remove(target));
    }
    return err_new(ERR_INTERNAL, "%s has more than %d mounts", target, MOST_LAYERS);
}
