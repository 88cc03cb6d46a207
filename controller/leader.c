#include "controller/leader.h"

#include <stdlib.h>

#include "controller/attachment/attacher_calls.h"
#include "controller/attachment/unfenced.h"
#include "controller/audit/audit.h"
#include "controller/cache/informers.h"
#include "controller/certificate/keeper.h"
#include "controller/failover/node_leases.h"
#include "controller/metrics.h"
#include "controller/placement/reconcile.h"
#include "controller/replica/unschedulable.h"
#include "controller/routing/object_events.h"
#include "controller/volume/filesystem_note.h"
#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/rt/backoff.h"

enum { CATCH_UP_LEAST_MS = 200, CATCH_UP_MOST_MS = 2 * 1000 };

/* Whatever was missed, for whatever reason, is looked at again before long. */
enum { RESYNC_MS = 10 * 60 * 1000 };

/* Attachments wait for the cloud, whose client bounds and orders what is asked of it; a primary
 * must not wait for a task as well. */
enum { ATTACHMENT_TASKS = 4096 };

/* A new leader looks at all VMs' limits, so many at a time, and thereafter now at one, now at
 * another. */
enum { LIMIT_TASKS = 4 };

/* For people, who read slowly. */
enum { SUMMARY_TASKS = 4 };

/* Lists, which are in no hurry. */
enum { PROGRESS_TASKS = 2 };

/* Of nodes that are silent at once. What failed while the API server was in trouble, the note above
 * all that a node is to be listened for, is not to wait for as long as the trouble did. */
enum { FAILOVER_TASKS = 16, FAILOVER_PAUSE_MS = 15 * 1000 };

/* Pods that start at once, each with some short calls. */
enum { PLACEMENT_TASKS = 16 };

struct leader {
    struct leader_config config;
    struct lease *lease;
    struct task_group reconcilers;
    struct timer resync;
    struct audit *audit;
    struct certificate_keeper *certificate;
    struct leading leading; /* since it has caught up */
    bool acquired;
};

/* ---- the reconcilers ---- */

/* Somebody was faster, or this process ends; or there is nothing to be done any more for an object
 * whose finalizer went, or that somebody took away. */
static bool is_no_failure(const struct err *err)
{
    return err_kind(err) == ERR_CONFLICT || err_kind(err) == ERR_CANCELED ||
           kube_is_no_such_object(err);
}

static void finished(void *ctx, const struct workqueue *queue, const char *key,
                     const struct err *err, uint64_t duration_ms)
{
    const char *name = workqueue_name(queue);

    (void)ctx;
    metric_add(&METRIC_RECONCILES, 1, name, err ? err_kind_reason(err_kind(err)) : "ok");
    metric_observe(&METRIC_RECONCILE_SECONDS, (double)duration_ms / 1000, name);
    if (err && is_no_failure(err))
        log_debug("%s %s: %s", name, key, err_message(err));
    else if (err)
        log_warning("%s %s: %s", name, key, err_message(err));
}

static void resync(void *ctx)
{
    struct leader *leader = ctx;
    struct controller *controller = leader->config.controller;

    object_events_of_all(controller);
    loop_start_timer(controller->loop, &leader->resync, loop_now(controller->loop) + RESYNC_MS,
                     resync, leader);
}

static void start(struct leader *leader)
{
    struct controller *controller = leader->config.controller;
    unsigned most = (unsigned)controller->settings.worker_tasks;
    const struct {
        const char *name; /* in metrics */
        workqueue_work_fn *work;
        unsigned max_tasks;
    } kinds[N_QUEUES] = {
        [VOLUME_QUEUE] = {"azvolume", reconcile_volume, most},
        [ATTACHMENT_QUEUE] = {"azvolumeattachment", reconcile_attachment, ATTACHMENT_TASKS},
        [ROLE_QUEUE] = {"role", reconcile_role, most},
        [REPLICA_QUEUE] = {"replica", reconcile_replicas, most},
        [NODE_QUEUE] = {"azdrivernode", reconcile_driver_node, most},
        [LIMIT_QUEUE] = {"limit", reconcile_limit, LIMIT_TASKS},
        [RECOVERY_QUEUE] = {"recovery", reconcile_recovery, most},
        [SUMMARY_QUEUE] = {"summary", reconcile_summary, SUMMARY_TASKS},
        [SNAPSHOT_QUEUE] = {"azsnapshot", reconcile_snapshot, most},
        [SNAPSHOT_PROGRESS_QUEUE] = {"snapshotprogress", reconcile_snapshot_progress,
                                     PROGRESS_TASKS},
        [DISK_PROGRESS_QUEUE] = {"diskprogress", reconcile_disk_progress, PROGRESS_TASKS},
        [FAILOVER_QUEUE] = {"failover", reconcile_failover, FAILOVER_TASKS},
        [PLACEMENT_QUEUE] = {"placement", reconcile_placement, PLACEMENT_TASKS},
    };

    list_init(&leader->leading.reservations);
    for (size_t i = 0; i < N_QUEUES; i++)
        leader->leading.queues[i] = workqueue_new(
            &leader->reconcilers, &(struct workqueue_config){
                                      .name = kinds[i].name,
                                      .max_tasks = kinds[i].max_tasks,
                                      .most_pause_ms = i == FAILOVER_QUEUE ? FAILOVER_PAUSE_MS : 0,
                                      .work = kinds[i].work,
                                      .ctx = controller,
                                      .finished = finished,
                                  });
    controller->leading = &leader->leading;
    leader->leading.attacher_calls = attacher_calls_start(controller, &leader->reconcilers);
    leader->leading.node_leases = node_leases_start(controller, &leader->reconcilers);
    leader->audit = audit_start(controller, &leader->reconcilers);
    leader->certificate = certificate_keeper_start(controller, &leader->reconcilers);
    placement_start(controller);
    resync(leader);
    STORE_FOREACH(controller->driver_nodes, object)
        workqueue_add(leader->leading.queues[LIMIT_QUEUE], object->key);
}

/* Until then replicas were not placed. */
static void wait_for_pods(struct task *self, struct leader *leader)
{
    struct controller *controller = leader->config.controller;

    if (informers_has_pods(controller))
        return;
    CLEANUP(err_freep) struct err *err = informers_wait_pods(self, controller);
    if (!err)
        resync(leader);
}

/* Two attachments get no LUN in common, and two nodes no role, because the leader knows all that is
 * on record. What its predecessor wrote last may not have come to it yet. */
static void catch_up_and_start(struct task *self, void *arg)
{
    struct leader *leader = arg;
    struct controller *controller = leader->config.controller;
    struct backoff backoff = {.least_ms = CATCH_UP_LEAST_MS, .most_ms = CATCH_UP_MOST_MS};
    struct err *err;

    while ((err = informers_catch_up(self, controller)) && !task_is_cancelled(self)) {
        log_warning("this process has acquired the lease, but reading what the previous leader "
                    "wrote failed: %s",
                    err_message(err));
        err_free(err);
        err_free(task_sleep(self, backoff_next(&backoff, loop_random(controller->loop))));
    }
    if (!err && !task_is_cancelled(self)) {
        start(leader);
        log_info("started leading as %s", leader->config.lease.identity);
        wait_for_pods(self, leader);
    }
    err_free(err);
}

static void end_reconcilers(struct leader *leader)
{
    struct controller *controller = leader->config.controller;

    audit_free(TAKE_PTR(leader->audit));
    certificate_keeper_free(TAKE_PTR(leader->certificate));
    attachment_forget_learned(controller);
    unschedulable_clear(controller);
    filesystem_note_forget(controller);
    attacher_calls_free(TAKE_PTR(leader->leading.attacher_calls));
    node_leases_free(TAKE_PTR(leader->leading.node_leases));
    unfenced_forget(controller);
    string_set_clear(&leader->leading.given_up);
    placement_stop(controller);
    controller->leading = NULL;
    for (size_t i = 0; i < N_QUEUES; i++)
        workqueue_free(leader->leading.queues[i]);
}

static void stop(struct task *self, struct leader *leader)
{
    if (!leader->acquired)
        return;
    loop_stop_timer(leader->config.controller->loop, &leader->resync);
    group_close(self, &leader->reconcilers);
    if (leader->config.controller->leading)
        end_reconcilers(leader);
}

/* ---- the lease ---- */

static void acquired(void *ctx)
{
    struct leader *leader = ctx;

    log_info("acquired the lease %s", leader->config.lease.name);
    group_init(&leader->reconcilers, leader->config.controller->loop);
    leader->acquired = true;
    group_spawn(&leader->reconcilers, "catch up", catch_up_and_start, leader);
}

static void lost(void *ctx)
{
    struct leader *leader = ctx;

    log_error("lost the lease %s; exiting", leader->config.lease.name);
    leader->config.lost(leader->config.ctx);
}

static void failed(void *ctx, const struct err *err)
{
    const struct leader *leader = ctx;

    log_warning("lease %s: %s", leader->config.lease.name, err_message(err));
}

struct leader *leader_new(const struct leader_config *config)
{
    struct leader *leader = mem_alloc(sizeof *leader);

    leader->config = *config;
    leader->config.lease.kube = config->controller->kube;
    leader->config.lease.acquired = acquired;
    leader->config.lease.lost = lost;
    leader->config.lease.failed = failed;
    leader->config.lease.ctx = leader;
    leader->lease = lease_new(config->controller->loop, &leader->config.lease);
    return leader;
}

bool leader_leads(const struct leader *leader)
{
    return leader && lease_is_held(leader->lease);
}

void leader_stop(struct task *self, struct leader *leader)
{
    if (!leader)
        return;
    stop(self, leader);
    lease_release(self, leader->lease);
    free(leader);
}
