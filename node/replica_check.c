#include "node/replica_check.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/kube/cached_client.h"
#include "lib/rt/errand.h"
#include "node/informers.h"
#include "node/replica_disk.h"
#include "node/replica_verdict.h"
#include "node/volume_record.h"
#include "node/volume_tasks.h"
#include "provisioner-lib/records/status_annotation.h"

enum {
    /* A disk comes a moment before or after the record says so, and a look at one that hangs does
     * not end: a fault counts when it has been there for so long. */
    PATIENCE_MS = 5 * 1000,
    CALM_MS = 1000, /* between looks: news come in plenty */
};

struct replica_check {
    struct list link;
    struct node *node;
    const char *volume; /* id in lower case */
    int lun;            /* of the last step; NO_LUN: it was no replica's */
    bool failed;

    /* The last look. */
    struct errand *errand; /* NULL: it has ended, or there was none */
    bool ended;            /* and nothing has been concluded from it */
    struct replica_sight sight;
    struct err *err;
    uint64_t began;    /* loop_now() time */
    unsigned news;     /* of disks, before it */
    uint64_t at_fault; /* the beginning of the first look since which there was a fault; 0: none */
    uint64_t again;    /* when to look again, if nothing happens */
};

/* ---- what is to be checked ---- */

int replica_check_lun(const Api__AzVolumeAttachment *attachment)
{
    bool attached = strcmp(attachment_state(attachment), STATE_ATTACHED) == 0;

    return attached ? replica_disk_lun(attachment) : NO_LUN;
}

static const char *note_of(const Api__AzVolumeAttachment *attachment)
{
    return attachment_annotation(attachment, ANNOTATION_REPLICA_READY);
}

/* With what is left of one that was a replica's. */
static bool has_work(const Api__AzVolumeAttachment *attachment)
{
    return replica_check_lun(attachment) != NO_LUN ||
           (note_of(attachment) && !kube_is_deleting(attachment->metadata));
}

static struct kube_object *object_of(const struct replica_check *check)
{
    return informers_find_attachment(check->node, check->volume);
}

static int lun_of(const struct replica_check *check)
{
    const struct kube_object *object = object_of(check);

    return object ? replica_check_lun(as_attachment(object)) : NO_LUN;
}

/* A look that hangs is waited for even when there is nothing to check any more, so that there are
 * never two of a volume. */
static bool goes_on(const struct replica_check *check)
{
    const struct kube_object *object = object_of(check);

    return check->errand || (object && has_work(as_attachment(object)));
}

/* ---- a look ---- */

struct look {
    struct readiness_request request;
    struct readiness seen;
    struct err *err;
};

static void look_run(void *arg)
{
    struct look *look = arg;

    look->err = readiness_look(&look->request, &look->seen);
}

static void look_done(void *arg, void *ctx)
{
    struct look *look = arg;
    struct replica_check *check = ctx;

    check->errand = NULL;
    check->ended = true;
    check->sight.hangs = false;
    check->sight.seen = look->seen;
    err_free(check->err);
    check->err = TAKE_PTR(look->err);
    node_changed(check->node);
}

static void look_free(void *arg)
{
    struct look *look = arg;

    err_free(look->err);
    free(look);
}

static uint64_t in_a_while(const struct replica_check *check)
{
    struct loop *loop = check->node->loop;
    uint64_t interval = check->node->settings.replica_check_interval_ms;

    return loop_deadline(loop, interval - interval / 10 +
                                   random_below(loop_random(loop), interval / 5 + 1));
}

static struct err *begin_look(struct replica_check *check, const struct kube_object *object)
{
    static const struct errand_kind kind = {look_run, look_done, look_free};
    struct node *node = check->node;
    struct look *look = mem_alloc(sizeof *look);
    uint64_t size = attachment_disk_size(as_attachment(object));

    check->ended = false;
    check->again = in_a_while(check); /* be it that there is no thread */
    check->began = loop_now(node->loop);
    check->news = host_news(node->host);
    check->sight = (struct replica_sight){.lun = (unsigned)check->lun, .size = size, .hangs = true};
    *look = (struct look){
        .request = {.roots = {"/sys", "/dev"}, .lun = (unsigned)check->lun, .size = size}};
    return errand_start(node->loop, &kind, look, check, &check->errand);
}

/* Until it has ended, hangs, or is of no interest any more. */
static void await_look(struct task *self, const struct replica_check *check)
{
    struct node *node = check->node;
    uint64_t end = check->began + PATIENCE_MS;

    while (check->errand && !task_is_cancelled(self) && lun_of(check) == check->lun &&
           loop_now(node->loop) < end)
        err_free(wait_for_change(self, &node->changed, end));
}

/* ---- what follows from it ---- */

/* `text` NULL takes it away. */
static struct err *write_note(struct task *self, struct node *node,
                              const struct kube_object *attachment, const char *text)
{
    json_t *changes = status_annotation_json(ANNOTATION_REPLICA_READY, text);

    return cached_patch_status(self, node->kube, node->attachments, attachment,
                               if_same(attachment, changes), NULL);
}

static struct err *record(struct task *self, struct replica_check *check,
                          const struct kube_object *object, const char *fault)
{
    struct node *node = check->node;
    CLEANUP(freep)
    char *note = replica_note(note_of(as_attachment(object)), fault, loop_wall_us(node->loop));

    if (!note)
        return NULL;
    TRY(write_note(self, node, object, note));
    if (fault)
        log_warning("volume %s: its replica here is not ready: %s", check->volume, fault);
    else
        log_info("volume %s: its replica here is ready", check->volume);
    return NULL;
}

/* A disk that has been made larger is not a wrong one, though not every record says so yet. */
static struct err *consider_growth(struct task *self, struct replica_check *check,
                                   const struct kube_object *object)
{
    struct replica_sight *sight = &check->sight;
    bool allowed;

    if (!sight->seen.size || sight->seen.size == sight->size)
        return NULL;
    TRY(volume_record_allows_size(self, check->node, object, sight->seen.size, &allowed));
    sight->grown = allowed ? sight->seen.size : 0;
    return NULL;
}

static struct err *conclude(struct task *self, struct replica_check *check,
                            const struct kube_object *object)
{
    struct node *node = check->node;
    struct replica_sight *sight = &check->sight;

    check->ended = false;
    sight->err = check->err;
    sight->held = replica_disk_device(node, check->volume, &sight->in_use);
    TRY(consider_growth(self, check, object));
    CLEANUP(freep) char *fault = replica_fault(sight);
    if (!fault)
        check->at_fault = 0;
    else if (!check->at_fault)
        check->at_fault = check->began;
    if (fault && loop_now(node->loop) - check->at_fault < PATIENCE_MS) {
        check->again = loop_deadline(node->loop, CALM_MS);
        return NULL;
    }
    TRY(record(self, check, object, fault));
    check->failed = fault != NULL;
    return NULL;
}

/* ---- one of them ---- */

static struct err *check_disk(struct task *self, struct replica_check *check,
                              const struct kube_object *object)
{
    bool is_known = check->ended && check->sight.lun == (unsigned)check->lun;

    if (!check->errand && !is_known)
        TRY(begin_look(check, object));
    await_look(self, check);
    if (lun_of(check) != check->lun || task_is_cancelled(self))
        return NULL;
    return conclude(self, check, object);
}

/* It may be promoted, or its disk on its way elsewhere. */
static struct err *end_check(struct task *self, struct replica_check *check,
                             const struct kube_object *object)
{
    check->ended = check->failed = false;
    check->at_fault = 0;
    check->again = TIMER_NEVER;
    if (!object || !has_work(as_attachment(object)))
        return NULL;
    check->again = in_a_while(check);
    return write_note(self, check->node, object, NULL);
}

static void step(struct task *self, struct replica_check *check)
{
    struct kube_object *found = object_of(check);
    CLEANUP(kube_object_unrefp)
    struct kube_object *object = found ? kube_object_ref(found) : NULL;
    int lun = lun_of(check);

    check->lun = lun;
    CLEANUP(err_freep)
    struct err *err =
        lun == NO_LUN ? end_check(self, check, object) : check_disk(self, check, object);
    if (err && err_kind(err) != ERR_NOT_FOUND)
        log_debug("volume %s: whether its replica here is ready cannot be said: %s", check->volume,
                  err_message(err));
}

/* When to take the next step, as things are. */
static uint64_t next_step(const struct replica_check *check)
{
    bool in_use;
    dev_t held = replica_disk_device(check->node, check->volume, &in_use);
    uint64_t soon = check->began + CALM_MS;

    if (check->lun == NO_LUN)
        return check->again;
    if (check->errand)
        return TIMER_NEVER;
    if (check->ended)
        return 0;
    bool changed = held != check->sight.held || in_use != check->sight.in_use ||
                   (check->at_fault && check->news != host_news(check->node->host));
    return changed && soon < check->again ? soon : check->again;
}

static void await_next(struct task *self, const struct replica_check *check)
{
    struct node *node = check->node;

    while (!task_is_cancelled(self) && goes_on(check) && lun_of(check) == check->lun &&
           loop_now(node->loop) < next_step(check))
        err_free(wait_for_change(self, &node->changed, next_step(check)));
}

static void run(struct task *self, struct node *node, const char *volume)
{
    struct replica_check check = {.node = node, .volume = volume, .lun = NO_LUN};

    list_append(&node->replica_checks, &check.link);
    while (!task_is_cancelled(self) && goes_on(&check)) {
        step(self, &check);
        await_next(self, &check);
    }
    if (check.errand)
        errand_abandon(check.errand);
    list_remove(&check.link);
    err_free(check.err);
}

/* ---- all of them ---- */

void replica_checks_start(struct node *node, struct task_group *group)
{
    static const struct volume_task_kind kind = {"replica's check", has_work, run};

    volume_tasks_start(node, group, &kind);
}

unsigned replica_checks_failed(const struct node *node)
{
    unsigned n = 0;

    LIST_FOREACH(&node->replica_checks, link)
        n += CONTAINER_OF(link, struct replica_check, link)->failed;
    return n;
}
