#include "node/preempt_request.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/base/text.h"
#include "lib/kube/cached_client.h"
#include "lib/rt/backoff.h"
#include "node/informers.h"
#include "node/metrics.h"
#include "node/replica_disk.h"
#include "node/volume_fence.h"
#include "node/volume_record.h"
#include "node/volume_tasks.h"
#include "provisioner-lib/host/fence.h"
#include "provisioner-lib/records/fence_note.h"

enum {
    BACKOFF_LEAST_MS = 500,
    BACKOFF_MOST_MS = 10 * 1000,
    PATIENCE_MS = 2000, /* for what is on its way: the disk's record, its device */
};

const char *preempt_request_of(const Api__AzVolumeAttachment *attachment)
{
    const char *request = attachment_annotation(attachment, ANNOTATION_PREEMPT_REQUEST);
    const char *answer = attachment_annotation(attachment, ANNOTATION_PREEMPTED);
    bool is_replica = attachment_wants(attachment, ROLE_REPLICA) &&
                      attachment_is(attachment, ROLE_REPLICA) &&
                      !kube_is_deleting(attachment->metadata);

    if (!request || !is_replica || strcmp(attachment_state(attachment), STATE_ATTACHED) != 0 ||
        attachment_lun(attachment) == NO_LUN)
        return NULL;
    return same_text(request, answer) ? NULL : request;
}

/* ---- that the request stands ---- */

struct preemption {
    struct node *node;
    const char *volume;
    char *request;
    char *complaint; /* the last that was logged of it; NULL: none */
    struct backoff backoff;
};

/* The attachment that it is made to, borrowed; NULL if it does not stand any more. */
static struct kube_object *stands(const struct preemption *p)
{
    struct kube_object *object = informers_find_attachment(p->node, p->volume);
    const char *request = object ? preempt_request_of(as_attachment(object)) : NULL;

    return request && strcmp(request, p->request) == 0 ? object : NULL;
}

/* ---- the disk ---- */

static struct err *check_keys(const struct preemption *p, uint64_t own, uint64_t former)
{
    if (!former)
        return err_new(ERR_PRECONDITION, "\"%s\" names no key", p->request);
    if (!fence_same_family(own, former))
        return err_new(ERR_PRECONDITION,
                       "key " FENCE_KEY_FORMAT
                       " is none of this volume's; nothing was done to the disk",
                       former);
    if (own == former)
        return err_new(ERR_PRECONDITION, "key " FENCE_KEY_FORMAT " is this node's own", own);
    return NULL;
}

/* A file system that was mounted here when this node was the primary, and whose use could not be
 * ended (fence_watch.h), would be written to again. What the plug-in holds nobody has mounted, and
 * it is held until the attachment is no replica's any more. */
static struct err *check_held(const struct preemption *p, const struct device *disk)
{
    bool in_use;

    if (replica_disk_device(p->node, p->volume, &in_use) == disk->number)
        return NULL;
    if (in_use)
        return err_new(ERR_PRECONDITION,
                       "%s is in use on this node, by somebody who could write to it again",
                       disk->path);
    return err_new(ERR_BUSY, "%s is not kept from others on this node yet", disk->path);
}

/* A disk that knows a key of this volume is the volume's, of whatever it may contain. One that does
 * not, as after the former primary's machine has lost it, must have the file system on record. */
static struct err *prove(struct task *self, const struct preemption *p, const struct device *disk,
                         const struct volume_record *record, uint64_t own, uint64_t former)
{
    struct reservation seen;
    struct disk_verdict verdict;
    struct disk_expectation expected = {
        .size = record->size,
        .grown_size = record->grown_size,
        .read_only = true,
        .type = record->filesystem.type,
        .recorded = &record->filesystem,
    };

    TRY(host_read_fence(self, p->node->host, disk, &seen));
    expected.raw = fence_knows_key(&seen, former) || fence_knows_key(&seen, own);
    if (!expected.raw && !record->has_filesystem)
        return err_new(ERR_PRECONDITION,
                       "%s knows no key of this volume, which has no file system on record, so "
                       "nothing proves that it is the volume's disk",
                       disk->path);
    return host_prove(self, p->node->host, disk, disk, &expected, &verdict);
}

static struct err *find(struct task *self, const struct preemption *p,
                        const struct kube_object *attachment, struct volume_record *ret_record,
                        struct device *ret_disk)
{
    struct attachment_place place;
    uint64_t deadline = loop_deadline(p->node->loop, PATIENCE_MS);

    TRY(attachment_place_read(as_attachment(attachment), &place));
    TRY(volume_record_read(self, p->node, attachment, &place, p->volume, deadline, ret_record));
    return host_find(self, p->node->host, place.lun, deadline, ret_disk);
}

static struct err *take(struct task *self, const struct preemption *p,
                        const struct kube_object *attachment, uint64_t *ret_key)
{
    struct volume_record record;
    CLEANUP(device_close) struct device disk = DEVICE_NONE;
    uint64_t own, former = preempt_request_key(p->request);

    TRY(volume_fence_key(self, p->node, p->volume, attachment, &own));
    TRY(check_keys(p, own, former));
    TRY(find(self, p, attachment, &record, &disk));
    TRY(check_held(p, &disk));
    TRY(prove(self, p, &disk, &record, own, former));
    if (!stands(p))
        return err_new(ERR_CANCELED, "the request was withdrawn");
    *ret_key = own;
    return host_succeed_fence(self, p->node->host, &disk, own, former);
}

/* ---- the answer ---- */

/* Of both notes at once: whoever reads that the key is preempted reads who has the fence now. */
static struct err *answer(struct task *self, const struct preemption *p,
                          const struct kube_object *attachment, uint64_t key)
{
    struct node *node = p->node;
    CLEANUP(freep) char *held = fence_note_held(key, preempt_request_key(p->request), 0);
    json_t *changes = json_pack("{s:{s:{s:s, s:s}}}", "status", "annotation", ANNOTATION_FENCE,
                                held, ANNOTATION_PREEMPTED, p->request);
    struct err *err = cached_patch_status(self, node->kube, node->attachments, attachment,
                                          if_same(attachment, changes), NULL);

    return err ? err_wrap(err, "recording it") : NULL;
}

static struct err *preempt(struct task *self, const struct preemption *p)
{
    CLEANUP(kube_object_unrefp) struct kube_object *attachment = kube_object_ref(stands(p));
    uint64_t key = 0;

    TRY(take(self, p, attachment, &key));
    if (!stands(p))
        return err_new(ERR_CANCELED, "the request was withdrawn");
    TRY(answer(self, p, attachment, key));
    log_info("volume %s: the disk refuses the writes of the former primary, as request \"%s\" "
             "wants; this node has the fence",
             p->volume, p->request);
    return NULL;
}

/* ---- trying it ---- */

static const char *result_of(const struct err *err)
{
    if (!err)
        return "done";
    if (err_kind(err) == ERR_UNIMPLEMENTED)
        return "unsupported";
    return err_kind(err) == ERR_PRECONDITION ? "refused" : "failed";
}

/* Once for each reason. */
static void complain(struct preemption *p, const struct err *err)
{
    if (same_text(p->complaint, err_message(err)))
        return;
    log_warning("volume %s: request \"%s\" to refuse the writes of the former primary cannot be "
                "carried out yet: %s",
                p->volume, p->request, err_message(err));
    free(p->complaint);
    p->complaint = mem_strdup(err_message(err));
}

static void try_once(struct task *self, struct preemption *p)
{
    CLEANUP(err_freep) struct err *err = preempt(self, p);

    if (err && err_kind(err) == ERR_CANCELED)
        return;
    metric_add(&METRIC_PREEMPT_REQUESTS, 1, result_of(err));
    if (err)
        complain(p, err);
}

static void await_next(struct task *self, struct preemption *p)
{
    struct loop *loop = p->node->loop;
    uint64_t next = loop_now(loop) + backoff_next(&p->backoff, loop_random(loop));

    while (!task_is_cancelled(self) && stands(p) && loop_now(loop) < next)
        err_free(wait_for_change(self, &p->node->changed, next));
}

static bool is_due(const Api__AzVolumeAttachment *attachment)
{
    return preempt_request_of(attachment) != NULL;
}

static void run(struct task *self, struct node *node, const char *volume)
{
    const struct kube_object *object = informers_find_attachment(node, volume);
    const char *request = object ? preempt_request_of(as_attachment(object)) : NULL;

    if (!request)
        return;
    struct preemption p = {
        .node = node,
        .volume = volume,
        .request = mem_strdup(request),
        .backoff = {.least_ms = BACKOFF_LEAST_MS, .most_ms = BACKOFF_MOST_MS},
    };

    while (!task_is_cancelled(self) && stands(&p)) {
        try_once(self, &p);
        await_next(self, &p);
    }
    free(p.request);
    free(p.complaint);
}

void preempt_requests_start(struct node *node, struct task_group *group)
{
    static const struct volume_task_kind kind = {"preempt request", is_due, run};

    volume_tasks_start(node, group, &kind);
}
