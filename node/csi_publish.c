/* NodePublishVolume and NodeUnpublishVolume. */

#include <stddef.h>

#include "lib/base/log.h"
#include "lib/rt/wait.h"
#include "node/csi_service.h"
#include "node/dead_mount.h"
#include "node/informers.h"
#include "node/left_mount.h"
#include "node/lost_mount.h"
#include "node/volume_access.h"
#include "provisioner-lib/records/fence_note.h"

#define ONE_POD CSI__V1__VOLUME_CAPABILITY__ACCESS_MODE__MODE__SINGLE_NODE_SINGLE_WRITER

enum { MOST_TRIES = 10, TRY_AGAIN_MS = 5 };

/* protobuf-c makes a type of its own for every map. */
_Static_assert(offsetof(context_entry, key) ==
                       offsetof(Csi__V1__NodePublishVolumeRequest__VolumeContextEntry, key) &&
                   offsetof(context_entry, value) ==
                       offsetof(Csi__V1__NodePublishVolumeRequest__VolumeContextEntry, value),
               "maps of strings are alike");

/* ---- staging anew ---- */

/* It was unstaged here, though not by kubelet, and what came after that failed, or this process
 * has ended in between. */
static struct err *stage_missing(struct task *self, struct rpc_call *call,
                                 const Csi__V1__NodePublishVolumeRequest *request)
{
    struct node *node = call->ctx;
    Csi__V1__NodeStageVolumeRequest missing;
    bool is_staged;

    TRY(host_is_staged(self, node->host, request->staging_target_path, &is_staged));
    if (is_staged)
        return NULL;
    log_warning("volume %s: kubelet takes it for staged at %s, where it is no more; it is staged "
                "anew",
                request->volume_id, request->staging_target_path);
    csi__v1__node_stage_volume_request__init(&missing);
    missing.volume_id = request->volume_id;
    missing.staging_target_path = request->staging_target_path;
    missing.volume_capability = request->volume_capability;
    missing.n_volume_context = request->n_volume_context;
    missing.volume_context = (context_entry **)(void *)request->volume_context;
    return csi_stage_claimed(self, call, &missing);
}

/* Only of what is this node's to stage. Kubelet stages a volume for all pods that follow one
 * another without a gap, and so a pod that takes the place of one whose writes failed would get the
 * very mount that they failed on. */
static struct err *stage_anew(struct task *self, struct rpc_call *call,
                              const Csi__V1__NodePublishVolumeRequest *request)
{
    const struct dead_mount suspect = {request->volume_id, request->staging_target_path,
                                       request->target_path};
    uint64_t deadline = csi_wait_deadline(call->ctx, call);
    struct attachment_place place;

    TRY(informers_await_first_list(self, call->ctx, deadline));
    const struct kube_object *found = informers_find_attachment(call->ctx, request->volume_id);
    CLEANUP(err_freep)
    struct err *not_ready = found ? attachment_check(as_attachment(found), &place) : NULL;

    if (!found || not_ready)
        return NULL;
    if (fence_note_is_lost(as_attachment(found)))
        TRY(lost_mount_remove(self, call->ctx, request->volume_id, request->staging_target_path,
                              deadline));
    TRY(dead_mount_remove(self, call->ctx, &suspect, deadline));
    return stage_missing(self, call, request);
}

/* ---- the calls ---- */

static struct err *publish(struct task *self, struct rpc_call *call,
                           const Csi__V1__NodePublishVolumeRequest *request)
{
    struct node *node = call->ctx;
    struct volume_access access;
    struct target_mount wanted = {.staging = request->staging_target_path,
                                  .target = request->target_path};

    TRY(volume_access_read(request->volume_capability,
                           (context_entry *const *)(void *)request->volume_context,
                           request->n_volume_context, call->arena, &access));
    if (!request->staging_target_path[0])
        return err_new(ERR_PRECONDITION, "staging_target_path is missing");
    TRY(volume_path_check("staging_target_path", request->staging_target_path));
    TRY(volume_path_check("target_path", request->target_path));
    TRY(stage_anew(self, call, request));
    /* Kubelet knows a staged volume by its volumeHandle, whatever attributes it has. */
    TRY(host_check_partition(self, node->host, request->staging_target_path, access.raw,
                             access.partition));
    wanted.raw = access.raw;
    wanted.read_only = request->readonly || (access.raw && access.read_only);
    wanted.alone = request->volume_capability->access_mode->mode == ONE_POD;
    TRY(host_publish(self, node->host, &wanted));
    log_info("volume %s: published at %s%s", request->volume_id, request->target_path,
             wanted.read_only ? ", read-only" : "");
    return NULL;
}

struct err *csi_publish_volume(struct task *self, struct rpc_call *call, const void *message,
                               void *ret)
{
    const Csi__V1__NodePublishVolumeRequest *request = message;
    CLEANUP(csi_release) struct csi_claim claim = {0};

    (void)ret;
    left_mount_called(call->ctx, request->volume_id);
    TRY(csi_claim(call->ctx, request->volume_id, &claim));
    struct err *err = publish(self, call, request);
    return err ? err_wrap(err, "volume %s", request->volume_id) : NULL;
}

/* A look at the volume (csi_stats.c) holds what is mounted for an instant. */
static struct err *unpublish(struct task *self, struct node *node, const char *target)
{
    for (int tries = 1;; tries++) {
        CLEANUP(err_freep) struct err *err = host_unpublish(self, node->host, target);

        if (!err || err_kind(err) != ERR_PRECONDITION || tries == MOST_TRIES)
            return TAKE_PTR(err);
        TRY(task_sleep(self, TRY_AGAIN_MS));
    }
}

struct err *csi_unpublish_volume(struct task *self, struct rpc_call *call, const void *message,
                                 void *ret)
{
    const Csi__V1__NodeUnpublishVolumeRequest *request = message;
    struct node *node = call->ctx;
    CLEANUP(csi_release) struct csi_claim claim = {0};

    (void)ret;
    TRY(csi_claim(node, request->volume_id, &claim));
    TRY(volume_path_check("target_path", request->target_path));
    struct err *err = unpublish(self, node, request->target_path);
    if (err)
        return err_wrap(err, "volume %s", request->volume_id);
    left_mount_unpublished(node, request->volume_id);
    log_info("volume %s: unpublished from %s", request->volume_id, request->target_path);
    return NULL;
}
