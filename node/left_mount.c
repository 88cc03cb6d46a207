#include "node/left_mount.h"

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

#define STAGING_FOLDER "/globalmount" /* as kubelet names it, for each volume */

enum {
    BACKOFF_LEAST_MS = 5 * 1000,
    BACKOFF_MOST_MS = 5 * 60 * 1000,
    PATIENCE_MS = 60 * 1000, /* for a look at the volume (volume_looks.h) */
};

/* A volume of this node's. */
struct left_mount {
    struct list link;
    struct node *node;
    const char *volume;  /* id in lower case */
    unsigned known_life; /* of kubelet's, in which it knows what is mounted; 0: none */
    uint64_t again;      /* loop_now() time before which nothing is tried */
    struct backoff backoff;
};

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
    char *path; /* NULL: it is not mounted, or a pod has it */
};

static struct err *look_blocking(void *arg)
{
    struct look *look = arg;
    CLEANUP(device_close) struct device disk = DEVICE_NONE;
    CLEANUP(mount_entry_fini) struct mount_entry newest = {0};
    CLEANUP(mount_entry_fini) struct mount_entry other = {0};

    TRY(device_find(look->roots, look->lun, &disk));
    TRY(partition_find_mount(look->roots, disk.number, &newest));
    if (newest.target)
        TRY(mount_table_other(&newest, &other));
    if (left_mount_is_staging(&newest, &other))
        look->path = TAKE_PTR(newest.target);
    return NULL;
}

static bool is_due(const Api__AzVolumeAttachment *attachment)
{
    struct attachment_place place;
    CLEANUP(err_freep) struct err *not_ready = attachment_check(attachment, &place);

    return !not_ready;
}

/* The attachment, borrowed; NULL if the volume is not this node's to use. */
static struct kube_object *ours(const struct left_mount *left)
{
    struct kube_object *object = informers_find_attachment(left->node, left->volume);

    return object && is_due(as_attachment(object)) ? object : NULL;
}

/* `ret_path` is the caller's to free; NULL if nothing is left mounted. */
static struct err *look(struct task *self, const struct left_mount *left, char **ret_path)
{
    struct host *host = left->node->host;
    const struct kube_object *object = ours(left);

    if (!object)
        return NULL;
    struct look request = {.roots = host_device_roots(host),
                           .lun = (unsigned)attachment_lun(as_attachment(object))};
    struct err *err = host_on_worker(self, host, look_blocking, &request);
    *ret_path = request.path;
    return err_unless(err, ERR_NOT_FOUND);
}

/* ---- taking it away ---- */

static bool is_suspect(const struct left_mount *left)
{
    return left->known_life != left->node->kubelet_lives;
}

/* As long as it is on record the disk stays nobody else's, which kubelet says that it may be. */
static struct err *unstage(struct task *self, struct node *node, const char *volume,
                           struct kube_object *object, const char *path)
{
    CLEANUP(kube_object_unrefp) struct kube_object *attachment = kube_object_ref(object);

    log_warning("volume %s: kubelet has begun anew, and does not call for what is still mounted at "
                "%s: it is unmounted",
                volume, path);
    TRY(running_job_begin(self, node, attachment, "unmount"));
    struct err *err =
        csi_unstage_at(self, node, volume, path, loop_deadline(node->loop, PATIENCE_MS));
    running_job_end(self, node, attachment);
    return err;
}

/* Nobody publishes it meanwhile. */
static struct err *unstage_if_left(struct task *self, struct left_mount *left)
{
    CLEANUP(freep) char *path = NULL;

    TRY(look(self, left, &path));
    struct kube_object *object = ours(left);
    return path && object ? unstage(self, left->node, left->volume, object, path) : NULL;
}

/* First without the claim: no call is to be told for nothing that the volume is busy. */
static struct err *settle(struct task *self, struct left_mount *left)
{
    struct node *node = left->node;
    CLEANUP(freep) char *path = NULL;

    TRY(look(self, left, &path));
    if (!path || !is_suspect(left))
        return NULL;
    TRY(in_flight_begin(&node->volumes, left->volume));
    struct err *err = unstage_if_left(self, left);
    in_flight_end(&node->volumes, left->volume);
    return err;
}

static void try_once(struct task *self, struct left_mount *left)
{
    struct loop *loop = left->node->loop;
    unsigned life = left->node->kubelet_lives;
    CLEANUP(err_freep) struct err *err = settle(self, left);

    if (!err || err_kind(err) == ERR_BUSY) { /* a call has it */
        left->known_life = life;
        backoff_reset(&left->backoff);
        return;
    }
    left->again = loop_now(loop) + backoff_next(&left->backoff, loop_random(loop));
    log_warning("volume %s: what kubelet may have left mounted is looked for again: %s",
                left->volume, err_message(err));
}

/* ---- each volume ---- */

static void run(struct task *self, struct node *node, const char *volume)
{
    struct left_mount left = {
        .node = node,
        .volume = volume,
        .backoff = {.least_ms = BACKOFF_LEAST_MS, .most_ms = BACKOFF_MOST_MS},
    };

    list_append(&node->left_mounts, &left.link);
    while (!task_is_cancelled(self) && ours(&left)) {
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

void left_mounts_kubelet_began(struct node *node)
{
    node->kubelet_lives++;
    LIST_FOREACH(&node->left_mounts, link)
        CONTAINER_OF(link, struct left_mount, link)->again = 0;
    node_changed(node);
}

void left_mount_called(struct node *node, const char *volume)
{
    LIST_FOREACH(&node->left_mounts, link) {
        struct left_mount *left = CONTAINER_OF(link, struct left_mount, link);

        if (strcmp(left->volume, volume) == 0)
            left->known_life = node->kubelet_lives;
    }
}
