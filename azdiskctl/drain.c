#include "azdiskctl/drain.h"

#include <string.h>

#include "azdiskctl/document.h"
#include "azdiskctl/drain_pods.h"
#include "azdiskctl/heartbeat_limit.h"
#include "azdiskctl/interrupt.h"
#include "azdiskctl/move.h"
#include "azdiskctl/text_table.h"
#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "lib/base/text.h"
#include "lib/rt/wait.h"

enum {
    LOOK_MS = 5000,                   /* between two looks at what is not there yet */
    BUDGET_RETRY_MS = 5000,           /* while evictions are refused */
    REPLICA_PATIENCE_MS = 120 * 1000, /* for replicas that are on their way, in all */
    READY_PATIENCE_MS = 180 * 1000,   /* for a pod's successor, before the next pod's turn */
};

struct drain {
    const struct drain_config *config;
    uint64_t deadline, heartbeat_limit_ms;
    uint64_t patient_until;     /* loop_now() time; 0: no replica was waited for yet */
    struct string_set blocked;  /* uids of pods whose eviction is refused at the moment */
    struct string_set refused;  /* of those of which that was said */
    struct string_set given_up; /* of those that cannot be evicted, or that came back */
    bool cordoned;
    enum drain_step said; /* what is waited for, so that it is said once */
    json_t *pods;         /* of the document: what has come of each */
};

static const char *node_of(const struct drain *drain)
{
    return drain->config->query.pod_node;
}

static void add_outcome(struct drain *drain, const char *pod, const char *outcome, const char *to,
                        const char *why, json_t *move)
{
    json_t *json =
        json_pack("{s:s, s:s, s:s?, s:s?}", "pod", pod, "outcome", outcome, "to", to, "why", why);

    if (move)
        json_object_set_new(json, "move", move);
    json_array_append_new(drain->pods, json);
}

/* ---- the node ---- */

/* Nothing is changed where the driver's records cannot be read: with too few rights, or in another
 * cluster than was meant. */
static struct err *look_first(struct task *self, const struct drain *drain)
{
    CLEANUP(drain_pods_fini) struct drain_pods pods = {0};

    return drain_pods_read(self, drain->config->kube, &drain->config->query,
                           drain->heartbeat_limit_ms, &pods);
}

static struct err *cordon(struct task *self, struct drain *drain)
{
    CLEANUP(kube_object_unrefp) struct kube_object *node = NULL;
    CLEANUP(json_decrefp) json_t *patch = json_pack("{s:{s:b}}", "spec", "unschedulable", 1);
    struct steps *steps = drain->config->steps;

    TRY(kube_get(self, drain->config->kube, &NODES, NULL, node_of(drain), &node));
    const Api__NodeSpec *spec = KUBE_AS(Api__Node, node)->spec;
    if (spec && spec->unschedulable) {
        steps_say(steps, "node %s is cordoned already", node_of(drain));
        return NULL;
    }
    if (drain->config->dry_run)
        return NULL;
    TRY(look_first(self, drain));
    drain->cordoned = true; /* also if the answer is lost */
    TRY(kube_patch(self, drain->config->kube, &NODES, NULL, node_of(drain), NULL, patch, NULL));
    steps_say(steps, "cordoned node %s", node_of(drain));
    return NULL;
}

/* ---- one pod ---- */

static struct err *give_up(struct drain *drain, const struct kube_object *pod, struct err *err)
{
    if (err_kind(err) == ERR_CANCELED)
        return err;
    steps_say(drain->config->steps, "pod %s stays: %s", pod->key, err_message(err));
    add_outcome(drain, pod->key, "stays", NULL, err_message(err), NULL);
    string_set_add(&drain->given_up, pod->metadata->uid);
    err_free(err);
    return NULL;
}

/* True if it may not be evicted at the moment. */
static bool is_blocked(struct drain *drain, const struct kube_object *pod, const struct err *err)
{
    if (!drain_is_refused(err))
        return false;
    if (string_set_add(&drain->refused, pod->metadata->uid))
        steps_say(drain->config->steps, "pod %s may not be evicted yet: %s", pod->key,
                  err_message(err));
    string_set_add(&drain->blocked, pod->metadata->uid);
    return true;
}

/* It would come back each time that it is evicted. */
static void leave(struct drain *drain, struct move *move)
{
    CLEANUP(freep)
    char *why = mem_printf("the pod in its place came to node %s again: what it tolerates and asks "
                           "for brings it there",
                           move->node);

    steps_say(drain->config->steps, "pod %s stays: %s", move->successor, why);
    add_outcome(drain, move->successor, "stays", move->node, why, move_json(move));
    string_set_add(&drain->given_up, move->successor_uid);
}

/* Its successor has its time; a drain does not wait for one that cannot run at all. */
static struct err *follow(struct task *self, struct drain *drain, struct move *move)
{
    uint64_t patience = loop_deadline(loop_of(self), READY_PATIENCE_MS);
    struct err *err =
        move_follow(self, move, patience < drain->deadline ? patience : drain->deadline);

    if (err && err_kind(err) != ERR_TIMEOUT)
        return err;
    if (err)
        steps_say(drain->config->steps, "%s", err_message(err));
    if (same_text(move->node, node_of(drain)))
        leave(drain, move);
    else
        add_outcome(drain, move->pod->key, err ? "not ready" : "moved", move->node,
                    err ? err_message(err) : NULL, move_json(move));
    err_free(err);
    return NULL;
}

static struct err *evict(struct task *self, struct drain *drain, const struct drain_pods *pods,
                         size_t i)
{
    const struct drain_config *config = drain->config;
    const struct kube_object *pod = pods->items[i].pod;
    CLEANUP(move_fini) struct move move = {0};
    struct err *err = move_begin(self, config->kube, config->steps, config->query.object_namespace,
                                 &pods->items[i].chains, &move);

    if (!err)
        err = move_evict(self, &move, drain->deadline);
    if (!err)
        return follow(self, drain, &move);
    if (is_blocked(drain, pod, err)) {
        err_free(err);
        return NULL;
    }
    /* It was not, as far as that is known, and is looked at again. */
    return err_is_transient(err) ? err : give_up(drain, pod, err);
}

/* ---- all of them ---- */

static struct err *await(struct task *self, struct drain *drain, enum drain_step step,
                         const char *why)
{
    struct loop *loop = loop_of(self);

    if (step != drain->said)
        steps_say(drain->config->steps, "waiting: %s", why);
    drain->said = step;
    if (step == DRAIN_AWAIT_REPLICAS && !drain->patient_until)
        drain->patient_until = loop_deadline(loop, REPLICA_PATIENCE_MS);
    if (step == DRAIN_AWAIT_BUDGET)
        string_set_clear(&drain->blocked);
    return task_sleep(self, step == DRAIN_AWAIT_BUDGET ? BUDGET_RETRY_MS : LOOK_MS);
}

static struct err *take_step(struct task *self, struct drain *drain, const struct drain_pods *pods,
                             const struct drain_plan *plan)
{
    const struct drain_candidate *candidate = &pods->items[plan->pod];

    switch (plan->step) {
    case DRAIN_EVICT_SLOW:
        steps_say(drain->config->steps, "warning: pod %s has no ready replica to go to: %s",
                  candidate->pod->key, candidate->why);
        return evict(self, drain, pods, plan->pod);
    case DRAIN_EVICT:
        return evict(self, drain, pods, plan->pod);
    case DRAIN_AWAIT_REPLICAS:
        return await(self, drain, plan->step, candidate->why);
    case DRAIN_AWAIT_BUDGET:
        return await(self, drain, plan->step, "more evictions are not allowed yet");
    case DRAIN_AWAIT_END:
        return await(self, drain, plan->step, "pods are being deleted");
    case DRAIN_DONE:
        return NULL;
    }
    abort();
}

static void say_left(struct drain *drain, const struct drain_pods *pods, const char *outcome)
{
    for (size_t i = 0; i < pods->n; i++)
        if (!string_set_has(&drain->given_up, pods->items[i].pod->metadata->uid))
            add_outcome(drain, pods->items[i].pod->key, outcome, pods->items[i].to,
                        pods->items[i].why, NULL);
}

static bool is_patient(const struct drain *drain, uint64_t now)
{
    return !drain->patient_until || now < drain->patient_until;
}

/* One look at the node, and one step; `ret_more` false at the end. */
static struct err *round_of(struct task *self, struct drain *drain, bool *ret_more)
{
    CLEANUP(drain_pods_fini) struct drain_pods pods = {0};
    uint64_t now = loop_now(loop_of(self));

    TRY(drain_pods_read(self, drain->config->kube, &drain->config->query, drain->heartbeat_limit_ms,
                        &pods));
    drain_pods_mark(&pods, &drain->blocked, &drain->given_up);
    struct drain_plan plan = drain_next(pods.facts, pods.n, is_patient(drain, now));
    *ret_more = plan.step != DRAIN_DONE && now < drain->deadline && !drain->config->dry_run;
    if (*ret_more)
        return take_step(self, drain, &pods, &plan);
    say_left(drain, &pods, drain->config->dry_run ? "would move" : "stays");
    return NULL;
}

/* The API server may be away for a while; what is to be done is looked for anew each time. */
static struct err *bear(struct task *self, struct drain *drain, struct err *err)
{
    struct loop *loop = loop_of(self);

    if (!err)
        return NULL;
    if (!err_is_transient(err) || loop_now(loop) >= drain->deadline)
        return err;
    steps_say(drain->config->steps, "trying again: %s", err_message(err));
    err_free(err);
    return task_sleep(self, LOOK_MS);
}

static struct err *work(struct task *self, void *ctx)
{
    struct drain *drain = ctx;
    bool more = true;

    drain->heartbeat_limit_ms =
        heartbeat_limit_read(self, drain->config->kube, drain->config->query.driver_name);
    TRY(cordon(self, drain));
    while (more)
        TRY(bear(self, drain, round_of(self, drain, &more)));
    return NULL;
}

struct err *drain_json(struct task *self, const struct drain_config *config, json_t **ret)
{
    struct drain drain = {.config = config,
                          .deadline = loop_deadline(loop_of(self), config->timeout_ms),
                          .said = DRAIN_DONE,
                          .pods = json_array()};
    struct err *err = run_interruptible(self, work, &drain);

    if (!err)
        *ret = json_pack("{s:s, s:b, s:O, s:O}", "node", config->query.pod_node, "dryRun",
                         config->dry_run, "steps", config->steps->list, "pods", drain.pods);
    json_decref(drain.pods);
    string_set_clear(&drain.blocked);
    string_set_clear(&drain.refused);
    string_set_clear(&drain.given_up);
    return err && drain.cordoned ? err_wrap(err, "node %s stays cordoned", config->query.pod_node)
                                 : err;
}

/* ---- what is told of it ---- */

bool drain_is_complete(const json_t *drain)
{
    const json_t *pods = json_object_get(drain, "pods");
    bool all = true;

    for (size_t i = 0; i < json_array_size(pods); i++)
        all &= same_text(text_of(json_array_get(pods, i), "outcome"), "moved");
    return all || json_is_true(json_object_get(drain, "dryRun"));
}

static char *note_of(const json_t *pod)
{
    const json_t *move = json_object_get(pod, "move");
    const char *why = text_of(pod, "why");

    return why || !move ? mem_strdup(why ? why : "ready replicas") : move_gap_text(move);
}

void drain_text(const json_t *drain, struct buffer *out)
{
    static const char *const head[] = {"POD", "OUTCOME", "TO", "NOTE"};
    const json_t *pods = json_object_get(drain, "pods");
    struct text_table table = {.columns = COUNT_OF(head)};

    if (json_array_size(pods) == 0) {
        buffer_printf(out, "\nNo pod on node %s had to move.\n", text_of(drain, "node"));
        return;
    }
    text_table_add_row(&table, head);
    for (size_t i = 0; i < json_array_size(pods); i++) {
        const json_t *pod = json_array_get(pods, i);

        text_table_add(&table, text_of(pod, "pod"));
        text_table_add(&table, text_of(pod, "outcome"));
        text_table_add(&table, text_of(pod, "to"));
        text_table_take(&table, note_of(pod));
    }
    buffer_printf(out, "\n");
    text_table_write(&table, "", out);
}
