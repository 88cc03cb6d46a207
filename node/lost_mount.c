#include "node/lost_mount.h"

#include <inttypes.h>

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "node/csi_service.h"
#include "node/fence_watch.h"
#include "node/metrics.h"
#include "node/volume_fence.h"
#include "provisioner-lib/host/fence.h"
#include "provisioner-lib/host/host_worker.h"
#include "provisioner-lib/host/partition.h"
#include "provisioner-lib/host/shutdown.h"
#include "provisioner-lib/host/staging.h"
#include "provisioner-lib/records/fence_note.h"

struct look {
    const struct device_roots *roots;
    const struct lost_mount *mount;
    bool in_use;
};

bool lost_mount_is(const Api__AzVolumeAttachment *attachment, uint64_t own,
                   const struct reservation *seen)
{
    const struct fence_claim claim = {.key = own,
                                      .generation = fence_note_generation(attachment),
                                      .used = fence_note_last_key(attachment) == own};

    return fence_loss_see(&(struct fence_loss){0}, &claim, seen);
}

static struct err *look_blocking(void *arg)
{
    struct look *look = arg;

    TRY(partition_any_mounted(look->roots, look->mount->disk->number, &look->in_use));
    return look->in_use ? NULL : staging_is_used(look->mount->staging, &look->in_use);
}

static struct err *read_use(struct task *self, struct node *node, const struct lost_mount *mount,
                            bool *ret)
{
    struct look request = {.roots = host_device_roots(node->host), .mount = mount};

    TRY(host_on_worker(self, node->host, look_blocking, &request));
    *ret = request.in_use;
    return NULL;
}

/* One that cannot be read counts as none, as for taking it (fence.c). */
static struct err *read_loss(struct task *self, struct node *node, const struct lost_mount *mount,
                             uint64_t own, bool *ret)
{
    struct reservation seen;
    CLEANUP(err_freep) struct err *err = host_read_fence(self, node->host, mount->disk, &seen);

    *ret = !err && lost_mount_is(as_attachment(mount->attachment), own, &seen);
    return err && err_kind(err) == ERR_PRECONDITION ? TAKE_PTR(err) : NULL;
}

/* It is on record only when it has ended, so that what fails is done again. */
static struct err *end(struct task *self, struct node *node, const struct lost_mount *mount,
                       uint64_t own)
{
    const Api__AzVolumeAttachment *attachment = as_attachment(mount->attachment);
    CLEANUP(freep) char *note = fence_note_lost(own, fence_note_generation(attachment));

    metric_add(&METRIC_FENCES, 1, "lost");
    log_error("volume %s: the fence is lost: %s is still in use from before another node has taken "
              "it from this one (key " FENCE_KEY_FORMAT "), which must not write to the disk any "
              "more",
              mount->volume_id, mount->disk->path, own);
    TRY(host_shut_down(self, node->host, mount->disk, own));
    return volume_fence_record(self, node, mount->attachment, note);
}

struct err *lost_mount_look(struct task *self, struct node *node, const struct lost_mount *mount)
{
    const Api__AzVolumeAttachment *attachment = as_attachment(mount->attachment);
    bool in_use, is_lost;
    uint64_t own;

    TRY(read_use(self, node, mount, &in_use));
    if (!in_use)
        return NULL;
    if (fence_note_is_lost(attachment)) /* but its end may have failed (fence_watch.h) */
        return host_shut_down(self, node->host, mount->disk, fence_note_last_key(attachment));
    TRY(volume_fence_key(self, node, mount->volume_id, mount->attachment, &own));
    TRY(read_loss(self, node, mount, own, &is_lost));
    return is_lost ? end(self, node, mount, own) : NULL;
}

struct err *lost_mount_remove(struct task *self, struct node *node, const char *volume_id,
                              const char *staging, uint64_t deadline)
{
    struct err *err = csi_unstage_at(self, node, volume_id, staging, deadline);

    return err ? err_wrap(err, "another node has taken over the disk, and what is mounted here "
                               "writes nothing any more; it is mounted anew when no pod has it")
               : NULL;
}
