#include "node/fence_watch.h"

#include <inttypes.h>

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "node/informers.h"
#include "node/metrics.h"
#include "node/node_lease.h"
#include "node/replica_disk.h"
#include "node/volume_fence.h"
#include "node/volume_tasks.h"
#include "provisioner-lib/host/fence.h"
#include "provisioner-lib/host/host_worker.h"
#include "provisioner-lib/host/partition.h"
#include "provisioner-lib/host/shutdown.h"
#include "provisioner-lib/records/fence_note.h"

enum { WITHOUT_LEASE_MS = 10 * 1000 };

struct fence_watch {
    struct node *node;
    const char *volume;
    struct fence_loss loss;
};

/* Nobody takes the own key away but who preempts it. */
static bool was_taken(const struct fence_claim *claim, const struct reservation *seen)
{
    return claim->used && !seen->held && !fence_knows_key(seen, claim->key) &&
           seen->generation > claim->generation;
}

bool fence_loss_see(struct fence_loss *loss, const struct fence_claim *claim,
                    const struct reservation *seen)
{
    uint64_t key = claim->key;
    bool taken_back = seen->held && seen->holder == key && !loss->in_use;

    if (loss->key != key || taken_back)
        *loss = (struct fence_loss){.key = key};
    return loss->told || fence_is_lost(seen, key) || was_taken(claim, seen);
}

/* The attachment with a fence on record, or with one that it has lost while its use goes on,
 * borrowed; NULL if there is none any more. */
static struct kube_object *fenced(const struct fence_watch *watch)
{
    struct kube_object *object = informers_find_attachment(watch->node, watch->volume);
    const Api__AzVolumeAttachment *attachment = object ? as_attachment(object) : NULL;
    bool goes_on = attachment && fence_note_is_lost(attachment) && watch->loss.in_use;

    return attachment && (fence_note_key(attachment) || goes_on) ? object : NULL;
}

/* A call that stages or unstages the volume changes fence and record one after the other. */
static bool is_changing(const struct fence_watch *watch)
{
    return string_set_has(&watch->node->volumes.keys, watch->volume);
}

struct mount_look {
    const struct device_roots *roots;
    dev_t disk;
    bool mounted;
};

static struct err *look_at_mounts(void *arg)
{
    struct mount_look *look = arg;

    return partition_any_mounted(look->roots, look->disk, &look->mounted);
}

/* A raw volume is not mounted, and who has it open cannot be seen. */
static struct err *check_used(struct task *self, const struct fence_watch *watch,
                              const struct kube_object *attachment, const struct device *disk,
                              struct fence_claim *io)
{
    struct host *host = watch->node->host;
    struct mount_look request = {.roots = host_device_roots(host), .disk = disk->number};
    uint64_t key;

    TRY(volume_fence_key(self, watch->node, watch->volume, attachment, &key));
    TRY(host_on_worker(self, host, look_at_mounts, &request));
    io->used = key == io->key && request.mounted;
    return NULL;
}

/* Whether the disk is in use says something where nobody has the fence only. */
static struct err *look(struct task *self, const struct fence_watch *watch,
                        const struct kube_object *attachment, struct device *ret_disk,
                        struct fence_claim *io, struct reservation *ret)
{
    struct host *host = watch->node->host;
    int lun = attachment_lun(as_attachment(attachment));

    if (lun == NO_LUN)
        return err_new(ERR_NOT_FOUND, "its disk has no LUN on record");
    TRY(host_find(self, host, (unsigned)lun, loop_now(watch->node->loop), ret_disk));
    TRY(host_read_fence(self, host, ret_disk, ret));
    return ret->held ? NULL : check_used(self, watch, attachment, ret_disk, io);
}

/* A replica's that nobody on this node can have mounted has lost nothing: its volume has found
 * another primary. */
static void tell(struct fence_watch *watch, uint64_t own, const struct reservation *seen)
{
    CLEANUP(freep)
    char *other = seen->held ? mem_printf("key " FENCE_KEY_FORMAT, seen->holder)
                             : mem_strdup("which is gone again");

    if (replica_disk_is_held(watch->node, watch->volume)) {
        log_info("volume %s: another node (%s) has taken the fence that this node had for its "
                 "replica",
                 watch->volume, other);
    } else {
        metric_add(&METRIC_FENCES, 1, "lost");
        log_error("volume %s: the fence is lost: another node (%s) has taken it from this one "
                  "(key " FENCE_KEY_FORMAT "), which must not write to the disk any more",
                  watch->volume, other, own);
    }
    watch->loss.told = true;
}

/* Whoever cannot reach the API server does this all the same. What has failed is tried again. */
static void end_use(struct task *self, struct fence_watch *watch, const struct device *disk,
                    uint64_t own)
{
    struct fence_loss *loss = &watch->loss;

    if (loss->ended || replica_disk_is_held(watch->node, watch->volume))
        return;
    CLEANUP(err_freep) struct err *err = host_shut_down(self, watch->node->host, disk, own);
    if (err && !loss->in_use)
        log_warning("volume %s: the fence is lost, and the use of the disk could not be ended, "
                    "which is tried again: %s",
                    watch->volume, err_message(err));
    loss->in_use = err != NULL;
    loss->ended = !err;
}

static struct err *check(struct task *self, struct fence_watch *watch)
{
    struct reservation seen;
    CLEANUP(device_close) struct device disk = DEVICE_NONE;
    CLEANUP(kube_object_unrefp) struct kube_object *attachment = kube_object_ref(fenced(watch));
    uint64_t own = fence_note_last_key(as_attachment(attachment));
    struct fence_claim claim = {.key = own,
                                .generation = fence_note_generation(as_attachment(attachment))};

    TRY(look(self, watch, attachment, &disk, &claim, &seen));
    const struct kube_object *now = fenced(watch);
    if (is_changing(watch) || !now || fence_note_last_key(as_attachment(now)) != own)
        return NULL;
    if (!fence_loss_see(&watch->loss, &claim, &seen))
        return NULL;
    if (!watch->loss.told)
        tell(watch, own, &seen);
    end_use(self, watch, &disk, own);
    CLEANUP(freep)
    char *note = fence_note_lost(own, fence_note_generation(as_attachment(attachment)));
    return volume_fence_record(self, watch->node, attachment, note);
}

static void await_next(struct task *self, const struct fence_watch *watch)
{
    struct node *node = watch->node;
    uint64_t period = node_lease_period_ms(&node->settings);
    uint64_t next = loop_deadline(node->loop, period ? period : WITHOUT_LEASE_MS);

    while (!task_is_cancelled(self) && fenced(watch) && loop_now(node->loop) < next)
        err_free(wait_for_change(self, &node->changed, next));
}

static bool is_due(const Api__AzVolumeAttachment *attachment)
{
    return fence_note_key(attachment) != 0;
}

static void run(struct task *self, struct node *node, const char *volume)
{
    struct fence_watch watch = {.node = node, .volume = volume};

    while (!task_is_cancelled(self) && fenced(&watch)) {
        if (!is_changing(&watch)) {
            CLEANUP(err_freep) struct err *err = check(self, &watch);

            if (err)
                log_debug("volume %s: the fence was not looked at: %s", volume, err_message(err));
        }
        await_next(self, &watch);
    }
}

void fence_watch_start(struct node *node, struct task_group *group)
{
    static const struct volume_task_kind kind = {"fence watch", is_due, run};

    volume_tasks_start(node, group, &kind);
}
