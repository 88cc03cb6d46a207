/* old_mount.h - mounts by mount(2), for kernels that lack the calls of mount.h: all of them before
 * Linux 5.2, and mount_setattr before 5.12.
 *
 * The same results; only the kernel does not say which option a file system refuses, but logs it.
 * What nobody is to see is mounted in a folder of its own in /tmp, which in the driver's container
 * is in no other mount namespace and ends with the container. For mount.c alone; all calls block.
 */
#pragma once

#include "lib/base/err.h"
#include "provisioner-lib/host/mount.h"
#include "provisioner-lib/host/mount_options.h"

/* Kinds of errors as those of mount.h. */
struct err *old_mount_filesystem(const struct mount_request *request,
                                 const struct mount_options *options)
    __attribute__((warn_unused_result));
struct err *old_mount_replay(const struct mount_request *request,
                             const struct mount_options *options)
    __attribute__((warn_unused_result));

struct err *old_mount_bind(const char *source, const char *target)
    __attribute__((warn_unused_result));
/* Never writable for a moment, even so: the bind mount of a bind mount has its attributes. */
struct err *old_mount_bind_read_only(const char *source, const char *target)
    __attribute__((warn_unused_result));
