/* The failover reconciler: gives up nodes of which nothing is heard, or whose Node was deleted,
 * once their disks refuse their writes, or their machines are off, and takes them back when they
 * were started anew (docs/failover.md). The key is the node's, as an AzDriverNode's. */
#include "controller/failover/reconcile.h"

#include <string.h>

#include "controller/cache/colocation.h"
#include "controller/cache/informers.h"
#include "controller/failover/deleted_nodes.h"
#include "controller/failover/extender_pods.h"
#include "controller/failover/machine_look.h"
#include "controller/failover/node_leases.h"
#include "controller/failover/notices.h"
#include "controller/failover/pod_wish.h"
#include "controller/failover/pods.h"
#include "controller/failover/stand_in.h"
#include "controller/failover/taint.h"
#include "controller/failover/work.h"
#include "lib/base/log.h"
#include "lib/base/text.h"
#include "lib/kube/cached_client.h"
#include "lib/kube/node.h"
#include "provisioner-lib/records/status_annotation.h"

#define KUBELET_LEASES "kube-node-lease"

enum {
    MOST_STEPS = 64,
    LOOK_MS = 1000, /* at a Node that was deleted */
};

/* ---- what the API server says ---- */

/* Of none while too many are silent to give one up: an API server in trouble is not asked for the
 * Leases of half of its nodes. */
static struct err *ask_kubelets_lease(struct task *self, struct controller *controller,
                                      const char *node, bool *ret_silent)
{
    CLEANUP(kube_object_unrefp) struct kube_object *lease = NULL;
    bool many = node_leases_overdue_with(controller, node) > failover_most_silent(controller);

    *ret_silent = many;
    if (many || !node_silence_of(controller, node).since)
        return NULL;
    struct err *err =
        kube_get(self, controller->leader_kube, &LEASES, KUBELET_LEASES, node, &lease);
    if (err) /* one that kubelet has never written says nothing of it */
        return err_unless(err, ERR_NOT_FOUND);
    *ret_silent = node_silence_of(controller, node).since &&
                  node_leases_note_kubelet(controller, node, KUBE_AS(Api__Lease, lease));
    return NULL;
}

/* The cache may be behind. */
static struct err *ask_whether_deleted(struct task *self, struct controller *controller,
                                       const char *node, bool *ret)
{
    *ret = false;
    if (store_get(controller->nodes, node) || !deleted_node(controller, node))
        return NULL;
    struct err *err = kube_get(self, controller->leader_kube, &NODES, NULL, node, NULL);
    *ret = err && err_kind(err) == ERR_NOT_FOUND;
    return err_unless(err, ERR_NOT_FOUND);
}

static struct err *look(struct task *self, struct controller *controller, const char *node,
                        struct failover_look *ret)
{
    TRY(ask_kubelets_lease(self, controller, node, &ret->kubelet_is_silent));
    return ask_whether_deleted(self, controller, node, &ret->is_deleted);
}

/* ---- the proof ---- */

static struct err *write_request(struct task *self, struct failover_work *work,
                                 const struct kube_object *attachment, const char *request)
{
    json_t *changes = status_annotation_json(ANNOTATION_PREEMPT_REQUEST, request);

    return cached_patch_status(self, work->controller->leader_kube, work->controller->attachments,
                               attachment, if_unchanged(attachment, changes), NULL);
}

static struct err *ask(struct task *self, struct failover_work *work, size_t i)
{
    const struct failover_disk *disk = &work->disks[i];

    log_info("node %s %s: the node of %s is asked to preempt its key at the disk", work->name,
             work->in.deleted ? "was deleted" : "is silent", disk->to_ask->metadata->name);
    return write_request(self, work, disk->to_ask, disk->request);
}

/* Of a volume that is proven: whatever becomes of the others, nobody waits for it any more. */
static bool has_settled(const struct failover_work *work, size_t i)
{
    return work->volumes[work->unanswered[i].volume].proven;
}

static struct err *withdraw(struct task *self, struct failover_work *work)
{
    bool settled = false;

    for (size_t i = 0; i < work->in.n_unanswered; i++)
        settled |= has_settled(work, i);
    for (size_t i = 0; i < work->in.n_unanswered; i++)
        if (!settled || has_settled(work, i))
            TRY(err_unless(write_request(self, work, work->unanswered[i].attachment, NULL),
                           ERR_NOT_FOUND));
    return NULL;
}

/* ---- giving it up ---- */

/* With the taint, or without: by then it is known whether the node was given up. If it cannot be
 * read, that shows later. */
static void see_node(struct task *self, const struct failover_work *work)
{
    struct controller *controller = work->controller;
    CLEANUP(kube_object_unrefp) struct kube_object *now = NULL;
    CLEANUP(err_freep)
    struct err *err =
        cached_get(self, controller->leader_kube, controller->nodes, NULL, work->name, &now);

    if (!err || err_kind(err) == ERR_NOT_FOUND)
        string_set_remove(&controller->leading->given_up, work->name);
    else if (err_kind(err) != ERR_CANCELED)
        log_warning("node %s: it cannot be seen whether it has its taint: %s", work->name,
                    err_message(err));
}

/* What does not apply was about a Node that has changed since. */
static struct err *patch_node(struct task *self, const struct failover_work *work,
                              const json_t *patch)
{
    struct err *err =
        kube_json_patch(self, work->controller->leader_kube, &NODES, NULL, work->name, patch);

    see_node(self, work);
    return err && err_kind(err) == ERR_INVALID ? err_as(err, ERR_CONFLICT) : err;
}

static struct err *taint(struct task *self, const struct failover_work *work)
{
    CLEANUP(json_decrefp) json_t *patch = failover_taint_patch(work->node);

    return patch_node(self, work, patch);
}

/* A kubelet that is started may be faster; then it is a node like others. */
static struct err *stand_in(struct task *self, const struct failover_work *work)
{
    struct controller *controller = work->controller;
    CLEANUP(json_decrefp) json_t *node = stand_in_json(work->node);
    struct err *err =
        cached_create(self, controller->leader_kube, controller->nodes, NULL, node, NULL);

    see_node(self, work);
    return err;
}

/* The kubelet of a deleted Node goes on. If it stages a volume anew, the plug-in takes the fence
 * back, and what its attachment says of that may be on its way to the cache. */
static struct err *see_fences(struct task *self, const struct failover_work *work)
{
    struct controller *controller = work->controller;

    for (size_t i = 0; i < work->in.n_volumes; i++) {
        CLEANUP(kube_object_unrefp) struct kube_object *now = NULL;

        TRY(err_unless(cached_get(self, controller->leader_kube, controller->attachments,
                                  controller->settings.namespace_,
                                  work->disks[i].attachment->metadata->name, &now),
                       ERR_NOT_FOUND));
    }
    return NULL;
}

/* A pod may have been placed there meanwhile, of whose volumes the cache does not know yet: what
 * was decided holds only if it is decided again thereafter. */
static struct err *give_up(struct task *self, struct failover_work *work, enum failover_step step)
{
    CLEANUP(failover_work_fini) struct failover_work again = {0};

    TRY(informers_catch_up_volume_attachments(self, work->controller));
    if (step == FAILOVER_STAND_IN)
        TRY(see_fences(self, work));
    failover_work_gather(work->controller, work->name, work->look, &again);
    if (!again.node || failover_next(&again.in).step != step)
        return NULL;
    int64_t proven_us = loop_wall_us(work->controller->loop);
    failover_tell_begun(&again);
    string_set_add(&work->controller->leading->given_up, work->name);
    struct err *err = step == FAILOVER_TAINT ? taint(self, &again) : stand_in(self, &again);
    if (err)
        return err_unless(err, ERR_EXISTS);
    failover_tell_given_up(&again, proven_us);
    return NULL;
}

/* ---- the pods that move although it is not given up ---- */

/* What has been proven keeps its fence from now on. */
static struct err *avoid(struct task *self, const struct failover_work *work)
{
    CLEANUP(json_decrefp) json_t *patch = failover_moved_patch(work->node);

    string_set_add(&work->controller->leading->given_up, work->name);
    return patch_node(self, work, patch);
}

/* Why the others stay is told with it: once all of our volumes have moved, nobody looks again. */
static struct err *move(struct task *self, struct failover_work *work,
                        const struct failover_plan *plan)
{
    int64_t proven_us = loop_wall_us(work->controller->loop);

    TRY(failover_pods_move(self, work));
    failover_tell_moved(work, proven_us);
    failover_tell_held_back(work, plan);
    return NULL;
}

/* ---- all that is there ---- */

static void note_volume(void *ctx, const char *volume)
{
    (void)volume;
    *(bool *)ctx = true;
}

/* Kubelet will not say that they have ended, and Kubernetes waits for that. Those without volumes
 * hold nobody up. */
static struct err *release(struct task *self, struct failover_work *work)
{
    struct controller *controller = work->controller;
    struct store_walk walk;
    struct kube_object *object;
    struct err *err = NULL;

    store_walk_begin(&walk, controller->pods);
    while (!err && (object = store_walk_next(&walk))) {
        CLEANUP(kube_object_unrefp) struct kube_object *pod = NULL;
        const Api__Pod *message = KUBE_AS(Api__Pod, object);
        bool has_volume = false;

        if (!message->spec || !same_text(message->spec->node_name, work->name))
            continue;
        pod_each_volume(controller, message, note_volume, &has_volume);
        pod = kube_object_ref(object);
        if (has_volume)
            err = failover_pod_end(self, work, pod->metadata->namespace_, pod->metadata->name);
    }
    store_walk_end(&walk);
    return err;
}

/* Its kernel may write for as long as it has the disk, and no fence outlives those who have it. */
static struct err *detach(struct task *self, struct failover_work *work)
{
    struct controller *controller = work->controller;

    log_info("node %s is given up: its disk of %s is detached", work->name,
             work->left->metadata->name);
    return cached_delete(self, controller->leader_kube, controller->attachments, work->left);
}

static struct err *take_back(struct task *self, struct failover_work *work)
{
    CLEANUP(json_decrefp) json_t *patch = failover_untaint_patch(work->node);

    TRY(patch_node(self, work, patch));
    log_info("node %s was started anew: its taints of failover are removed", work->name);
    return NULL;
}

/* Who has written to it meanwhile may be a kubelet that makes it its own: it is looked at again. */
static struct err *remove_stand_in(struct task *self, struct failover_work *work)
{
    struct controller *controller = work->controller;

    TRY(err_unless(cached_delete(self, controller->leader_kube, controller->nodes, work->node),
                   ERR_CONFLICT));
    failover_end(controller, work->name);
    return NULL;
}

/* ---- the reconciler ---- */

static bool is_first_step(const struct failover_work *work, enum failover_step step)
{
    return !work->in.begun && (step == FAILOVER_ASK || step == FAILOVER_TAINT ||
                               step == FAILOVER_STAND_IN || step == FAILOVER_AVOID);
}

/* Before anything else: no step may wait between its decision and what it writes. */
static void begin(struct task *self, const struct failover_work *work)
{
    failover_tell_begun(work);
    extender_pods_delete(self, work->controller, work->name);
}

static struct err *take_step(struct task *self, struct failover_work *work,
                             const struct failover_plan *plan)
{
    switch (plan->step) {
    case FAILOVER_NONE:
    case FAILOVER_WAIT: /* an answer, or the next read of the Leases, brings it here again */
        return NULL;
    case FAILOVER_HOLD:
        failover_tell_held_back(work, plan);
        return NULL;
    case FAILOVER_ASK:
        return ask(self, work, plan->volume);
    case FAILOVER_LOOK:
        machine_look_begin(failover_machine_looks(work->controller), work->node);
        return NULL;
    case FAILOVER_WITHDRAW:
        return withdraw(self, work);
    case FAILOVER_TAINT:
    case FAILOVER_STAND_IN:
        return give_up(self, work, plan->step);
    case FAILOVER_RELEASE:
        return release(self, work);
    case FAILOVER_DETACH:
        return detach(self, work);
    case FAILOVER_AVOID:
        return avoid(self, work);
    case FAILOVER_MOVE:
        return move(self, work, plan);
    case FAILOVER_RETURN:
        return take_back(self, work);
    case FAILOVER_REMOVE:
        return remove_stand_in(self, work);
    }
    abort();
}

/* Reads of Leases bring only silent nodes here. What began for a Node that is there again has
 * ended. */
static void come_again(const struct failover_work *work, const char *key)
{
    struct controller *controller = work->controller;
    bool is_stand_in = work->in.stand_in && !work->in.registered;

    if (work->in.ours || work->in.moved || !work->since)
        string_set_remove(&controller->leading->given_up, work->name);
    if (work->in.deleted ? work->in.n_unreleased > 0 : is_stand_in)
        workqueue_add_at(controller->leading->queues[FAILOVER_QUEUE], key,
                         loop_now(controller->loop) + LOOK_MS);
    else if (work->in.has_node && !work->in.ours && !work->since)
        failover_end(controller, work->name);
}

struct err *reconcile_failover(struct task *self, void *ctx, const char *key)
{
    struct controller *controller = ctx;
    const char *name = strchr(key, '/') + 1;
    struct failover_look found;
    bool more = true;

    TRY(pod_wish_note(self, controller, name));
    TRY(look(self, controller, name, &found));
    for (int i = 0; more && i < MOST_STEPS; i++) {
        CLEANUP(failover_work_fini) struct failover_work work = {0};

        failover_work_gather(controller, name, found, &work);
        come_again(&work, key);
        struct failover_plan plan = failover_next(&work.in);
        if (is_first_step(&work, plan.step)) {
            begin(self, &work);
            continue; /* it is decided anew */
        }
        TRY(take_step(self, &work, &plan));
        more = failover_goes_on(plan.step);
    }
    return NULL;
}

/* ---- whom a change concerns ---- */

static bool is_on(const struct controller *controller)
{
    return controller->leading && controller->leading->node_leases;
}

void failover_of_node(const struct controller *controller, const char *node)
{
    if (is_on(controller))
        enqueue(controller, FAILOVER_QUEUE, node);
}

static const char *answer_of(const struct kube_object *object)
{
    return object ? attachment_annotation(as_attachment(object), ANNOTATION_PREEMPTED) : NULL;
}

/* By the record, as pod_wish_note looks for it. */
static bool has_become_primary(const struct kube_object *before, const struct kube_object *after)
{
    return attachment_is(as_attachment(after), ROLE_PRIMARY) &&
           !(before && attachment_is(as_attachment(before), ROLE_PRIMARY));
}

static bool is_given_up(const struct controller *controller, const char *name)
{
    const struct kube_object *node = store_get(controller->nodes, name);

    return node && (failover_taint_boot_id(KUBE_AS(Api__Node, node)) ||
                    node_has_failed_over(KUBE_AS(Api__Node, node)));
}

void failover_of_attachment(const struct controller *controller, const struct kube_object *before,
                            const struct kube_object *after)
{
    const Api__AzVolumeAttachmentSpec *spec = after ? as_attachment(after)->spec : NULL;
    size_t n;

    if (!is_on(controller) || !spec || !spec->volume_name || !spec->node_name)
        return;
    if (is_given_up(controller, spec->node_name) || has_become_primary(before, after))
        enqueue(controller, FAILOVER_QUEUE, spec->node_name);
    if (same_text(answer_of(before), answer_of(after)))
        return;
    struct kube_object *const *siblings = attachments_of_volume(controller, spec->volume_name, &n);
    for (size_t i = 0; i < n; i++)
        if (siblings[i] != after && as_attachment(siblings[i])->spec->node_name)
            enqueue(controller, FAILOVER_QUEUE, as_attachment(siblings[i])->spec->node_name);
}

void failover_of_volume(const struct controller *controller, const char *volume)
{
    size_t n;
    struct kube_object *const *attachments = attachments_of_volume(controller, volume, &n);

    for (size_t i = 0; i < n; i++) {
        const Api__AzVolumeAttachment *attachment = as_attachment(attachments[i]);

        if (attachment_is(attachment, ROLE_PRIMARY) && attachment->spec->node_name)
            failover_of_node(controller, attachment->spec->node_name);
    }
}

void failover_of_pod(const struct controller *controller, const struct kube_object *pod)
{
    const Api__PodSpec *spec = KUBE_AS(Api__Pod, pod)->spec;

    if (is_on(controller) && spec && spec->node_name &&
        (is_given_up(controller, spec->node_name) ||
         pod_wish_concerns(controller, KUBE_AS(Api__Pod, pod))))
        enqueue(controller, FAILOVER_QUEUE, spec->node_name);
}
