#include "node/replica_disk.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "node/informers.h"
#include "node/volume_tasks.h"

enum {
    LOOK_AGAIN_MS = 60 * 1000, /* without news */
    CALM_MS = 1000,            /* between looks at one that is held: news come in plenty */
};

struct replica_disk {
    struct list link;
    struct node *node;
    const char *volume; /* id in lower case */
    int lun;            /* where it was looked for */
    struct device device;
    uint64_t looked; /* loop_now() time */
    unsigned news;   /* of disks, before the look */
    bool again;      /* it may have become free since that began */
    bool held;
    dev_t number; /* of what is held, as of the last look; 0: nothing */
    bool in_use;  /* by somebody else */
};

int replica_disk_lun(const Api__AzVolumeAttachment *attachment)
{
    const char *state = attachment_state(attachment);
    bool is_replica = attachment_wants(attachment, ROLE_REPLICA) &&
                      attachment_is(attachment, ROLE_REPLICA) &&
                      !kube_is_deleting(attachment->metadata);

    /* The device comes before it is on record that the disk is attached. */
    if (!is_replica || (strcmp(state, STATE_ATTACHED) != 0 && strcmp(state, STATE_ATTACHING) != 0))
        return NO_LUN;
    /* Whether the program has ended is seen by claiming the disk. */
    if (attachment_annotation(attachment, ANNOTATION_RUNNING_JOB))
        return NO_LUN;
    return attachment_lun(attachment);
}

static int lun_of(const struct replica_disk *disk)
{
    const struct kube_object *object = informers_find_attachment(disk->node, disk->volume);

    return object ? replica_disk_lun(as_attachment(object)) : NO_LUN;
}

/* ---- one of them ---- */

static void note(struct replica_disk *disk, const struct err *err)
{
    bool in_use = err && err_kind(err) == ERR_PRECONDITION;

    if (in_use && !disk->in_use)
        log_warning("volume %s: the disk of its replica (LUN %d) has been claimed by somebody else "
                    "on this node, who has it still when it is promoted: %s",
                    disk->volume, disk->lun, err_message(err));
    else if (!err && !disk->held)
        log_info("volume %s: %s (LUN %d) is a replica's, and is kept from others", disk->volume,
                 disk->device.path, disk->lun);
    dev_t number = err ? 0 : disk->device.number;
    if (in_use != disk->in_use || number != disk->number)
        node_changed(disk->node);
    disk->in_use = in_use;
    disk->number = number;
    disk->held = !err;
}

static void look(struct task *self, struct replica_disk *disk, int lun)
{
    struct host *host = disk->node->host;

    disk->lun = lun;
    disk->news = host_news(host);
    disk->again = false;
    CLEANUP(err_freep) struct err *err = host_hold(self, host, (unsigned)lun, &disk->device);
    disk->looked = loop_now(disk->node->loop);
    note(disk, err);
}

/* When to look again, as things are. */
static uint64_t next_look(const struct replica_disk *disk)
{
    if (!disk->again && host_news(disk->node->host) == disk->news)
        return disk->looked + LOOK_AGAIN_MS;
    return disk->held ? disk->looked + CALM_MS : disk->looked;
}

static void await_look(struct task *self, struct replica_disk *disk)
{
    struct node *node = disk->node;

    while (!task_is_cancelled(self) && lun_of(disk) == disk->lun &&
           loop_now(node->loop) < next_look(disk))
        err_free(wait_for_change(self, &node->changed, next_look(disk)));
}

static bool is_due(const Api__AzVolumeAttachment *attachment)
{
    return replica_disk_lun(attachment) != NO_LUN;
}

static void hold(struct task *self, struct node *node, const char *volume)
{
    struct replica_disk disk = {
        .node = node, .volume = volume, .lun = NO_LUN, .device = DEVICE_NONE};
    int lun;

    list_append(&node->replica_disks, &disk.link);
    while (!task_is_cancelled(self) && (lun = lun_of(&disk)) != NO_LUN) {
        look(self, &disk, lun);
        await_look(self, &disk);
    }
    host_let_go(self, node->host, &disk.device);
    list_remove(&disk.link);
    node_changed(node);
}

/* ---- all of them ---- */

static struct replica_disk *find(const struct node *node, const char *volume)
{
    LIST_FOREACH(&node->replica_disks, link) {
        struct replica_disk *disk = CONTAINER_OF(link, struct replica_disk, link);

        if (strcmp(disk->volume, volume) == 0)
            return disk;
    }
    return NULL;
}

static void pass_news(struct task *self, void *arg)
{
    struct node *node = arg;

    while (!task_is_cancelled(self)) {
        err_free(host_await_news(self, node->host, host_news(node->host), TIMER_NEVER));
        node_changed(node);
    }
}

void replica_disks_start(struct node *node, struct task_group *group)
{
    static const struct volume_task_kind kind = {"replica's disk", is_due, hold};

    volume_tasks_start(node, group, &kind);
    group_spawn(group, "news of disks", pass_news, node);
}

struct err *replica_disk_await_release(struct task *self, struct node *node, const char *volume_id,
                                       uint64_t deadline)
{
    CLEANUP(freep) char *volume = mem_lower(volume_id);

    while (find(node, volume)) {
        CLEANUP(err_freep) struct err *err = wait_for_change(self, &node->changed, deadline);

        if (err && err_kind(err) == ERR_TIMEOUT)
            return err_new(ERR_TIMEOUT, "timed out: the disk, which was a replica's until now, is "
                                        "still being looked at");
        TRY(TAKE_PTR(err));
    }
    return NULL;
}

void replica_disk_look_again(struct node *node, const char *volume_id)
{
    CLEANUP(freep) char *volume = mem_lower(volume_id);
    struct replica_disk *disk = find(node, volume);

    if (!disk || disk->held)
        return;
    disk->again = true;
    node_changed(node);
}

bool replica_disk_is_held(const struct node *node, const char *volume_id)
{
    CLEANUP(freep) char *volume = mem_lower(volume_id);
    const struct replica_disk *disk = find(node, volume);

    return disk && disk->held;
}

dev_t replica_disk_device(const struct node *node, const char *volume, bool *ret_in_use)
{
    const struct replica_disk *disk = find(node, volume);

    *ret_in_use = disk && disk->in_use;
    return disk ? disk->number : 0;
}

unsigned replica_disks_held(const struct node *node)
{
    unsigned n = 0;

    LIST_FOREACH(&node->replica_disks, link)
        n += CONTAINER_OF(link, struct replica_disk, link)->held;
    return n;
}

unsigned replica_disks_in_use(const struct node *node)
{
    unsigned n = 0;

    LIST_FOREACH(&node->replica_disks, link)
        n += CONTAINER_OF(link, struct replica_disk, link)->in_use;
    return n;
}
