/* volume_access.h - how a CSI call wants to use a volume: a VolumeCapability and the volume's
 * context, checked and put into this driver's terms.
 */
#pragma once

#include "lib/api/csi.pb-c.h"
#include "lib/base/arena.h"
#include "provisioner-lib/host/device_settings.h"
#include "provisioner-lib/host/filesystem.h"

/* The context's entries are of the same form in every message. */
typedef Csi__V1__NodeStageVolumeRequest__VolumeContextEntry context_entry;

struct volume_access {
    bool raw;             /* a block device */
    bool read_only;       /* by its access mode or by a mount flag */
    bool may_grow;        /* the device may be larger than the volume was */
    unsigned partition;   /* of the disk; 0: all of it */
    const char *accepted; /* UUID of a file system that the disk may carry; NULL: none is said */
    const struct filesystem *filesystem;
    const char *const *options; /* of the mount, those that the file system always needs included */
    size_t n_options;
    const char *sku;                       /* of the disk, as its volume was made */
    bool basic_profile;                    /* perfProfile basic */
    const struct device_setting *settings; /* of perfProfile advanced */
    size_t n_settings;
};

/* INVALID, naming the field. What the result points to lives in the arena or in the request. */
struct err *volume_access_read(const Csi__V1__VolumeCapability *capability,
                               context_entry *const *context, size_t n_context, struct arena *arena,
                               struct volume_access *ret) __attribute__((warn_unused_result));

/* Whether this machine may write to the device: the user of the volume, or the kernel, which
 * replays the journal of a file system when that is mounted read-only, too. Pure. */
bool volume_access_may_write(const struct volume_access *access, bool published_read_only);

/* INVALID unless the field `name` is an absolute path that a volume can be at. */
struct err *volume_path_check(const char *name, const char *path)
    __attribute__((warn_unused_result));
