/* NodeStageVolume. */

#include <inttypes.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/kube/cached_client.h"
#include "node/csi_service.h"
#include "node/dead_mount.h"
#include "node/informers.h"
#include "node/left_mount.h"
#include "node/lost_mount.h"
#include "node/metrics.h"
#include "node/perf_profile.h"
#include "node/replica_disk.h"
#include "node/stage.h"
#include "node/volume_fence.h"
#include "provisioner-lib/host/fence.h"
#include "provisioner-lib/records/fence_note.h"
#include "provisioner-lib/records/status_annotation.h"

/* ---- steps ---- */

static struct err *await_disk(struct task *self, struct staging *s)
{
    TRY(informers_await_attachment(self, s->node, s->volume_id, s->deadline, &s->attachment,
                                   &s->place));
    TRY(replica_disk_await_release(self, s->node, s->volume_id, s->deadline));
    staging_phase_ended(s, "attach");
    TRY(volume_record_read(self, s->node, s->attachment, &s->place, s->volume_id, s->deadline,
                           &s->record));
    TRY(host_find(self, s->node->host, s->place.lun, s->deadline, &s->disk));
    s->device = &s->disk;
    if (s->access.partition) {
        TRY(host_find_partition(self, s->node->host, &s->disk, s->access.partition, &s->partition));
        s->device = &s->partition;
    }
    staging_phase_ended(s, "find");
    return NULL;
}

static struct disk_expectation expectation_of(const struct staging *s)
{
    struct disk_expectation expected = {
        .disk = s->volume_id,
        .size = s->record.size,
        .grown_size = s->record.grown_size,
        .may_be_larger = s->access.may_grow,
        .partition = s->access.partition != 0,
        .raw = s->access.raw,
        .read_only = staging_is_read_only(s),
        .type = s->access.raw ? NULL : s->access.filesystem->name,
        .recorded = s->record.has_filesystem ? &s->record.filesystem : NULL,
        .source = s->record.has_source ? &s->record.source : NULL,
        .possible = s->record.possible[0] ? s->record.possible : NULL,
        /* The attribute cannot be changed, the annotation can. */
        .accepted = s->record.accepted[0] ? s->record.accepted : s->access.accepted,
    };

    identity_derive(s->volume_id, expected.uuid);
    return expected;
}

static struct err *prove(struct task *self, struct staging *s,
                         const struct disk_expectation *expected, struct disk_verdict *ret)
{
    struct err *err = host_prove(self, s->node->host, &s->disk, s->device, expected, ret);

    if (!err)
        metric_add(&METRIC_PROOFS, 1, ret->format ? "format" : ret->copy ? "copy" : "mount");
    else if (err_kind(err) == ERR_PRECONDITION)
        metric_add(&METRIC_PROOFS, 1, "refused");
    staging_phase_ended(s, "prove");
    return err;
}

/* What is on the disk shows whose it is, unless nothing is, or the same as on other disks. Then it
 * is not enough that the disk was here once: the node may be another VM of the same name by now,
 * and at the LUN somebody else's disk. */
static struct err *await_boot(struct task *self, const struct staging *s,
                              const struct disk_verdict *verdict)
{
    if (!s->access.raw && !verdict->format && !verdict->copy)
        return NULL;
    return informers_await_boot(self, s->node, s->volume_id, s->deadline);
}

/* ---- the whole of it ---- */

/* Whoever has the disk next, after us or on another node, must find this file system on it. */
static struct err *record(struct task *self, struct staging *s, const char *uuid)
{
    struct node *node = s->node;
    struct filesystem_identity identity = {0};

    strncpy(identity.type, s->access.filesystem->name, sizeof identity.type - 1);
    memcpy(identity.uuid, uuid, sizeof identity.uuid);
    CLEANUP(freep) char *text = identity_format(&identity);
    json_t *changes = status_annotation_json(ANNOTATION_FILESYSTEM, text);
    s->recorded = true; /* the attachment may be heard of before the answer */
    struct err *err = cached_patch_status(self, node->kube, node->attachments, s->attachment,
                                          if_same(s->attachment, changes), NULL);
    if (err)
        return err_wrap(err, "recording the file system");
    staging_phase_ended(s, "record");
    return NULL;
}

/* The disk may have grown while the volume was not staged. If the file system cannot follow, the
 * volume is used as it is; NodeExpandVolume reports the failure. */
static void grow(struct task *self, struct staging *s)
{
    bool grown;
    CLEANUP(err_freep)
    struct err *err =
        host_grow(self, s->node->host, s->device, s->access.filesystem, s->path, &grown);

    if (err)
        log_warning("volume %s is used without the space that its disk has gained: %s",
                    s->volume_id, err_message(err));
    else if (grown)
        staging_phase_ended(s, "grow");
}

/* A disk that had lost its fence was closed to writes as a whole (shutdown.h), and whoever only
 * opens its partition cannot write either. */
static struct err *open_disk_of_partition(struct task *self, struct staging *s)
{
    bool read_only;

    if (s->device == &s->disk || s->place.read_only)
        return NULL;
    return host_settle_access(self, s->node->host, &s->disk, s->path, s->access.raw, false,
                              &read_only);
}

/* Nothing may write to a disk that is published read-only, be it the kernel itself. What is staged
 * already stays as it is: a plug-in that did not know of this may have staged it for writing. */
static struct err *settle_access(struct task *self, struct staging *s)
{
    TRY(open_disk_of_partition(self, s));
    TRY(host_settle_access(self, s->node->host, s->device, s->path, s->access.raw,
                           s->place.read_only, &s->device_read_only));
    if (s->place.read_only && !s->device_read_only)
        log_warning("volume %s is published read-only, but was staged at %s for writing, and stays "
                    "so until it is unstaged",
                    s->volume_id, s->path);
    return NULL;
}

/* From here on nobody else writes to the disk. A file system that is mounted read-only may have a
 * journal to replay. */
static struct err *fence(struct task *self, struct staging *s)
{
    const struct fenced_volume volume = {
        .id = s->volume_id,
        .attachment = s->attachment,
        .record = &s->record,
        .disk = &s->disk,
        .device = s->device,
        .staging = s->path,
    };

    if (!volume_access_may_write(&s->access, s->place.read_only))
        return NULL;
    TRY(staging_confirm_ours(self, s));
    TRY(volume_fence_take(self, s->node, &volume, &s->fence));
    staging_phase_ended(s, "fence");
    return NULL;
}

/* A device that is not what its owner asked for is not used. */
static struct err *set_device(struct task *self, const struct staging *s)
{
    return perf_profile_apply(self, s->node->host, &s->disk, &s->access, &s->record);
}

static struct err *stage_filesystem(struct task *self, struct staging *s)
{
    struct disk_expectation expected = expectation_of(s);
    struct disk_verdict verdict;
    struct mount_request request = {
        .device = s->device->path,
        .target = s->path,
        .type = s->access.filesystem->name,
        .options = s->access.options,
        .n_options = s->access.n_options,
    };

    TRY(prove(self, s, &expected, &verdict));
    TRY(await_boot(self, s, &verdict));
    TRY(settle_access(self, s));
    request.read_only = s->device_read_only || s->access.read_only;
    TRY(set_device(self, s));
    TRY(fence(self, s));
    if (verdict.copy && !staging_is_read_only(s))
        TRY(stage_mark_copy(self, s, &request, expected.uuid));
    TRY(stage_prepare(self, s, &expected, verdict.format));
    if (verdict.copy && staging_is_read_only(s)) {
        request.no_replay = s->state.has_journal_to_replay;
        s->state.has_journal_to_replay = false;
    }
    if (verdict.record_due)
        TRY(record(self, s, expected.uuid));
    TRY(stage_mount(self, s, &request));
    staging_phase_ended(s, "mount");
    if (staging_is_read_only(s))
        return NULL;
    grow(self, s);
    return staging_keep_or_undo(self, s, s->state.mounted); /* that may have taken long */
}

static struct err *stage_raw(struct task *self, struct staging *s)
{
    struct disk_expectation expected = expectation_of(s);
    struct disk_verdict verdict;
    bool was_bound;

    TRY(prove(self, s, &expected, &verdict));
    TRY(await_boot(self, s, &verdict));
    TRY(settle_access(self, s));
    TRY(set_device(self, s));
    TRY(fence(self, s));
    TRY(host_is_staged(self, s->node->host, s->path, &was_bound));
    TRY(staging_check_ours(s));
    TRY(host_bind(self, s->node->host, s->device, s->path, s->device_read_only));
    TRY(staging_keep_or_undo(self, s, was_bound));
    staging_phase_ended(s, "mount");
    return NULL;
}

/* ---- what was staged before ---- */

/* A volume that is published read-only has no fence, and the disk may keep a former primary's. */
static struct err *look_for_lost_mount(struct task *self, const struct staging *s)
{
    const struct lost_mount mount = {
        .volume_id = s->volume_id,
        .staging = s->path,
        .attachment = s->attachment,
        .disk = &s->disk,
    };
    bool has_had_one = fence_note_last_key(as_attachment(s->attachment)) != 0;

    if (s->record.fencing == FENCING_NONE ||
        (!has_had_one && !volume_access_may_write(&s->access, s->place.read_only)))
        return NULL;
    return lost_mount_look(self, s->node, &mount);
}

/* What is said of the fence has changed since the attachment was read. */
static struct err *read_attachment_again(struct staging *s)
{
    TRY(staging_check_ours(s));
    kube_object_unref(s->attachment);
    s->attachment = kube_object_ref(informers_find_attachment(s->node, s->volume_id));
    return NULL;
}

/* Between a demotion and the promotion that brings the role back, another node may have written to
 * the disk: only who has the fence still has what is on it. */
static struct err *end_lost_mount(struct task *self, struct staging *s)
{
    TRY(look_for_lost_mount(self, s));
    TRY(read_attachment_again(s));
    if (!fence_note_is_lost(as_attachment(s->attachment)))
        return NULL;
    TRY(lost_mount_remove(self, s->node, s->volume_id, s->path, s->deadline));
    return read_attachment_again(s);
}

/* ---- the calls ---- */

static struct err *stage(struct task *self, struct staging *s)
{
    uint64_t began = s->phase_began;

    TRY(dead_mount_remove(self, s->node, &(struct dead_mount){s->volume_id, s->path, NULL},
                          s->deadline));
    TRY(await_disk(self, s));
    TRY(end_lost_mount(self, s));
    TRY(s->access.raw ? stage_raw(self, s) : stage_filesystem(self, s));
    log_info("volume %s: %s (LUN %u) is staged at %s after %" PRIu64 " ms", s->volume_id,
             s->device->path, s->place.lun, s->path, loop_now(s->node->loop) - began);
    return NULL;
}

struct err *csi_stage_claimed(struct task *self, struct rpc_call *call,
                              const Csi__V1__NodeStageVolumeRequest *request)
{
    struct node *node = call->ctx;
    CLEANUP(staging_fini)
    struct staging s = {
        .node = node,
        .volume_id = request->volume_id,
        .path = request->staging_target_path,
        .deadline = csi_wait_deadline(node, call),
        .phase_began = loop_now(node->loop),
        .disk = DEVICE_NONE,
        .partition = DEVICE_NONE,
    };

    TRY(volume_path_check("staging_target_path", request->staging_target_path));
    TRY(volume_access_read(request->volume_capability, request->volume_context,
                           request->n_volume_context, call->arena, &s.access));
    return stage(self, &s);
}

struct err *csi_stage_volume(struct task *self, struct rpc_call *call, const void *message,
                             void *ret)
{
    const Csi__V1__NodeStageVolumeRequest *request = message;
    CLEANUP(csi_release) struct csi_claim claim = {0};

    (void)ret;
    left_mount_called(call->ctx, request->volume_id);
    TRY(csi_claim(call->ctx, request->volume_id, &claim));
    struct err *err = csi_stage_claimed(self, call, request);
    if (!err)
        return NULL;
    if (!task_is_cancelled(self)) /* otherwise kubelet does not hear of it */
        left_mount_refused(call->ctx, request->volume_id, err_kind(err));
    return err_wrap(err, "volume %s", request->volume_id);
}
