#include "controller/attachment/attach.h"

#include <string.h>

#include "controller/attachment/dangling_attach.h"
#include "controller/attachment/disk_look.h"
#include "lib/base/alloc.h"
#include "lib/base/log.h"

/* ---- whether it is still wanted ---- */

/* What was asked for, as it was then. */
struct attach_intent {
    const struct attachment_work *work;
    bool swaps_out; /* for what was leaving */
    enum caching_mode caching;
};

static bool is_leaving(const struct attachment_work *work, const char *disk_id)
{
    for (size_t i = 0; i < work->n_neighbours; i++)
        if (work->neighbours[i].leaving && strcmp(work->neighbours[i].disk_id, disk_id) == 0)
            return true;
    return false;
}

/* One that has left may have come back since, published. */
static bool swap_holds(const struct attach_intent *intent, const struct attachment_work *now)
{
    for (size_t i = 0; intent->swaps_out && i < intent->work->n_neighbours; i++)
        if (intent->work->neighbours[i].leaving &&
            !is_leaving(now, intent->work->neighbours[i].disk_id))
            return false;
    return true;
}

static struct err *find_caching(const struct attachment_work *work, enum caching_mode *ret,
                                bool *ret_accelerator)
{
    CLEANUP(volume_parameters_fini) struct volume_parameters parameters = {0};
    const struct caching_disk disk = volume_disk(work->volume);

    TRY(volume_parse_existing(work->volume, &parameters));
    const char *obstacle = volume_parameters_accelerator_obstacle(&parameters, &disk);
    if (obstacle)
        return err_new(ERR_INVALID, "parameter writeAcceleratorEnabled is not possible with %s",
                       obstacle);
    *ret = caching_of(parameters.caching, &disk);
    *ret_accelerator = parameters.write_accelerator;
    return NULL;
}

/* A disk that has grown meanwhile may have to be attached without a cache. */
static bool caching_holds(const struct attach_intent *intent, const struct attachment_work *now)
{
    enum caching_mode caching = intent->caching;
    bool unchanging;
    CLEANUP(err_freep) struct err *err = find_caching(now, &caching, &unchanging);

    return !err && caching == intent->caching;
}

/* While it waits for its turn, its attachment may be deleted, get another role or lose its LUN, a
 * replica is to wait for its volume's primary, a primary may come that needs its place, and so may
 * disks of somebody else. Then it is asked for again, as it has become, or not at all. */
static bool precondition(void *ctx, const struct cloud_instance *instance)
{
    const struct attach_intent *intent = ctx;
    const struct attachment_work *work = intent->work;
    CLEANUP(attachment_work_fini) struct attachment_work now = {0};

    if (!attachment_work_gather(work->controller, work->object->key, &now))
        return false;
    attachment_work_gather_neighbours(&now);
    now.in.vm_read = true; /* if nothing newer, the model by which it was decided */
    now.in.instance = instance ? instance : work->in.instance;
    return strcmp(now.object->metadata->uid, work->object->metadata->uid) == 0 &&
           now.in.wanted == work->in.wanted && now.in.lun == work->in.lun &&
           attachment_next(&now.in).step == STEP_ATTACH && swap_holds(intent, &now) &&
           caching_holds(intent, &now);
}

/* ---- asking ---- */

/* Its replicas need wait no longer; or they must again. */
static void accepted(void *ctx, bool yes)
{
    const struct attach_intent *intent = ctx;
    struct controller *controller = intent->work->controller;
    const struct kube_object *object = intent->work->object;
    const char *volume = intent->work->attachment->spec->volume_name;
    size_t n;
    struct kube_object *const *objects = attachments_of_volume(controller, volume, &n);

    if (intent->work->in.wanted != ROLE_IS_PRIMARY)
        return;
    attachment_set_accepted(controller, object->key, yes);
    enqueue(controller, REPLICA_QUEUE, volume);
    for (size_t i = 0; i < n; i++)
        if (strcmp(objects[i]->key, object->key) != 0)
            enqueue(controller, ATTACHMENT_QUEUE, objects[i]->metadata->name);
}

static struct err *attach(struct task *self, struct attachment_work *work,
                          const struct attachment_plan *plan, enum cloud_urgency urgency,
                          struct cloud_instance *ret_seen)
{
    struct cloud *cloud = work->controller->cloud;
    struct attach_intent intent = {.work = work, .swaps_out = plan->swaps_out};
    const char *leaving[MAX_LUNS];
    size_t n_leaving = 0;
    bool write_accelerator;

    for (size_t i = 0; plan->swaps_out && i < work->n_neighbours && n_leaving < MAX_LUNS; i++)
        if (work->neighbours[i].leaving)
            leaving[n_leaving++] = work->neighbours[i].disk_id;
    TRY(find_caching(work, &intent.caching, &write_accelerator));
    if (!plan->swaps_out)
        attachment_work_forget_neighbours(work);
    return cloud->ops->disk_attach(self, cloud,
                                   &(struct cloud_attach){
                                       .instance_id = work->instance_id,
                                       .disk_id = work->in.disk_id,
                                       .lun = plan->lun,
                                       .caching = intent.caching,
                                       .write_accelerator = write_accelerator,
                                       .urgency = urgency,
                                       .swap_out = leaving,
                                       .n_swap_out = n_leaving,
                                       .precondition = precondition,
                                       .accepted = accepted,
                                       .ctx = &intent,
                                       .seen = ret_seen,
                                   });
}

/* ---- what a refusal tells ---- */

/* That a node is full may be news: disks of others have come, or what its VM can take was a wrong
 * guess. It is on record before the refusal is, on which kubelet asks the node for its limit. */
void attach_look_up_limit(struct task *self, const struct attachment_work *work)
{
    struct controller *controller = work->controller;
    const char *node = work->attachment->spec->node_name;
    CLEANUP(freep) char *key = kube_key(controller->settings.namespace_, node);
    CLEANUP(err_freep) struct err *err = reconcile_limit(self, controller, key);

    if (err)
        log_warning("node %s: its limit of disks cannot be looked up: %s", node, err_message(err));
}

/* What the disk itself says: somebody may have converted it, or left it fewer shares, which is on
 * record before the next attempt; it may have just been created; or it is in somebody's way,
 * attached where nobody uses it. `ret_passes`: so the refusal will pass, or is no more. */
static struct err *ask_disk(struct task *self, const struct attachment_work *work,
                            enum err_kind refusal, bool *ret_passes, bool *ret_ended)
{
    struct controller *controller = work->controller;
    CLEANUP(cloud_disk_fini) struct cloud_disk disk = {0};

    TRY(controller->cloud->ops->disk_get(self, controller->cloud, work->in.disk_id, &disk));
    bool differs = volume_is_created(work->volume) && disk_differs(work->volume, &disk);
    *ret_passes = differs || refusal == ERR_NOT_FOUND;
    if (differs)
        return disk_look_request(self, controller, work->volume_object);
    return refusal == ERR_BUSY ? dangling_attach_end(self, work, &disk, ret_ended) : NULL;
}

/* Only a disk that is not there is surely not found the next time. */
static struct err *learn_from_disk(struct task *self, const struct attachment_work *work,
                                   struct err *refusal)
{
    enum err_kind kind = err_kind(refusal);
    bool passes = false, ended = false;
    CLEANUP(err_freep) struct err *err = ask_disk(self, work, kind, &passes, &ended);

    if (err && err_kind(err) != ERR_NOT_FOUND)
        log_warning("%s: cannot find out why Azure does not attach the disk: %s", work->object->key,
                    err_message(err));
    if (err && kind == ERR_NOT_FOUND)
        passes = err_is_transient(err);
    if (!ended)
        return passes ? err_as(refusal, ERR_BUSY) : refusal;
    err_free(refusal);
    return NULL;
}

static struct err *learn_from_refusal(struct task *self, struct attachment_work *work,
                                      struct err *refusal)
{
    switch (err_kind(refusal)) {
    case ERR_EXHAUSTED:
        attach_look_up_limit(self, work);
        return refusal;
    case ERR_INVALID:
    case ERR_NOT_FOUND:
    case ERR_BUSY:
        return learn_from_disk(self, work, refusal);
    default:
        return refusal;
    }
}

struct err *attach_disk(struct task *self, struct attachment_work *work,
                        const struct attachment_plan *plan, enum cloud_urgency urgency,
                        struct cloud_instance *ret_seen, bool *ret_attached)
{
    struct err *err = attach(self, work, plan, urgency, ret_seen);

    *ret_attached = !err;
    return err ? learn_from_refusal(self, work, err) : NULL;
}
