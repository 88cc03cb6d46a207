#include "node/left_mount.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/rt/backoff.h"
#include "node/csi_service.h"
#include "node/informers.h"
#include "node/running_job.h"
#include "node/volume_tasks.h"
#include "provisioner-lib/host/host_worker.h"
#include "provisioner-lib/host/partition.h"
#include "provisioner-lib/host/shutdown.h"
#include "provisioner-lib/records/fence_note.h"

#define STAGING_FOLDER "/globalmount" /* as kubelet names it, for each volume */

enum {
    BACKOFF_LEAST_MS = 5 * 1000,
    BACKOFF_MOST_MS = 5 * 60 * 1000,
    BUSY_MS = 1000,          /* between looks whether a call has ended */
    CALLED_MS = 10 * 1000,   /* in which kubelet calls for what it knows of */
    PATIENCE_MS = 60 * 1000, /* for a look at the volume (volume_looks.h) */
};

/* A volume of which the disk is here. */
struct left_mount {
    struct list link;
    struct node *node;
    const char *volume;    /* id in lower case */
    unsigned known_life;   /* of kubelet's, in which it has called for the volume; 0: none */
    unsigned settled_life; /* in which nothing of it was left; 0: none */
    uint64_t again;        /* loop_now() time before which nothing is tried */
    struct backoff backoff;
};

/* ---- the volume ---- */

static bool is_due(const Api__AzVolumeAttachment *attachment)
{
    return strcmp(attachment_state(attachment), STATE_ATTACHED) == 0 &&
           attachment_lun(attachment) != NO_LUN && !kube_is_deleting(attachment->metadata);
}

/* Its attachment, in whatever role, borrowed; NULL if the disk is not here. */
static struct kube_object *attached(const struct left_mount *left)
{
    struct kube_object *object = informers_find_attachment(left->node, left->volume);

    return object && is_due(as_attachment(object)) ? object : NULL;
}

/* Whether it is this node's to use, so that no other node writes to the disk. */
static bool is_ours(const struct left_mount *left)
{
    const struct kube_object *object = attached(left);

    return object && attachment_wants(as_attachment(object), ROLE_PRIMARY) &&
           attachment_is(as_attachment(object), ROLE_PRIMARY);
}

static bool is_known(const struct left_mount *left)
{
    return left->known_life == left->node->kubelet_lives;
}

static bool is_suspect(const struct left_mount *left)
{
    return !is_known(left) && left->settled_life != left->node->kubelet_lives;
}

/* ---- where it is mounted ---- */

bool left_mount_is_staging(const struct mount_entry *newest, const struct mount_entry *other)
{
    const char *folder = newest->target ? strrchr(newest->target, '/') : NULL;

    return folder && strcmp(folder, STAGING_FOLDER) == 0 && strcmp(newest->root, "/") == 0 &&
           !other->target;
}

struct look {
    const struct device_roots *roots;
    unsigned lun;
    struct device disk;
    char *path; /* NULL: it is not mounted, or a pod has it */
};

#define LOOK_NONE ((struct look){.disk = DEVICE_NONE})

static void look_fini(struct look *look)
{
    device_close(&look->disk);
    free(look->path);
}

static struct err *look_blocking(void *arg)
{
    struct look *look = arg;
    CLEANUP(mount_entry_fini) struct mount_entry newest = {0};
    CLEANUP(mount_entry_fini) struct mount_entry other = {0};

    TRY(device_find(look->roots, look->lun, &look->disk));
    TRY(partition_find_mount(look->roots, look->disk.number, &newest));
    if (newest.target)
        TRY(mount_table_other(&newest, &other));
    if (left_mount_is_staging(&newest, &other))
        look->path = TAKE_PTR(newest.target);
    return NULL;
}

static struct err *look(struct task *self, const struct left_mount *left, struct look *ret)
{
    struct host *host = left->node->host;
    const struct kube_object *object = attached(left);

    if (!object)
        return NULL;
    ret->roots = host_device_roots(host);
    ret->lun = (unsigned)attachment_lun(as_attachment(object));
    return err_unless(host_on_worker(self, host, look_blocking, ret), ERR_NOT_FOUND);
}

/* ---- taking it away ---- */

/* A call that has the volume is one of a kubelet that is gone, or began before it was known that
 * the disk is here: one of this kubelet's would have made the volume known. */
static struct err *claim(struct task *self, const struct left_mount *left, bool shut_down)
{
    struct node *node = left->node;

    for (;;) {
        struct err *busy = in_flight_begin(&node->volumes, left->volume);

        if (!busy || !is_suspect(left) || !(shut_down || is_ours(left)))
            return busy;
        err_free(busy);
        TRY(err_unless(wait_for_change(self, &node->changed, loop_deadline(node->loop, BUSY_MS)),
                       ERR_TIMEOUT));
    }
}

/* Nobody publishes it meanwhile. */
static struct err *unstage_claimed(struct task *self, const struct left_mount *left, bool shut_down)
{
    struct node *node = left->node;
    CLEANUP(look_fini) struct look seen = LOOK_NONE;

    TRY(look(self, left, &seen));
    if (!seen.path || !is_suspect(left))
        return NULL;
    if (!shut_down && !is_ours(left))
        return err_new(ERR_BUSY, "the volume has just been given away");
    return csi_unstage_at(self, node, left->volume, seen.path,
                          loop_deadline(node->loop, PATIENCE_MS));
}

static struct err *unstage(struct task *self, const struct left_mount *left, bool shut_down)
{
    TRY(claim(self, left, shut_down));
    struct err *err = unstage_claimed(self, left, shut_down);
    in_flight_end(&left->node->volumes, left->volume);
    return err;
}

/* As long as it is on record the disk stays nobody else's, which kubelet says that it may be. That
 * is until nothing has the disk in use any more, or kubelet calls for the volume (running_job.c).
 */
static struct err *unstage_on_record(struct task *self, const struct left_mount *left,
                                     const char *path)
{
    struct node *node = left->node;
    CLEANUP(kube_object_unrefp) struct kube_object *attachment = kube_object_ref(attached(left));

    log_warning("volume %s: kubelet has begun anew, and does not call for what is still mounted at "
                "%s: it is unmounted",
                left->volume, path);
    TRY(running_job_begin(self, node, attachment, RUNNING_JOB_UNMOUNT));
    struct err *err = unstage(self, left, false);
    running_job_leave(node, attachment);
    return err;
}

/* What a call of the former kubelet still writes ends with it. */
static struct err *unstage_given_away(struct task *self, const struct left_mount *left,
                                      const struct look *seen)
{
    struct node *node = left->node;
    uint64_t key = fence_note_last_key(as_attachment(attached(left)));

    log_warning("volume %s: kubelet has begun anew, and what is still mounted at %s is another "
                "node's to use by now: it is unmounted, and unless the disk still has this node's "
                "fence, without what waits to be written",
                left->volume, seen->path);
    TRY(host_shut_down(self, node->host, &seen->disk, key));
    return unstage(self, left, true);
}

/* First without the claim: no call is to be told for nothing that the volume is busy. */
static struct err *settle(struct task *self, const struct left_mount *left)
{
    CLEANUP(look_fini) struct look seen = LOOK_NONE;

    TRY(look(self, left, &seen));
    if (!seen.path || !is_suspect(left) || !attached(left))
        return NULL;
    return is_ours(left) ? unstage_on_record(self, left, seen.path)
                         : unstage_given_away(self, left, &seen);
}

/* A pod that had it when it was looked for may have been taken away since. */
static void try_once(struct task *self, struct left_mount *left)
{
    struct loop *loop = left->node->loop;
    unsigned life = left->node->kubelet_lives;
    uint64_t due = left->again;
    CLEANUP(err_freep) struct err *err = settle(self, left);

    if (!err) {
        if (left->again == due)
            left->settled_life = life;
        backoff_reset(&left->backoff);
    } else if (err_kind(err) == ERR_BUSY) {
        left->again = loop_deadline(loop, BUSY_MS);
    } else if (!task_is_cancelled(self)) {
        left->again = loop_now(loop) + backoff_next(&left->backoff, loop_random(loop));
        log_warning("volume %s: what kubelet may have left mounted is looked for again: %s",
                    left->volume, err_message(err));
    }
}

/* ---- each volume ---- */

/* Before the disk is here kubelet can only wait for it. */
static void run(struct task *self, struct node *node, const char *volume)
{
    bool called = string_set_has(&node->volumes.keys, volume);
    struct left_mount left = {
        .node = node,
        .volume = volume,
        .known_life = called ? node->kubelet_lives : 0,
        .backoff = {.least_ms = BACKOFF_LEAST_MS, .most_ms = BACKOFF_MOST_MS},
    };

    list_append(&node->left_mounts, &left.link);
    while (!task_is_cancelled(self) && attached(&left)) {
        if (is_suspect(&left) && loop_now(node->loop) >= left.again)
            try_once(self, &left);
        else
            err_free(wait_for_change(self, &node->changed,
                                     is_suspect(&left) ? left.again : TIMER_NEVER));
    }
    list_remove(&left.link);
}

void left_mounts_start(struct node *node, struct task_group *group)
{
    static const struct volume_task_kind kind = {"left mount", is_due, run};

    volume_tasks_start(node, group, &kind);
}

/* ---- what kubelet says ---- */

static struct left_mount *find(const struct node *node, const char *volume_id)
{
    CLEANUP(freep) char *volume = mem_lower(volume_id);

    LIST_FOREACH(&node->left_mounts, link) {
        struct left_mount *left = CONTAINER_OF(link, struct left_mount, link);

        if (strcmp(left->volume, volume) == 0)
            return left;
    }
    return NULL;
}

void left_mounts_kubelet_began(struct node *node)
{
    node->kubelet_lives++;
    LIST_FOREACH(&node->left_mounts, link)
        CONTAINER_OF(link, struct left_mount, link)->again = 0;
    node_changed(node);
}

void left_mount_called(struct node *node, const char *volume_id)
{
    struct left_mount *left = find(node, volume_id);

    if (!left || is_known(left))
        return;
    left->known_life = node->kubelet_lives;
    node_changed(node);
}

/* After a while, in which kubelet may call for it. */
static void look_again(struct left_mount *left)
{
    left->settled_life = 0;
    left->again = loop_deadline(left->node->loop, CALLED_MS);
    node_changed(left->node);
}

/* With the others something may still be under way, and kubelet has unstaged what it is uncertain
 * about (isFinalError in its csi_client.go). */
bool left_mount_is_final(enum err_kind why)
{
    static const int uncertain[] = {
        1,  /* CANCELLED */
        4,  /* DEADLINE_EXCEEDED */
        8,  /* RESOURCE_EXHAUSTED */
        10, /* ABORTED */
        14, /* UNAVAILABLE */
    };
    int status = err_kind_grpc_status(why);

    for (size_t i = 0; i < COUNT_OF(uncertain); i++)
        if (status == uncertain[i])
            return false;
    return true;
}

void left_mount_refused(struct node *node, const char *volume_id, enum err_kind why)
{
    struct left_mount *left = find(node, volume_id);

    if (!left || !left_mount_is_final(why))
        return;
    left->known_life = 0;
    look_again(left);
}

void left_mount_unpublished(struct node *node, const char *volume_id)
{
    struct left_mount *left = find(node, volume_id);

    if (left && !is_known(left))
        look_again(left);
}

bool left_mount_is_known(const struct node *node, const char *volume_id)
{
    const struct left_mount *left = find(node, volume_id);

    return left && left->known_life > 0 && is_known(left);
}
