/* The AzVolumeAttachment reconciler: takes one step after the other of attachment/plan.h. */

#include <stdlib.h>
#include <string.h>

#include "controller/attachment/attach.h"
#include "controller/attachment/attacher_calls.h"
#include "controller/attachment/disk_owner.h"
#include "controller/attachment/failed_attach.h"
#include "controller/attachment/snapshot.h"
#include "controller/attachment/status.h"
#include "lib/base/alloc.h"
#include "lib/kube/cached_client.h"
#include "lib/kube/node.h"
#include "provisioner-lib/records/names.h"

enum {
    MAX_STEPS = 16,           /* in one go; the longest life has about half as many */
    MODEL_AGE_MS = 60 * 1000, /* of a VM's model that nobody changed through us */
    REQUEUE_MS = 2 * 1000,    /* at a VM that is changing */
    /* At a full VM, for primaries: nobody says when somebody else's disk leaves it. All that wait
     * share a read, so that many of them do not use up what may be read. */
    FULL_REQUEUE_MS = 8 * 1000,
    FULL_MODEL_AGE_MS = 5 * 1000,
};

/* The record knows better than the Node where the LUN is that it names. */
static struct err *identify(struct attachment_work *work)
{
    const char *recorded = attachment_annotation(work->attachment, ANNOTATION_VM);

    if (work->instance_id)
        return NULL;
    if (!recorded)
        return attachment_work_find_vm(work, &work->instance_id);
    work->instance_id = mem_strdup(recorded);
    return NULL;
}

static enum cloud_urgency urgency_of(const struct attachment_work *work)
{
    const struct attachment_snapshot *in = &work->in;

    if (!in->deleting)
        return in->wanted == ROLE_IS_PRIMARY ? CLOUD_FOR_PRIMARY : CLOUD_FOR_REPLICA;
    /* Who unpublishes a volume waits for it; so does a primary that needs its share or its place.
     */
    bool waited_for = in->detach_requested || in->primary_waits;
    for (size_t i = 0; i < in->n_neighbours; i++)
        waited_for |= in->neighbours[i].waits;
    return waited_for ? CLOUD_IN_THE_WAY : CLOUD_COLLECTION;
}

/* Whether what is attached still is, nobody waits to know. */
static enum cloud_urgency urgency_of_read(const struct attachment_work *work)
{
    bool verifies = !work->in.deleting && work->in.state == ATTACHMENT_ATTACHED;

    return verifies ? CLOUD_COLLECTION : urgency_of(work);
}

static void forget_instance(struct attachment_work *work)
{
    cloud_instance_fini(&work->instance); /* which leaves an empty one */
    work->in.instance = NULL;
}

static struct err *read_vm(struct task *self, struct attachment_work *work, uint64_t max_age_ms,
                           bool *ret_found)
{
    struct controller *controller = work->controller;

    forget_instance(work);
    struct err *err =
        controller->cloud->ops->instance_get(self, controller->cloud, work->instance_id, max_age_ms,
                                             urgency_of_read(work), &work->instance);
    *ret_found = !err;
    if (err && err_kind(err) == ERR_NOT_FOUND) {
        err_free(err);
        return NULL;
    }
    return err;
}

/* What was asked takes time: the rest is gathered again, so that what is decided next is decided on
 * what is true now. False if the attachment is gone meanwhile, or is another one by now: what was
 * read is about the VM of the former. (Of volume "a-b" on node "c" and volume "a" on node "b-c",
 * one has a name that the other has when the first is gone.) */
static bool gather_again(struct attachment_work *work, bool found)
{
    struct attachment_work fresh = {0};

    if (!attachment_work_gather(work->controller, work->object->key, &fresh) ||
        strcmp(fresh.object->metadata->uid, work->object->metadata->uid) != 0) {
        attachment_work_fini(&fresh);
        return false;
    }
    attachment_work_gather_neighbours(&fresh);
    fresh.instance_id = TAKE_PTR(work->instance_id);
    free(fresh.boot_id);
    fresh.boot_id = TAKE_PTR(work->boot_id);
    fresh.instance = work->instance;
    fresh.in.vm_read = work->in.vm_read;
    fresh.in.vm_refreshed = work->in.vm_refreshed;
    fresh.in.owner = work->in.owner;
    work->instance = (struct cloud_instance){0};
    attachment_work_fini(work);
    *work = fresh;
    work->in.instance = found ? &work->instance : NULL;
    return true;
}

/* The VM has a change, or is free for the next one: others may be coming, to be one with it. */
static void expect_others(const struct attachment_work *work)
{
    attacher_calls_expect(work->controller, work->attachment->spec->node_name, work->instance_id);
}

static void tell_forced(const struct attachment_work *work)
{
    events_record(
        work->controller->events, &AZ_VOLUME_ATTACHMENTS, work->object->metadata, EVENT_WARNING,
        "DetachedByForce", "Detach",
        "Disk %s was detached from %s by force: node %s has the taint " TAINT_OUT_OF_SERVICE
        ", and an earlier change of the VM did not end",
        work->in.disk_id, work->instance_id, work->attachment->spec->node_name);
}

static bool is_out_of_service(void *ctx)
{
    return attachment_work_is_out_of_service(ctx);
}

static struct err *detach(struct task *self, struct attachment_work *work)
{
    struct cloud *cloud = work->controller->cloud;
    bool forced = false;
    const struct cloud_detach detach = {
        .instance_id = work->instance_id,
        .disk_id = work->in.disk_id,
        .urgency = urgency_of(work),
        .out_of_service = is_out_of_service,
        .ctx = work,
        .forced = &forced,
    };

    attachment_work_forget_neighbours(work);
    forget_instance(work);
    struct err *err = cloud->ops->disk_detach(self, cloud, &detach);
    expect_others(work);
    if (!err && forced)
        tell_forced(work);
    return err;
}

/* ---- places ---- */

/* Only as it was read: a replica that has been promoted meanwhile stays. */
static struct err *release(struct task *self, struct controller *controller,
                           const struct kube_object *object)
{
    return cached_delete(self, controller->leader_kube, controller->attachments, object);
}

static struct err *preempt(struct task *self, struct attachment_work *work, size_t victim)
{
    const struct kube_object *object = work->neighbour_objects[victim];

    TRY(release(self, work->controller, object));
    events_record(work->controller->events, &AZ_VOLUME_ATTACHMENTS, object->metadata, EVENT_NORMAL,
                  "ReplicaGaveWay", "Detach",
                  "Node %s had no free disk slot; this replica is being detached to make room for "
                  "the primary attachment of volume %s",
                  work->attachment->spec->node_name, work->attachment->spec->volume_name);
    return NULL;
}

/* The replica plan puts it elsewhere, by a limit of this node that is looked up anew. */
static struct err *reschedule(struct task *self, struct attachment_work *work)
{
    struct controller *controller = work->controller;
    CLEANUP(freep)
    char *node = kube_key(controller->settings.namespace_, work->attachment->spec->node_name);

    TRY(reconcile_limit(self, controller, node));
    return release(self, controller, work->object);
}

static struct err *unknown_vm(const struct attachment_work *work)
{
    return err_new(
        ERR_BUSY,
        "disk %s may still be attached to the VM of node %s, which cannot be identified: the Node "
        "is deleted, no record names its VM, and a VM that has the disk does not report its host "
        "name. Detach the disk from that VM, or delete the VM",
        work->in.disk_id, work->attachment->spec->node_name);
}

static struct err *no_slot(const struct attachment_work *work)
{
    unsigned published = 0;

    for (size_t i = 0; i < work->n_neighbours; i++)
        published += work->neighbours[i].published && work->neighbours[i].lun != NO_LUN;
    return err_new(ERR_EXHAUSTED,
                   "node %s has no free disk slot: all %d are taken, %u of them by volumes in use "
                   "on this node, and none by a replica that could be detached",
                   work->attachment->spec->node_name, work->instance.max_disks, published);
}

static void requeue(const struct attachment_work *work, uint64_t pause_ms)
{
    workqueue_add_at(work->controller->leading->queues[ATTACHMENT_QUEUE], work->object->key,
                     loop_now(work->controller->loop) + pause_ms);
}

/* A step that nothing but an error comes of. */
static struct err *cannot(struct task *self, struct attachment_work *work,
                          enum attachment_step step)
{
    switch (step) {
    case STEP_NO_SLOT:
        attach_look_up_limit(self, work);
        requeue(work, FULL_REQUEUE_MS);
        work->has_no_place = true;
        return no_slot(work);
    case STEP_UNKNOWN_VM:
        return unknown_vm(work);
    default:
        return err_new(ERR_PRECONDITION, "node %s has no VM (%s)",
                       work->attachment->spec->node_name, work->instance_id);
    }
}

/* ---- steps ---- */

/* The next change of the VM may have begun by now: until that ends, its model could not be trusted
 * that is read from here. */
static struct err *attach_and_record(struct task *self, struct attachment_work *work,
                                     const struct attachment_plan *plan)
{
    struct cloud_instance seen = {0};
    bool attached;

    struct err *err = attach_disk(self, work, plan, urgency_of(work), &seen, &attached);
    if (!attached)
        failed_attach_take_back(self, work, urgency_of(work));
    expect_others(work);
    TRY(err);
    if (!attached)
        return NULL;
    cloud_instance_fini(&work->instance);
    work->instance = seen;
    if (!gather_again(work, true))
        return NULL;
    struct attachment_plan next = attachment_next(&work->in);
    return next.step == STEP_RECORD_ATTACHED ? status_set_attached(self, work, next.lun) : NULL;
}

/* Of the steps that only write to the status. */
static struct err *(*const STATUS_WRITERS[])(struct task *self, struct attachment_work *work) = {
    [STEP_RECORD_SIZE] = status_set_size,
    [STEP_RECORD_LOST] = status_set_lost,
    [STEP_RECORD_VM] = status_set_vm,
    [STEP_FORGET_VM] = status_set_moved,
    [STEP_RECORD_DETACHING] = status_set_detaching,
};

/* Takes the step. `ret_go_on`: there may be another one right after it. */
static struct err *take_step(struct task *self, struct attachment_work *work,
                             const struct attachment_plan *plan, bool *ret_go_on)
{
    struct controller *controller = work->controller;

    *ret_go_on = true;
    switch (plan->step) {
    case STEP_NONE:
    case STEP_READ_VM: /* these are done by the caller */
    case STEP_REFRESH_VM:
    case STEP_ASK_DISK:
        *ret_go_on = false;
        return NULL;
    case STEP_REQUEUE:
        *ret_go_on = false;
        requeue(work, REQUEUE_MS);
        return NULL;
    case STEP_ADD_FINALIZER:
        return attachment_set_finalizer(self, work, true);
    case STEP_REMOVE_FINALIZER:
        *ret_go_on = false;
        attachment_set_verified(controller, work->object->metadata->uid, false);
        failed_attach_forget(controller, work->object->metadata->uid);
        return attachment_set_finalizer(self, work, false);
    case STEP_RECORD_ATTACHING:
        return status_set_attaching(self, work, plan->lun);
    case STEP_ATTACH:
        return attach_and_record(self, work, plan);
    case STEP_REPAIR:
        return failed_attach_repair(self, work, urgency_of(work));
    case STEP_RECORD_ATTACHED:
        return status_set_attached(self, work, plan->lun);
    case STEP_RECORD_ROLE:
        *ret_go_on = false;
        workqueue_add(controller->leading->queues[ROLE_QUEUE], work->object->key);
        return NULL;
    case STEP_RECORD_SIZE:
    case STEP_RECORD_LOST:
    case STEP_RECORD_VM:
    case STEP_FORGET_VM:
    case STEP_RECORD_DETACHING:
        return STATUS_WRITERS[plan->step](self, work);
    case STEP_RECORD_DISPLACED:
        return status_set_displaced(self, controller, work->neighbour_objects[plan->victim]);
    case STEP_VERIFIED:
        attachment_set_verified(controller, work->object->metadata->uid, true);
        return NULL;
    case STEP_DETACH:
        return detach(self, work);
    case STEP_PREEMPT:
        return preempt(self, work, plan->victim);
    case STEP_RESCHEDULE:
        *ret_go_on = false;
        return reschedule(self, work);
    case STEP_NO_VM:
    case STEP_NO_SLOT:
    case STEP_UNKNOWN_VM:
        return cannot(self, work, plan->step);
    }
    abort();
}

/* ---- on the way to the VM's change ---- */

/* From the first read of the VM until its change is asked for. */
struct approach {
    struct cloud *cloud;
    uint64_t began;    /* when the attachment was taken up */
    char *instance_id; /* NULL: it is not on its way */
};

static void approach_begin(struct approach *approach, const struct attachment_work *work)
{
    bool asks =
        work->in.deleting || work->in.lun == NO_LUN; /* else it looks at what has been done */

    if (approach->instance_id || !asks)
        return;
    approach->instance_id = mem_strdup(work->instance_id);
    approach->cloud->ops->instance_announce(approach->cloud, approach->instance_id, true);
    expect_others(work);
}

static void approach_end(struct approach *approach)
{
    if (!approach->instance_id)
        return;
    approach->cloud->ops->instance_announce(approach->cloud, approach->instance_id, false);
    free(TAKE_PTR(approach->instance_id));
}

/* How old the VM's model may be. A fresh read for what leaves, or of where it was before, is not of
 * before the attachment was taken up; of what nobody has asked the cloud for, all share a read. */
static uint64_t model_age_ms(const struct attachment_work *work, const struct approach *approach,
                             bool anew)
{
    bool asked_for = work->in.lun != NO_LUN || work->in.state == ATTACHMENT_DETACHING;
    bool shares = !work->in.vm_moved && (!work->in.deleting || !asked_for);

    if (!anew)
        return MODEL_AGE_MS;
    return shares ? FULL_MODEL_AGE_MS : loop_now(work->controller->loop) - approach->began;
}

/* Reads the VM's model. How urgent it is that a disk leaves depends on who waits for its place. */
static struct err *read_and_gather(struct task *self, struct attachment_work *work,
                                   const struct approach *approach, bool anew, bool *ret_there)
{
    bool found = false;

    if (work->in.deleting && !work->in.vm_read)
        attachment_work_gather_neighbours(work);
    TRY(read_vm(self, work, model_age_ms(work, approach, anew), &found));
    work->in.vm_read = true;
    work->in.vm_refreshed = anew;
    *ret_there = gather_again(work, found);
    return NULL;
}

/* Asks the disk which VM it is; that one is the work's from then on. */
static struct err *ask_and_gather(struct task *self, struct attachment_work *work, bool *ret_there)
{
    char *id = NULL;

    TRY(disk_owner_find(self, work->controller, work->in.disk_id, work->attachment->spec->node_name,
                        &work->in.owner, &id));
    if (id) {
        free(work->instance_id);
        work->instance_id = id;
    }
    *ret_there = gather_again(work, work->in.instance != NULL);
    return NULL;
}

/* What to do, by as many reads as it takes to know. */
static struct err *decide(struct task *self, struct attachment_work *work,
                          struct approach *approach, struct attachment_plan *ret, bool *ret_there)
{
    *ret_there = true;
    *ret = attachment_next(&work->in);
    while (ret->step == STEP_READ_VM || ret->step == STEP_REFRESH_VM ||
           ret->step == STEP_ASK_DISK) {
        TRY(identify(work));
        approach_begin(approach, work);
        TRY(ret->step == STEP_ASK_DISK
                ? ask_and_gather(self, work, ret_there)
                : read_and_gather(self, work, approach, ret->step == STEP_REFRESH_VM, ret_there));
        if (!*ret_there)
            return NULL;
        *ret = attachment_next(&work->in);
    }
    return NULL;
}

static struct err *one_step(struct task *self, struct controller *controller, const char *key,
                            struct approach *approach, bool *ret_go_on)
{
    CLEANUP(attachment_work_fini) struct attachment_work work = {0};
    struct attachment_plan plan;
    bool there;

    *ret_go_on = false;
    if (!attachment_work_gather(controller, key, &work))
        return NULL;
    struct err *err = decide(self, &work, approach, &plan, &there);
    if (plan.step != STEP_RECORD_ATTACHING && plan.step != STEP_RECORD_DETACHING)
        approach_end(approach);
    if (!err && there)
        err = take_step(self, &work, &plan, ret_go_on);
    return err ? status_set_failure(self, &work, err) : NULL;
}

struct err *reconcile_attachment(struct task *self, void *ctx, const char *key)
{
    const struct controller *controller = ctx;
    CLEANUP(approach_end)
    struct approach approach = {.cloud = controller->cloud, .began = loop_now(controller->loop)};
    bool go_on = true;
    struct err *err = NULL;

    for (int i = 0; !err && go_on && i < MAX_STEPS; i++)
        err = one_step(self, ctx, key, &approach, &go_on);
    attachment_set_accepted(ctx, key, false); /* it is on record by now, or has failed */
    TRY(err);
    if (go_on)
        workqueue_add(controller->leading->queues[ATTACHMENT_QUEUE], key);
    return NULL;
}

struct err *reconcile_role(struct task *self, void *ctx, const char *key)
{
    CLEANUP(attachment_work_fini) struct attachment_work work = {0};

    if (!attachment_work_gather(ctx, key, &work) ||
        attachment_next(&work.in).step != STEP_RECORD_ROLE)
        return NULL;
    struct err *err = status_set_role(self, &work);
    return err ? status_set_failure(self, &work, err) : NULL;
}
