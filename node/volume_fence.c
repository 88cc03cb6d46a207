#include "node/volume_fence.h"

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/base/text.h"
#include "lib/kube/cached_client.h"
#include "lib/kube/cluster_id.h"
#include "node/boot_id.h"
#include "node/metrics.h"
#include "provisioner-lib/host/fence.h"
#include "provisioner-lib/records/fence_note.h"
#include "provisioner-lib/records/status_annotation.h"

/* ---- taking it ---- */

static struct err *read_cluster_id(struct task *self, struct node *node)
{
    char *id;

    if (node->cluster_id)
        return NULL;
    TRY(kube_cluster_id(self, node->kube, &id));
    free(node->cluster_id); /* another call may have been faster */
    node->cluster_id = id;
    return NULL;
}

struct err *volume_fence_key(struct task *self, struct node *node, const char *volume_id,
                             const struct kube_object *attachment, uint64_t *ret)
{
    CLEANUP(freep) char *boot_id = NULL, *disk = mem_lower(volume_id);

    TRY(read_cluster_id(self, node));
    TRY(boot_id_read(&boot_id));
    CLEANUP(freep)
    char *family = mem_printf("%s %s %s", node->settings.driver_name, node->cluster_id, disk);
    CLEANUP(freep)
    char *member =
        mem_printf("%s %s %s", node->settings.node_id, boot_id, attachment->metadata->uid);
    *ret = fence_key(family, member);
    return NULL;
}

struct err *volume_fence_record(struct task *self, struct node *node,
                                const struct kube_object *attachment, const char *note)
{
    if (same_text(attachment_annotation(as_attachment(attachment), ANNOTATION_FENCE), note))
        return NULL;
    struct err *err = cached_patch_status(
        self, node->kube, node->attachments, attachment,
        if_same(attachment, status_annotation_json(ANNOTATION_FENCE, note)), NULL);
    return err ? err_wrap(err, "recording the fence") : NULL;
}

static struct err *without_fence(struct task *self, struct node *node,
                                 const struct fenced_volume *volume, const struct err *unreadable)
{
    metric_add(&METRIC_FENCES, 1, "unsupported");
    if (unreadable)
        log_warning("volume %s: %s may have persistent reservations that cannot be read: %s",
                    volume->id, volume->disk->path, err_message(unreadable));
    TRY(volume_fence_record(self, node, volume->attachment, FENCE_NOTE_UNSUPPORTED));
    if (volume->record->fencing != FENCING_REQUIRED)
        return NULL;
    if (unreadable)
        return err_new(ERR_PRECONDITION,
                       "parameter fencing: required asks for persistent reservations, and those of "
                       "%s cannot be read: %s",
                       volume->disk->path, err_message(unreadable));
    return err_new(ERR_PRECONDITION,
                   "%s supports no persistent reservations, which parameter fencing: required asks "
                   "for; VM sizes whose disks are NVMe devices are among those that have none",
                   volume->disk->path);
}

static struct err *with_fence(struct task *self, struct node *node,
                              const struct fenced_volume *volume, uint64_t key,
                              const struct fence *fence)
{
    CLEANUP(freep)
    char *note =
        fence_note_taken(as_attachment(volume->attachment), key, fence->former, fence->generation);

    metric_add(&METRIC_FENCES, 1, "held");
    return volume_fence_record(self, node, volume->attachment, note);
}

/* One that has never had a fence, such as one that a release without fences has mounted, is used
 * on. One that had it is not the same any more: that it was taken has been looked for
 * (lost_mount.h), but a disk that has forgotten all does not say so. */
static struct err *in_use_without(const struct fenced_volume *volume, uint64_t key)
{
    if (fence_note_key(as_attachment(volume->attachment)) == key)
        return err_new(ERR_PRECONDITION,
                       "%s is in use, and does not know the fence any more that it had when it was "
                       "mounted; it gets another one when it was unstaged",
                       volume->device->path);
    log_info("volume %s: %s is in use already, and gets its fence when it is staged next",
             volume->id, volume->device->path);
    return NULL;
}

struct err *volume_fence_take(struct task *self, struct node *node,
                              const struct fenced_volume *volume, uint64_t *ret_key)
{
    CLEANUP(fence_fini) struct fence fence = {0};
    uint64_t key;

    *ret_key = 0;
    if (volume->record->fencing == FENCING_NONE)
        return NULL;
    TRY(volume_fence_key(self, node, volume->id, volume->attachment, &key));
    struct err *err = host_take_fence(self, node->host, volume->disk, volume->device,
                                      volume->staging, key, &fence);
    if (err && err_kind(err) == ERR_PRECONDITION)
        metric_add(&METRIC_FENCES, 1, "refused");
    TRY(err);
    switch (fence.state) {
    case FENCE_IN_PLACE:
        TRY(with_fence(self, node, volume, key, &fence));
        *ret_key = key;
        return NULL;
    case FENCE_UNSUPPORTED:
        return without_fence(self, node, volume, fence.unreadable);
    default:
        return in_use_without(volume, key);
    }
}

/* ---- giving it up ---- */

/* A fence that was lost has left the disk closed to writes on this machine (shutdown.h), which ends
 * with it. Its key the disk does not know any more, and the new holder's is none of this node's; so
 * the note goes, whatever becomes of the rest: whoever reads the disk next would be refused by it.
 */
static struct err *release(struct task *self, struct node *node,
                           const struct kube_object *attachment, unsigned lun)
{
    uint64_t key = fence_note_last_key(as_attachment(attachment));
    CLEANUP(err_freep)
    struct err *err = key ? host_release_fence(self, node->host, lun, key) : NULL;

    if (!err || fence_note_is_lost(as_attachment(attachment)))
        TRY(volume_fence_record(self, node, attachment, NULL));
    return TAKE_PTR(err);
}

/* From whom it was taken never gave it up, and may live on with the volume mounted: it would write
 * again as soon as nobody has the fence. */
void volume_fence_release(struct task *self, struct node *node, struct kube_object *attachment,
                          unsigned lun)
{
    CLEANUP(kube_object_unrefp) struct kube_object *kept = kube_object_ref(attachment);

    if (fence_note_former(as_attachment(kept)))
        return;
    CLEANUP(err_freep) struct err *err = release(self, node, kept, lun);
    if (err && err_kind(err) != ERR_NOT_FOUND)
        log_warning("%s: the disk still has this node's reservation, or is still read-only here: "
                    "%s",
                    kept->metadata->name, err_message(err));
}
