#include "scheduler-extender/overdue_gates.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/hash.h"
#include "lib/base/log.h"
#include "lib/base/text.h"
#include "lib/kube/reflector.h"
#include "provisioner-lib/records/placement_gate.h"
#include "scheduler-extender/complaint.h"
#include "scheduler-extender/metrics.h"

enum {
    US_IN_MS = 1000,
    AT_A_TIME = 8,
    RETRY_MS = 1000,
    MOST_MISSES = 2, /* watches are not further behind than so many pauses */
    FAILING_MS = 60 * 1000,
    LOOK_MS = 1000, /* at least so often while there are gates: the wall clock may be set */
    LEAVE_MS = 3000,
};

/* A pod with the gate. */
struct gated_pod {
    char *key, *uid;
    int64_t due_us;  /* when the gate is overdue, or is to be tried again */
    unsigned misses; /* removals that did not apply */
    UT_hash_handle hh;
};

struct overdue_gates {
    struct loop *loop;
    struct kube *kube;
    struct store *pods; /* those that have the gate, and no node */
    struct gated_pod *gated;
    struct waiters changed;
    struct task_group removals;
    bool leaving;
    uint64_t failing_until;
    struct complaint complaint;
};

/* ---- which pods ---- */

static const char *const read_of_pods[] = {
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "metadata.resourceVersion",
    "metadata.creationTimestamp",
    "spec.schedulingGates",
    NULL,
};

static bool is_gated(const struct kube_object *object)
{
    return pod_has_placement_gate(KUBE_AS(Api__Pod, object));
}

static void forget(struct overdue_gates *gates, const char *key)
{
    struct gated_pod *pod;

    HASH_FIND_STR(gates->gated, key, pod);
    if (!pod)
        return;
    HASH_DEL(gates->gated, pod);
    free(pod->key);
    free(pod->uid);
    free(pod);
}

static void remember(struct overdue_gates *gates, const struct kube_object *object)
{
    struct gated_pod *pod = mem_alloc(sizeof *pod);

    pod->key = mem_strdup(object->key);
    pod->uid = mem_strdup(object->metadata->uid ? object->metadata->uid : "");
    pod->due_us = gates->leaving ? 0
                                 : placement_gate_overdue_us(KUBE_AS(Api__Pod, object),
                                                             loop_wall_us(gates->loop));
    HASH_ADD_KEYPTR(hh, gates->gated, pod->key, strlen(pod->key), pod);
}

/* A pod that changes has waited since it was seen first; one of the same name that takes its place
 * has not. */
static void on_pod(void *ctx, struct kube_object *before, struct kube_object *after)
{
    struct overdue_gates *gates = ctx;

    if (before && after && same_text(before->metadata->uid, after->metadata->uid))
        return;
    if (before)
        forget(gates, before->key);
    if (after)
        remember(gates, after);
    waiters_wake(&gates->changed);
}

/* ---- taking one away ---- */

struct removal {
    struct overdue_gates *gates;
    struct kube_object *object;
};

/* What does not apply is about a gate that has gone, as the watch will say soon. If it does not,
 * the patch itself is refused: policies give the same answer. */
static struct err *remove_from(struct task *self, struct overdue_gates *gates,
                               const struct kube_object *object, json_t *patch)
{
    struct err *err = kube_json_patch(self, gates->kube, &PODS, object->metadata->namespace_,
                                      object->metadata->name, patch);
    struct gated_pod *pod;

    if (!err || err_kind(err) != ERR_INVALID)
        return err;
    HASH_FIND_STR(gates->gated, object->key, pod);
    return pod && same_text(pod->uid, object->metadata->uid) && ++pod->misses > MOST_MISSES
               ? err_as(err, ERR_DENIED)
               : err;
}

/* Somebody else may have been faster. */
static bool is_over(const struct err *err)
{
    return err_kind(err) == ERR_INVALID || err_kind(err) == ERR_NOT_FOUND;
}

/* What has failed here may be removed by somebody else, upon which nothing is tried that would show
 * that it works again: so a failure counts for a while only. */
static void note(struct overdue_gates *gates, const struct err *err)
{
    bool failed = err && !is_over(err);

    metrics_count_gate(err);
    gates->failing_until = failed ? loop_deadline(gates->loop, FAILING_MS) : 0;
}

static void remove_gate(struct task *self, void *arg)
{
    CLEANUP(freep) struct removal *removal = arg;
    CLEANUP(kube_object_unrefp) struct kube_object *object = removal->object;
    CLEANUP(json_decrefp) json_t *patch = placement_gate_removal(KUBE_AS(Api__Pod, object));

    if (!patch)
        return;
    CLEANUP(err_freep)
    struct err *err = remove_from(self, removal->gates, object, patch);
    note(removal->gates, err);
    if (!err)
        log_info("pod %s: its scheduling gate " PLACEMENT_GATE " was overdue and is removed",
                 object->key);
    else if (!is_over(err) && complaint_is_due(&removal->gates->complaint, removal->gates->loop))
        log_warning("pod %s: cannot remove its scheduling gate " PLACEMENT_GATE ": %s", object->key,
                    err_message(err));
}

/* Waits until there is room. */
static void start_removal(struct task *self, struct overdue_gates *gates, struct gated_pod *pod)
{
    struct kube_object *object = store_get(gates->pods, pod->key);

    pod->due_us = loop_wall_us(gates->loop) + (int64_t)RETRY_MS * US_IN_MS;
    if (!object)
        return;
    struct removal *removal = mem_alloc(sizeof *removal);
    *removal = (struct removal){gates, kube_object_ref(object)};
    group_spawn(&gates->removals, "placement gate", remove_gate, removal);
    while (gates->removals.n_members >= AT_A_TIME && !task_is_cancelled(self))
        err_free(wait_for_change(self, &gates->removals.ended, TIMER_NEVER));
}

/* ---- watching over all ---- */

/* One that is due; otherwise NULL, and when to look again. */
static struct gated_pod *find_due(const struct overdue_gates *gates, uint64_t *ret_look)
{
    int64_t now_us = loop_wall_us(gates->loop);

    *ret_look = gates->gated ? loop_deadline(gates->loop, LOOK_MS) : TIMER_NEVER;
    HASH_FOREACH(gates->gated, pod) {
        if (pod->due_us <= now_us)
            return pod;
        uint64_t due = loop_deadline(gates->loop, (uint64_t)(pod->due_us - now_us) / US_IN_MS + 1);
        if (due < *ret_look)
            *ret_look = due;
    }
    return NULL;
}

static void watch_over(struct task *self, void *arg)
{
    struct overdue_gates *gates = arg;

    while (!task_is_cancelled(self)) {
        uint64_t look;
        struct gated_pod *pod = find_due(gates, &look);

        if (pod)
            start_removal(self, gates, pod);
        else
            err_free(wait_for_change(self, &gates->changed, look));
    }
    group_close(self, &gates->removals);
}

struct overdue_gates *overdue_gates_start(struct loop *loop, struct task_group *group,
                                          const struct overdue_gates_config *config)
{
    struct overdue_gates *gates = mem_alloc(sizeof *gates);

    gates->loop = loop;
    gates->kube = config->kube;
    gates->pods = store_new(&PODS);
    waiters_init(&gates->changed);
    group_init(&gates->removals, loop);
    store_observe(gates->pods, on_pod, gates);
    reflector_start(group, &(struct reflector_config){
                               .kube = config->kube,
                               .field_selector = "spec.nodeName=",
                               .keep = read_of_pods,
                               .wanted = is_gated,
                               .store = gates->pods,
                               .failed = config->failed,
                               .ctx = config->ctx,
                           });
    group_spawn(group, "placement gates", watch_over, gates);
    return gates;
}

bool overdue_gates_are_removed(const struct overdue_gates *gates)
{
    return store_is_synced(gates->pods) && loop_now(gates->loop) >= gates->failing_until;
}

void overdue_gates_leave(struct task *self, struct overdue_gates *gates)
{
    uint64_t deadline = loop_deadline(gates->loop, LEAVE_MS);

    gates->leaving = true;
    HASH_FOREACH(gates->gated, pod)
        pod->due_us = 0;
    waiters_wake(&gates->changed);
    while (gates->gated && loop_now(gates->loop) < deadline)
        err_free(wait_for_change(self, &gates->changed, deadline));
}

void overdue_gates_free(struct overdue_gates *gates)
{
    if (!gates)
        return;
    HASH_FOREACH(gates->gated, pod)
        forget(gates, pod->key);
    store_free(gates->pods);
    free(gates);
}
