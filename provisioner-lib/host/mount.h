/* mount.h - mounts, by the kernel's own calls (fsopen, open_tree, move_mount; Linux 5.12), or on
 * older ones by those of old_mount.h.
 *
 * These say which option a file system refuses and why, and they make a mount complete before it
 * shows anywhere: a read-only bind mount is never writable for a moment. Mounting calls no helper
 * program. All calls block, for as long as the device does: for a thread pool.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/err.h"

struct mount_request {
    const char *device, *target;
    const char *type;
    const char *const *options; /* as in fstab: "noatime", "commit=30,data=ordered" */
    size_t n_options;
    bool read_only;
    bool no_replay; /* of the journal; read-only */
};

/* INVALID if an option is refused, with the kernel's reason; PRECONDITION if the device is in use
 * in a way that does not go together; else INTERNAL. `target` exists. */
struct err *mount_filesystem(const struct mount_request *request)
    __attribute__((warn_unused_result));

/* Mounts it where nobody sees it, and takes it away: what its journal holds is in its place then.
 * Of the request only the device, the type and the options count. Errors as above. */
struct err *mount_replay(const struct mount_request *request) __attribute__((warn_unused_result));

/* Whether mounting has failed because of what is on the device, which a check may repair. */
bool mount_shows_damage(const struct err *err);

/* Shows a folder, or a file such as a device's node, at `target` too, which is of the same sort. */
struct err *mount_bind(const char *source, const char *target, bool read_only)
    __attribute__((warn_unused_result));

/* A file descriptor of what is mounted there, for as long as the descriptor lives: by a mount of
 * its own, which keeps nobody from unmounting that one (before Linux 5.2 by the same, which is in
 * use then). -1, with errno. */
int mount_clone(const char *path);

/* Takes the topmost mount at `target` away. PRECONDITION while somebody uses it.
 *
 * Never by force, and never lazily: a lazy unmount returns while the file system lives on unseen,
 * and may still write when the disk is another node's already. A file system whose disk is gone
 * unmounts the plain way, too. */
struct err *mount_remove(const char *target) __attribute__((warn_unused_result));
