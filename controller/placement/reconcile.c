#include "controller/placement/reconcile.h"

#include <stdlib.h>
#include <string.h>

#include "controller/metrics.h"
#include "controller/placement/reservations.h"
#include "controller/placement/snapshot.h"
#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/base/timestamp.h"
#include "lib/kube/pod_claim.h"
#include "provisioner-lib/records/placement_gate.h"
#include "provisioner-lib/records/switchover.h"

enum {
    CALL_MS = 2 * 1000, /* so that all of them fit into the time that a gate may last */
    WISH_MS = 500,      /* no further claim is read then: a pod may name thousands */
    AGAIN_MS = 1000,
};

/* Of a pod whose proposal could not be written. */
#define NOT_WRITTEN "Error"

/* ---- a switchover's wish ---- */

static struct err *read_wish(struct task *self, const struct controller *controller,
                             const char *claim, char **ret_node)
{
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;
    const char *slash = strchr(claim, '/');
    CLEANUP(freep) char *namespace_ = mem_strndup(claim, (size_t)(slash - claim));

    TRY(kube_get(self, controller->leading->placement_kube, &PERSISTENT_VOLUME_CLAIMS, namespace_,
                 slash + 1, &object));
    *ret_node = switchover_node(kube_annotation(object->metadata, ANNOTATION_SWITCHOVER),
                                loop_wall_us(controller->loop));
    return NULL;
}

/* The node that the first of the pod's claims asks for, as in the extender; NULL if none does, or
 * it cannot be known. free() it. */
static char *wished_node(struct task *self, const struct controller *controller,
                         const Api__Pod *pod)
{
    uint64_t deadline = loop_deadline(controller->loop, WISH_MS);
    size_t n = pod->spec ? pod->spec->n_volumes : 0;
    char *node = NULL;

    for (size_t i = 0; i < n && !node && loop_now(controller->loop) < deadline; i++) {
        CLEANUP(freep) char *claim = pod_claim_key(pod, pod->spec->volumes[i]);
        CLEANUP(err_freep)
        struct err *err = claim ? read_wish(self, controller, claim, &node) : NULL;

        if (err) {
            log_debug("pod %s: reading its claim %s failed: %s", pod->metadata->name, claim,
                      err_message(err));
            break;
        }
    }
    return node;
}

/* ---- the pick ---- */

/* What is proposed for a pod, or why nothing is. */
struct proposal {
    enum pick_result result;
    char *node; /* of PICK_NODE; owned */
    unsigned attached, attaching, n_disks;
};

static void proposal_fini(struct proposal *proposal)
{
    free(proposal->node);
}

/* Its places are reserved at once: the next pod is picked for before this one is on record. */
static void keep(struct controller *controller, const char *key, const struct placement_work *work,
                 struct pick pick, struct proposal *ret)
{
    *ret = (struct proposal){.result = pick.result, .n_disks = (unsigned)work->n_volumes};
    if (pick.result != PICK_NODE) {
        reservations_end(controller, key);
        return;
    }
    const struct pick_node *node = &work->nodes[pick.node];
    ret->node = mem_strdup(node->name);
    ret->attached = node->disks.attached;
    ret->attaching = node->disks.attaching;
    reservations_make(controller, key, node->name, work->volumes, work->n_volumes);
}

/* The gates of others may hold it back for hours: what is known now is old then, and a place that
 * is reserved for it is missed by others. */
static bool is_held_by_others(const Api__Pod *pod)
{
    return pod->spec->n_scheduling_gates > 1;
}

static void pick_for(struct task *self, struct controller *controller, const char *key,
                     const Api__Pod *pod, struct proposal *ret)
{
    CLEANUP(placement_work_fini) struct placement_work work = {0};
    CLEANUP(freep) char *wished = NULL;

    if (is_held_by_others(pod)) {
        ret->result = PICK_HELD;
        return;
    }
    placement_work_gather(controller, pod, NULL, &work);
    if (work.n_nodes > 1) { /* there is something to wish for */
        wished = wished_node(self, controller, pod);
        placement_work_fini(&work); /* what it points to was of before the calls */
        placement_work_gather(controller, pod, wished, &work);
    }
    keep(controller, key, &work, pick_node(work.nodes, work.n_nodes, (unsigned)work.n_volumes),
         ret);
}

/* ---- what is written ---- */

static struct err *nominate(struct task *self, const struct controller *controller,
                            const struct kube_object *pod, const struct proposal *proposal)
{
    CLEANUP(json_decrefp)
    json_t *patch = json_pack("{s:{s:s}, s:{s:s}}", "metadata", "uid", pod->metadata->uid, "status",
                              "nominatedNodeName", proposal->node);

    return kube_patch(self, controller->leading->placement_kube, &PODS, pod->metadata->namespace_,
                      pod->metadata->name, "status", patch, NULL);
}

/* What does not apply was about a pod whose gate has gone since. But gates only ever go: if the
 * patch would still be the same, it did apply, and it is a policy that gives this answer. */
static struct err *why_refused(struct task *self, const struct controller *controller,
                               const struct kube_object *pod, const json_t *patch, struct err *err)
{
    CLEANUP(kube_object_unrefp) struct kube_object *now = NULL;
    CLEANUP(err_freep)
    struct err *unread = kube_get(self, controller->leading->placement_kube, &PODS,
                                  pod->metadata->namespace_, pod->metadata->name, &now);
    CLEANUP(json_decrefp)
    json_t *same = unread ? NULL : placement_gate_removal(KUBE_AS(Api__Pod, now));

    return err_as(err, same && json_equal(same, patch) ? ERR_DENIED : ERR_CONFLICT);
}

static struct err *ungate(struct task *self, const struct controller *controller,
                          const struct kube_object *pod)
{
    CLEANUP(json_decrefp) json_t *patch = placement_gate_removal(KUBE_AS(Api__Pod, pod));

    if (!patch)
        return err_new(ERR_INTERNAL, "pod %s has no uid", pod->key);
    struct err *err = kube_json_patch(self, controller->leading->placement_kube, &PODS,
                                      pod->metadata->namespace_, pod->metadata->name, patch);
    return err && err_kind(err) == ERR_INVALID ? why_refused(self, controller, pod, patch, err)
                                               : err;
}

/* ---- what is said ---- */

static void note_duration(const struct controller *controller, const Api__ObjectMeta *metadata)
{
    int64_t made_us = timestamp_noted(metadata->creation_timestamp);
    int64_t lasted_us = loop_wall_us(controller->loop) - made_us;

    if (made_us && lasted_us >= 0) /* the clocks may differ */
        metric_observe(&METRIC_GATE_SECONDS, (double)lasted_us / 1e6, NULL);
}

static void tell(const struct controller *controller, const struct kube_object *pod,
                 const struct proposal *proposal, const char *reason)
{
    note_duration(controller, pod->metadata);
    if (reason) {
        metric_add(&METRIC_PODS_UNGATED, 1, reason);
        log_info("pod %s: removed the scheduling gate without a proposal: %s", pod->key, reason);
        return;
    }
    metric_add(&METRIC_PODS_NOMINATED, 1, NULL);
    log_info("pod %s: proposed node %s, which has %u of %u disks, and %u on the way", pod->key,
             proposal->node, proposal->attached, proposal->n_disks, proposal->attaching);
    events_record(controller->events, &PODS, pod->metadata, EVENT_NORMAL, "NodeProposed",
                  "Placement",
                  "Node %s is proposed to the scheduler: of the pod's disks (%u), %u are attached "
                  "there and %u are being attached",
                  proposal->node, proposal->n_disks, proposal->attached, proposal->attaching);
}

/* ---- the reconciler ---- */

/* The cache is behind: the pod is gone, or another one has its name. */
static bool is_of_no_pod(const struct err *err)
{
    return err_kind(err) == ERR_CANCELED || err_kind(err) == ERR_NOT_FOUND ||
           err_kind(err) == ERR_CONFLICT;
}

static struct err *place(struct task *self, struct controller *controller,
                         const struct kube_object *pod)
{
    CLEANUP(proposal_fini) struct proposal proposal = {0};

    pick_for(self, controller, pod->key, KUBE_AS(Api__Pod, pod), &proposal);
    const char *reason = proposal.result == PICK_NODE ? NULL : pick_result_word(proposal.result);
    CLEANUP(err_freep)
    struct err *err = reason ? NULL : nominate(self, controller, pod, &proposal);

    if (err && is_of_no_pod(err))
        return TAKE_PTR(err);
    if (err) {
        log_warning("pod %s: proposing node %s failed: %s", pod->key, proposal.node,
                    err_message(err));
        reservations_end(controller, pod->key);
        reason = NOT_WRITTEN;
    }
    TRY(ungate(self, controller, pod));
    tell(controller, pod, &proposal, reason);
    return NULL;
}

static bool waits(const struct kube_object *object)
{
    return object && pod_has_placement_gate(KUBE_AS(Api__Pod, object)) &&
           !kube_is_deleting(object->metadata);
}

/* The pauses of the queue grow, which is right only where a person has to act: a role is missing.
 */
static bool is_worth_haste(const struct err *err)
{
    return err_kind(err) != ERR_CANCELED && err_kind(err) != ERR_DENIED;
}

struct err *reconcile_placement(struct task *self, void *ctx, const char *key)
{
    struct controller *controller = ctx;
    struct kube_object *known = store_get(controller->pods, key);

    if (!waits(known))
        return NULL;
    CLEANUP(kube_object_unrefp) struct kube_object *pod = kube_object_ref(known);
    struct err *err = err_unless(place(self, controller, pod), ERR_NOT_FOUND);
    if (err && is_worth_haste(err))
        workqueue_add_at(controller->leading->queues[PLACEMENT_QUEUE], key,
                         loop_deadline(controller->loop, AGAIN_MS));
    return err;
}

/* ---- which pods ---- */

void placement_of_pod(const struct controller *controller, const struct kube_object *pod)
{
    if (controller->leading && controller->leading->placement_kube && waits(pod))
        workqueue_add(controller->leading->queues[PLACEMENT_QUEUE], pod->key);
}

void placement_of_all(const struct controller *controller)
{
    STORE_FOREACH(controller->pods, pod)
        placement_of_pod(controller, pod);
}

/* ---- the life of it ---- */

void placement_start(struct controller *controller)
{
    if (controller->settings.placement != PLACEMENT_NOMINATE)
        return;
    controller->leading->placement_kube = kube_urgent(controller->leader_kube, CALL_MS);
    controller->leading->reserved_places = reservations_new();
}

void placement_stop(struct controller *controller)
{
    kube_free(TAKE_PTR(controller->leading->placement_kube));
    reservations_free(TAKE_PTR(controller->leading->reserved_places));
}
