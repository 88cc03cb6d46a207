/* stage.h - a volume on its way to its staging path; for csi_stage.c, whose NodeStageVolume it is,
 * and for stage_programs.c and stage_mount.c.
 *
 * It may stop being this node's at any time: whoever has waited asks once more before he writes to
 * the device.
 */
#pragma once

#include "node/node.h"
#include "node/volume_access.h"
#include "node/volume_record.h"
#include "provisioner-lib/host/host.h"
#include "provisioner-lib/host/mount.h"

/* A volume on its way to its staging path. */
struct staging {
    struct node *node;
    const char *volume_id, *path;
    struct volume_access access;
    uint64_t deadline;    /* of all waiting */
    uint64_t phase_began; /* loop_now() time */

    struct kube_object *attachment;
    struct attachment_place place;
    struct volume_record record;
    struct device disk, partition;
    const struct device *device;   /* that is used: either of them */
    uint64_t fence;                /* key; 0: there is none */
    bool recorded;                 /* by this call, what file system is on the disk */
    bool device_read_only;         /* by the publish, and so for everybody on this machine */
    struct filesystem_state state; /* before it is mounted */
};

void staging_fini(struct staging *s);

/* What it took since the phase before is measured. */
void staging_phase_ended(struct staging *s, const char *phase);
/* By its publish, its access mode or a mount flag. */
bool staging_is_read_only(const struct staging *s);

/* ---- stage.c: whether it still is this node's ---- */

/* By what this node has heard. BUSY if it is not, or if what was decided was decided on what is no
 * longer so. */
struct err *staging_check_ours(const struct staging *s) __attribute__((warn_unused_result));
/* By the API server's own word. */
struct err *staging_confirm_ours(struct task *self, const struct staging *s)
    __attribute__((warn_unused_result));
/* When it is staged: what is no longer wanted is undone, but for what was there before the call. */
struct err *staging_keep_or_undo(struct task *self, struct staging *s, bool was_there)
    __attribute__((warn_unused_result));

/* ---- stage_programs.c: what writes to the device before it is mounted ---- */

/* Around whatever writes to it: that is on record from before its beginning to its end, or, if that
 * is `unsure`, until somebody has seen it. */
struct err *stage_job_begin(struct task *self, void *ctx, const char *program)
    __attribute__((warn_unused_result));
void stage_job_end(struct task *self, void *ctx, const struct err *unsure);

struct err *stage_format(struct task *self, struct staging *s, const char *uuid)
    __attribute__((warn_unused_result));
/* fsck; `why` is for the log. */
struct err *stage_check(struct task *self, struct staging *s, const char *why)
    __attribute__((warn_unused_result));
/* Makes the copy of another file system one of its own. */
struct err *stage_mark_copy(struct task *self, struct staging *s,
                            const struct mount_request *request, const char *uuid)
    __attribute__((warn_unused_result));

/* ---- stage_mount.c ---- */

/* Formats it, or checks it if that is due. */
struct err *stage_prepare(struct task *self, struct staging *s,
                          const struct disk_expectation *expected, bool format_it)
    __attribute__((warn_unused_result));
/* What only mounting shows to be damaged is checked then, and mounted once more. */
struct err *stage_mount(struct task *self, struct staging *s, const struct mount_request *request)
    __attribute__((warn_unused_result));
