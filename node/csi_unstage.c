/* NodeUnstageVolume. */

#include "lib/base/log.h"
#include "node/csi_service.h"
#include "node/informers.h"
#include "node/left_mount.h"
#include "node/replica_disk.h"
#include "node/volume_access.h"
#include "node/volume_fence.h"
#include "node/volume_looks.h"

/* The disk may go to another node as soon as we have answered: nobody here may still use it. */
static struct err *unstage(struct task *self, struct node *node, const char *volume_id,
                           const char *path, uint64_t deadline)
{
    struct attachment_place place;

    TRY(host_unstage(self, node->host, path));
    struct kube_object *object = informers_find_attachment(node, volume_id);
    CLEANUP(err_freep)
    struct err *not_attached = object ? attachment_check(as_attachment(object), &place)
                                      : err_new(ERR_NOT_FOUND, "no attachment");
    if (!not_attached) {
        CLEANUP(kube_object_unrefp) struct kube_object *attachment = kube_object_ref(object);

        TRY(replica_disk_await_release(self, node, volume_id, deadline));
        TRY(host_check_unused(self, node->host, place.lun));
        volume_fence_release(self, node, attachment, place.lun);
    }
    log_info("volume %s: unstaged from %s", volume_id, path);
    return NULL;
}

struct err *csi_unstage_at(struct task *self, struct node *node, const char *volume_id,
                           const char *path, uint64_t deadline)
{
    TRY(informers_await_first_list(self, node, deadline));
    TRY(volume_looks_close(self, node->looks, volume_id, deadline));
    struct err *err = unstage(self, node, volume_id, path, deadline);
    volume_looks_open(node->looks, volume_id);
    replica_disk_look_again(node, volume_id); /* a replica's by now, where the role went first */
    return err;
}

static struct err *unstage_claimed(struct task *self, struct rpc_call *call,
                                   const Csi__V1__NodeUnstageVolumeRequest *request)
{
    struct node *node = call->ctx;

    TRY(volume_path_check("staging_target_path", request->staging_target_path));
    return csi_unstage_at(self, node, request->volume_id, request->staging_target_path,
                          csi_wait_deadline(node, call));
}

struct err *csi_unstage_volume(struct task *self, struct rpc_call *call, const void *message,
                               void *ret)
{
    const Csi__V1__NodeUnstageVolumeRequest *request = message;
    CLEANUP(csi_release) struct csi_claim claim = {0};

    (void)ret;
    left_mount_called(call->ctx, request->volume_id);
    TRY(csi_claim(call->ctx, request->volume_id, &claim));
    struct err *err = unstage_claimed(self, call, request);
    return err ? err_wrap(err, "volume %s", request->volume_id) : NULL;
}
