#include "node/heartbeat.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/base/timestamp.h"
#include "lib/rt/backoff.h"
#include "node/boot_id.h"
#include "node/informers.h"
#include "node/metrics.h"

#define CONDITION "IsNodePluginReady"

enum { BACKOFF_LEAST_MS = 1000 };

/* ---- what is said ---- */

void heartbeat_fini(struct heartbeat *heartbeat)
{
    free(heartbeat->detail);
}

static int free_slots(const struct node *node)
{
    int limit = informers_slot_limit(node), taken = informers_slots_taken(node);

    if (limit < 0 || taken < 0)
        return -1;
    return limit > taken ? limit - taken : 0;
}

struct heartbeat heartbeat_of(const struct node *node)
{
    CLEANUP(err_freep) struct err *err = node_check_ready(node);
    struct heartbeat heartbeat = {
        .ready = !err,
        .message = "Driver node healthy.",
        .reason = "Healthy",
        .detail = mem_strdup(err ? err_message(err) : "volumes can be staged"),
        .free_slots = free_slots(node),
    };

    if (err) {
        heartbeat.message =
            node->stopping ? "Driver node shutting down." : "Driver node initializing.";
        heartbeat.reason = node->stopping ? "Stopping" : "Initializing";
    }
    return heartbeat;
}

bool heartbeat_equal(const struct heartbeat *a, const struct heartbeat *b)
{
    return a->ready == b->ready && a->free_slots == b->free_slots &&
           strcmp(a->detail, b->detail) == 0;
}

static const Api__AzDriverNodeCondition *find_condition(const Api__AzDriverNode *object)
{
    const Api__AzDriverNodeStatus *status = object ? object->status : NULL;

    for (size_t i = 0; status && i < status->n_conditions; i++)
        if (status->conditions[i]->type && strcmp(status->conditions[i]->type, CONDITION) == 0)
            return status->conditions[i];
    return NULL;
}

json_t *heartbeat_patch(const struct heartbeat *heartbeat, const char *now, const char *boot_id,
                        const Api__AzDriverNode *before)
{
    const Api__AzDriverNodeCondition *old = find_condition(before);
    const char *state = heartbeat->ready ? "True" : "False";
    bool stays = old && old->status && old->last_transition_time && strcmp(old->status, state) == 0;
    json_t *condition = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "type", CONDITION, "status",
                                  state, "lastHeartbeatTime", now, "lastTransitionTime",
                                  stays ? old->last_transition_time : now, "reason",
                                  heartbeat->reason, "message", heartbeat->detail);
    json_t *status = json_pack("{s:s, s:b, s:s, s:s, s:[o]}", "lastHeartbeatTime", now,
                               "readyForVolumeAllocation", (int)heartbeat->ready, "statusMessage",
                               heartbeat->message, "bootId", boot_id, "conditions", condition);

    if (heartbeat->free_slots >= 0)
        json_object_set_new(status, "slots", json_pack("{s:i}", "free", heartbeat->free_slots));
    return json_pack("{s:o}", "status", status);
}

/* ---- writing it ---- */

/* One that is there already, of a former life of this plug-in, is ours. */
static struct err *create(struct task *self, struct node *node)
{
    const char *name = node->settings.node_id;
    CLEANUP(json_decrefp)
    json_t *object =
        json_pack("{s:{s:s}, s:{s:s}}", "metadata", "name", name, "spec", "nodeName", name);
    struct err *err =
        kube_create(self, node->kube, &AZ_DRIVER_NODES, node->settings.namespace_, object, NULL);

    return err_unless(err, ERR_EXISTS);
}

static struct err *patch(struct task *self, struct node *node, const struct heartbeat *heartbeat)
{
    CLEANUP(kube_object_unrefp) struct kube_object *written = NULL;
    CLEANUP(freep) char *boot_id = NULL;
    char now[TIMESTAMP_SIZE];

    TRY(boot_id_read(&boot_id));
    timestamp_format(loop_wall_us(node->loop), now);
    CLEANUP(json_decrefp)
    json_t *body = heartbeat_patch(heartbeat, now, boot_id, informers_driver_node(node));
    TRY(kube_patch(self, node->kube, &AZ_DRIVER_NODES, node->settings.namespace_,
                   node->settings.node_id, "status", body, &written));
    store_apply_write(node->driver_nodes, written);
    return NULL;
}

static struct err *write(struct task *self, struct node *node, const struct heartbeat *heartbeat)
{
    if (!informers_driver_node(node))
        TRY(create(self, node));
    struct err *err = patch(self, node, heartbeat);
    if (err && err_kind(err) == ERR_NOT_FOUND) { /* deleted, and the watch has not told yet */
        err_free(err);
        TRY(create(self, node));
        return patch(self, node, heartbeat);
    }
    return err;
}

static void log_result(const struct err *err)
{
    if (err && err_kind(err) == ERR_CANCELED)
        return;
    metric_add(&METRIC_HEARTBEATS, 1, err ? "failed" : "ok");
    if (err)
        log_error("heartbeat: %s", err_message(err));
    else
        log_debug("heartbeat");
}

/* ---- when it is written ---- */

struct beat {
    struct node *node;
    struct heartbeat written;
    bool is_written; /* what `written` says is in the object */
    uint64_t due;    /* of the next, if nothing changes before; after a failure, of the next try */
    struct backoff backoff;
};

static bool is_news(const struct beat *beat, const struct heartbeat *heartbeat)
{
    return beat->is_written &&
           (!informers_driver_node(beat->node) || !heartbeat_equal(heartbeat, &beat->written));
}

/* Some of the interval is left out by chance, so that the nodes of a cluster do not beat at once.
 */
static uint64_t next_beat(struct node *node)
{
    uint64_t interval = node->settings.heartbeat_interval_ms;

    return loop_now(node->loop) + interval -
           random_below(loop_random(node->loop), interval / 5 + 1);
}

/* Takes what `heartbeat` owns. */
static void beat_once(struct task *self, struct beat *beat, struct heartbeat *heartbeat)
{
    struct node *node = beat->node;
    CLEANUP(err_freep) struct err *err = write(self, node, heartbeat);

    log_result(err);
    heartbeat_fini(&beat->written);
    beat->written = *heartbeat;
    heartbeat->detail = NULL;
    beat->is_written = !err;
    if (err) {
        beat->due = loop_now(node->loop) + backoff_next(&beat->backoff, loop_random(node->loop));
        return;
    }
    backoff_reset(&beat->backoff);
    node->heartbeat = loop_now(node->loop);
    beat->due = next_beat(node);
}

static void run(struct task *self, void *arg)
{
    struct node *node = arg;
    struct beat beat = {
        .node = node,
        .backoff = {.least_ms = BACKOFF_LEAST_MS, .most_ms = node->settings.heartbeat_interval_ms}};
    bool said_goodbye = false;

    while (!task_is_cancelled(self) && !said_goodbye) {
        CLEANUP(heartbeat_fini) struct heartbeat heartbeat = heartbeat_of(node);

        if (node->stopping || loop_now(node->loop) >= beat.due || is_news(&beat, &heartbeat)) {
            said_goodbye = node->stopping;
            beat_once(self, &beat, &heartbeat);
            continue;
        }
        err_free(wait_for_change(self, &node->changed, beat.due));
    }
    heartbeat_fini(&beat.written);
}

void heartbeat_start(struct node *node, struct task_group *group)
{
    group_spawn(group, "heartbeat", run, node);
}
