#include "azdiskctl/failover.h"

#include <string.h>

#include "azdiskctl/document.h"
#include "azdiskctl/failover_subject.h"
#include "azdiskctl/heartbeat_limit.h"
#include "azdiskctl/interrupt.h"
#include "azdiskctl/landing.h"
#include "azdiskctl/move.h"
#include "azdiskctl/replica_request.h"
#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "lib/base/text.h"
#include "lib/rt/wait.h"
#include "provisioner-lib/records/switchover.h"

enum {
    US_IN_MS = 1000,
    LOOK_MS = 5000,         /* between two looks at what is not ready yet */
    NOTICE_MS = 1000,       /* until all extenders have seen the wish */
    BUDGET_RETRY_MS = 5000, /* while a PodDisruptionBudget refuses */
};

#define ANNOTATION_PATH "/metadata/annotations/disk.csi.azure.com~1switchover-to"

struct failover {
    const struct failover_config *config;
    uint64_t deadline, heartbeat_limit_ms;
    struct cluster cluster; /* as it was read last */
    struct dependency_chains chains;
    char *claim;     /* its key */
    char *from, *to; /* nodes */
    char *wish;      /* what is noted on the claim; NULL: nothing */
    struct move move;
    bool has_asked; /* for replicas */
    bool blocked;   /* a PodDisruptionBudget has refused, which was said */
};

/* ---- which pod, and where to ---- */

static void forget(struct failover *failover)
{
    dependency_chains_fini(&failover->chains);
    cluster_fini(&failover->cluster);
}

static struct err *read_subject(struct task *self, struct failover *failover)
{
    const struct failover_config *config = failover->config;

    forget(failover);
    TRY(cluster_read(self, config->kube, &config->query, &failover->cluster));
    failover->cluster.heartbeat_limit_ms = failover->heartbeat_limit_ms;
    return failover_subject(&failover->cluster, failover->claim, &failover->chains);
}

/* Replicas on a node that has none, if somebody names it. Once: the controller takes away what does
 * not belong there. */
static struct err *ask_for_replicas(struct task *self, struct failover *failover, const char *why)
{
    const struct failover_config *config = failover->config;
    const char *pod = failover->chains.items[0].pod->key;
    struct loop *loop = loop_of(self);
    uint64_t now = loop_now(loop);
    int64_t left_us = failover->deadline > now ? (int64_t)(failover->deadline - now) * US_IN_MS : 0;

    if (!config->to[0])
        return err_new(
            ERR_PRECONDITION,
            "pod %s would wait for Azure to attach its disk, for no node has replicas of "
            "all of its volumes; for example, %s. Name the node with --to to have them "
            "attached there first",
            pod, why);
    if (failover->has_asked)
        return err_new(ERR_PRECONDITION,
                       "the controller has taken a replica away again that was asked for: pod %s "
                       "could not run there, replicaNodeSelector excludes the node, or the "
                       "controller is of an earlier release (%s)",
                       pod, why);
    TRY(replica_request_check(&failover->cluster, &failover->chains, config->to));
    if (config->dry_run)
        return NULL;
    TRY(replica_request_make(self, config->kube, config->steps, config->query.object_namespace,
                             &failover->chains, config->to, loop_wall_us(loop) + left_us));
    failover->has_asked = true;
    return NULL;
}

/* `ret_why` NULL: it can move to `ret_to` now. Else what has to be waited for; free() both. */
static struct err *choose(struct task *self, struct failover *failover, char **ret_to,
                          char **ret_why)
{
    const struct cluster *cluster = &failover->cluster;
    const char *wanted = failover->config->to, *pod = failover->chains.items[0].pod->key;
    enum landing_state state;
    const char *node =
        *wanted ? wanted : landing_best(cluster, &failover->chains, failover->from, &state);

    if (!node)
        return err_new(ERR_PRECONDITION, "no other node would take pod %s: see kubectl get nodes",
                       pod);
    if (same_text(node, failover->from))
        return err_new(ERR_PRECONDITION, "pod %s is on node %s already", pod, node);
    CLEANUP(freep) char *to = mem_strdup(node);
    struct landing landing = landing_on(cluster, &failover->chains, node);
    CLEANUP(freep) char *why = landing.why;
    if (landing.state == LANDING_UNFIT)
        return err_new(ERR_PRECONDITION, "pod %s cannot move there: %s", pod, why);
    if (landing.state == LANDING_NO_REPLICA)
        TRY(ask_for_replicas(self, failover, why));
    *ret_to = TAKE_PTR(to);
    *ret_why = TAKE_PTR(why);
    return NULL;
}

/* Until a replica is ready; the pod runs meanwhile. `ret_ready` false in a dry run that would wait.
 */
static struct err *settle(struct task *self, struct failover *failover, bool *ret_ready)
{
    CLEANUP(freep) char *said = NULL;

    for (;;) {
        CLEANUP(freep) char *why = NULL, *to = NULL;

        TRY(read_subject(self, failover));
        free(failover->from);
        failover->from =
            mem_strdup(KUBE_AS(Api__Pod, failover->chains.items[0].pod)->spec->node_name);
        TRY(choose(self, failover, &to, &why));
        free(failover->to);
        failover->to = TAKE_PTR(to);
        *ret_ready = !why;
        if (!why)
            return NULL;
        if (failover->config->dry_run) {
            steps_say(failover->config->steps, "replicas would have to become ready first: %s",
                      why);
            return NULL;
        }
        if (loop_now(loop_of(self)) >= failover->deadline)
            return err_new(ERR_PRECONDITION, "pod %s cannot move to node %s yet: %s",
                           failover->chains.items[0].pod->key, failover->to, why);
        if (!same_text(said, why))
            steps_say(failover->config->steps, "waiting for a ready replica: %s", why);
        free(said);
        said = TAKE_PTR(why);
        TRY(task_sleep(self, LOOK_MS));
    }
}

static void say_plan(const struct failover *failover)
{
    const struct dependency_chain *chain = &failover->chains.items[0];
    size_t n = 0;

    for (size_t i = 0; i < failover->chains.n; i++)
        n += chain_is_ours(&failover->chains.items[i]);
    steps_say(failover->config->steps, "pod %s is on node %s; node %s has %s", chain->pod->key,
              failover->from, failover->to,
              n == 1 ? "a ready replica of its volume" : "ready replicas of all of its volumes");
}

/* ---- the wish ---- */

static const struct kube_object *claim_of(const struct failover *failover)
{
    return find_object(&failover->cluster.claims, failover->claim);
}

/* Only while the claim is as it was read: two of us do not wish for different nodes. */
static struct err *write_wish(struct task *self, struct failover *failover)
{
    const Api__ObjectMeta *claim = claim_of(failover)->metadata;
    struct loop *loop = loop_of(self);
    uint64_t now = loop_now(loop);
    uint64_t left_ms = failover->deadline > now ? failover->deadline - now : 0;
    uint64_t ms = left_ms < SWITCHOVER_LONGEST_MS ? left_ms : SWITCHOVER_LONGEST_MS;
    char *wish = switchover_text(failover->to, loop_wall_us(loop) + (int64_t)ms * US_IN_MS);
    CLEANUP(json_decrefp)
    json_t *patch = json_pack("{s:{s:s?, s:{s:s}}}", "metadata", "resourceVersion",
                              claim->resource_version, "annotations", ANNOTATION_SWITCHOVER, wish);

    /* If the answer is lost, it may be there. */
    failover->wish = wish;
    return kube_patch(self, failover->config->kube, &PERSISTENT_VOLUME_CLAIMS, claim->namespace_,
                      claim->name, NULL, patch, NULL);
}

/* Not one that somebody else has written since. */
static struct err *take_back_wish(struct task *self, struct failover *failover)
{
    if (!failover->wish)
        return NULL;
    const Api__ObjectMeta *claim = claim_of(failover)->metadata;
    CLEANUP(json_decrefp)
    json_t *patch =
        json_pack("[{s:s, s:s, s:s}, {s:s, s:s}]", "op", "test", "path", ANNOTATION_PATH, "value",
                  failover->wish, "op", "remove", "path", ANNOTATION_PATH);
    struct err *err = kube_json_patch(self, failover->config->kube, &PERSISTENT_VOLUME_CLAIMS,
                                      claim->namespace_, claim->name, patch);

    TRY(err_unless(err_unless(err, ERR_INVALID), ERR_NOT_FOUND));
    free(failover->wish);
    failover->wish = NULL;
    return NULL;
}

static void leave_wish(const struct failover *failover, struct err *err)
{
    if (!err)
        return;
    steps_say(failover->config->steps,
              "the annotation " ANNOTATION_SWITCHOVER " of claim %s stays, and has no effect after "
              "the time in it: %s",
              failover->claim, err_message(err));
    err_free(err);
}

/* ---- the move ---- */

static struct err *prepare(struct task *self, struct failover *failover)
{
    const struct failover_config *config = failover->config;

    bool ready;

    TRY(settle(self, failover, &ready));
    if (!failover->blocked && ready)
        say_plan(failover);
    move_fini(&failover->move);
    return move_begin(self, config->kube, config->steps, config->query.object_namespace,
                      &failover->chains, &failover->move);
}

static struct err *evict(struct task *self, struct failover *failover)
{
    TRY(write_wish(self, failover));
    if (!failover->blocked)
        steps_say(failover->config->steps, "asked the scheduler extender for node %s",
                  failover->to);
    TRY(task_sleep(self, NOTICE_MS));
    return move_evict(self, &failover->move, failover->deadline);
}

/* A PodDisruptionBudget may refuse for long, and much may change meanwhile: all is looked at anew,
 * and the claim is as it was until then. */
static struct err *wait_for_budget(struct task *self, struct failover *failover, struct err *err)
{
    const char *pod = failover->move.pod->key;

    if (loop_now(loop_of(self)) >= failover->deadline)
        return err_wrap(err, "pod %s was not evicted", pod);
    if (!failover->blocked)
        steps_say(failover->config->steps, "waiting until pod %s may be evicted: %s", pod,
                  err_message(err));
    failover->blocked = true;
    err_free(err);
    TRY(take_back_wish(self, failover));
    return task_sleep(self, BUDGET_RETRY_MS);
}

static struct err *work(struct task *self, void *ctx)
{
    struct failover *failover = ctx;
    struct err *err;

    failover->heartbeat_limit_ms =
        heartbeat_limit_read(self, failover->config->kube, failover->config->query.driver_name);
    /* Before a replica is asked for. */
    TRY(read_subject(self, failover));
    TRY(move_check(self, failover->config->kube, &failover->chains));
    TRY(prepare(self, failover));
    if (failover->config->dry_run) {
        steps_say(failover->config->steps, "dry run: nothing was changed");
        return NULL;
    }
    while ((err = evict(self, failover))) {
        if (err_kind(err) != ERR_THROTTLED)
            return err;
        TRY(wait_for_budget(self, failover, err));
        TRY(prepare(self, failover));
    }
    return move_follow(self, &failover->move, failover->deadline);
}

static json_t *document_of(const struct failover *failover)
{
    const struct failover_config *config = failover->config;
    json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:b, s:O}", "claim", failover->claim, "pod",
                             failover->move.pod->key, "from", failover->from, "to", failover->to,
                             "dryRun", config->dry_run, "steps", config->steps->list);

    json_object_set_new(json, "move", move_json(&failover->move));
    return json;
}

static const char *what_of_the_pod(const struct move *move)
{
    if (move->in_doubt)
        return "whether the pod was evicted is not known";
    return move->evicted ? "the pod was evicted before" : "the pod was not evicted";
}

struct err *failover_json(struct task *self, const struct failover_config *config, json_t **ret)
{
    struct failover failover = {.config = config,
                                .deadline = loop_deadline(loop_of(self), config->timeout_ms),
                                .claim = kube_key(config->query.pod_namespace, config->claim)};
    struct err *err = run_interruptible(self, work, &failover);

    if (err && err_kind(err) == ERR_CANCELED)
        err = err_wrap(err, "interrupted, and %s", what_of_the_pod(&failover.move));
    leave_wish(&failover, take_back_wish(self, &failover));
    if (!err)
        *ret = document_of(&failover);
    move_fini(&failover.move);
    forget(&failover);
    free(failover.claim);
    free(failover.from);
    free(failover.to);
    free(failover.wish);
    return err;
}

/* ---- what is told of it ---- */

bool failover_is_as_planned(const json_t *failover)
{
    return json_is_true(json_object_get(failover, "dryRun")) ||
           same_text(text_of(json_object_get(failover, "move"), "node"), text_of(failover, "to"));
}

void failover_text(const json_t *failover, struct buffer *out)
{
    const json_t *move = json_object_get(failover, "move");
    CLEANUP(freep) char *gap = move_gap_text(move);

    if (json_is_true(json_object_get(failover, "dryRun")))
        return;
    if (failover_is_as_planned(failover))
        buffer_printf(out, "\nThe pod has moved from node %s to node %s, as planned.\n",
                      text_of(failover, "from"), text_of(failover, "to"));
    else
        buffer_printf(out,
                      "\nThe pod has come to node %s instead of node %s: the scheduler had reasons "
                      "of its own, or does not ask the extender (docs/scheduling.md).\n",
                      text_of(move, "node"), text_of(failover, "to"));
    buffer_printf(out, "Gap: %s\n", gap);
}
