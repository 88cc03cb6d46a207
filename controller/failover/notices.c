#include "controller/failover/notices.h"

#include <stdlib.h>

#include "controller/cache/colocation.h"
#include "controller/failover/node_leases.h"
#include "controller/failover/taint.h"
#include "controller/metrics.h"
#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/base/timestamp.h"
#include "lib/kube/node.h"
#include "provisioner-lib/records/failover_note.h"

enum { US_IN_MS = 1000, MS_IN_S = 1000 };

/* False if it was said before. */
static bool say(const struct failover_work *work, const char *reason, const char *text)
{
    if (!failover_is_news(work->controller, work->name, text))
        return false;
    log_warning("node %s: %s", work->name, text);
    events_record(work->controller->events, &NODES, work->node->metadata, EVENT_WARNING, reason,
                  "Failover", "%s", text);
    return true;
}

static const char *volume_of(const struct failover_work *work, size_t i)
{
    return i < work->in.n_volumes ? as_attachment(work->disks[i].attachment)->spec->volume_name
                                  : "";
}

/* ---- held back ---- */

static char *obstacle_of(const struct failover_work *work, const struct failover_plan *plan)
{
    const char *volume = volume_of(work, plan->volume);

    switch (plan->why) {
    case FAILOVER_MANY_SILENT:
        return mem_printf("%u nodes are silent at once, or about to be, and at most %u may be: it "
                          "may be the network (--failover-max-silent)",
                          work->in.n_overdue, work->in.n_overdue_most);
    case FAILOVER_MANY_RECENT:
        return mem_printf("%u nodes have been given up within a minute", work->in.n_recent);
    case FAILOVER_NO_BOOT_ID:
        return mem_strdup("it has no status.nodeInfo.bootID, by which it could be taken back");
    case FAILOVER_OTHER_BOOT:
        return mem_printf("its plug-in was last heard of in boot %s, and the Node "
                          "(status.nodeInfo.bootID) is of another one: it was started anew since",
                          node_silence_of(work->controller, work->name).boot_id);
    case FAILOVER_FOREIGN:
        return mem_printf("nobody can prove that it does not write to all of its volumes: %s",
                          work->foreign);
    case FAILOVER_NOT_WANTED:
        return mem_printf("volume %s, which is published there, does not ask for automatic "
                          "failover (automaticFailover), nor do all pods that use it "
                          "(" LABEL_AUTOMATIC_FAILOVER ")",
                          volume);
    case FAILOVER_NOT_FENCED:
        return mem_printf("volume %s, which is published there, has no fence", volume);
    case FAILOVER_NO_REPLICA:
        return mem_printf("volume %s has no replica that is attached to another node that is "
                          "heard of",
                          volume);
    case FAILOVER_NO_ANSWER:
        return mem_printf("the nodes of the replicas of volume %s have been asked to preempt its "
                          "key at the disk, and none has said yet that the disk has confirmed it",
                          volume);
    }
    abort();
}

void failover_tell_held_back(const struct failover_work *work, const struct failover_plan *plan)
{
    CLEANUP(freep) char *obstacle = obstacle_of(work, plan);
    const char *machine = work->in.machine == MACHINE_MAY_RUN
                              ? "; and the cloud does not say that its machine is off"
                              : "";
    const char *who = work->in.moved && !work->in.booted ? "its other pods stay" : "its pods stay";
    CLEANUP(freep)
    char *text =
        work->in.deleted
            ? mem_printf("This Node was deleted, and its volumes wait for Kubernetes: %s%s",
                         obstacle, machine)
            : mem_printf("Nothing has been heard of this node since %s, but %s: %s%s", work->since,
                         who, obstacle, machine);

    if (say(work, "FailoverHeldBack", text))
        metric_add(&METRIC_FAILOVERS, 1, "held back");
}

/* ---- begun, and given up ---- */

void failover_tell_begun(const struct failover_work *work)
{
    if (!work->in.begun && !work->in.deleted)
        metric_observe(&METRIC_FAILOVER_SECONDS,
                       (double)node_silence_of(work->controller, work->name).ms / MS_IN_S,
                       "detect");
    failover_begin(work->controller, work->name);
}

/* In words; free() it. */
static char *proof_of(const struct failover_work *work)
{
    if (work->in.machine == MACHINE_IS_OFF)
        return mem_strdup("Its machine is off");
    return mem_printf("The disks of its volumes (%zu) refuse its writes now", work->in.n_volumes);
}

static bool any(const struct failover_volume *volume)
{
    (void)volume;
    return true;
}

static bool moves(const struct failover_volume *volume)
{
    return volume->moves && volume->held;
}

/* For those who ask what has become of a volume, and of what the gap consisted (azdiskctl). */
static void tell_volumes(const struct failover_work *work, int64_t proven_us,
                         bool (*is_one)(const struct failover_volume *))
{
    struct controller *controller = work->controller;
    uint64_t begun = failover_begun(controller, work->name);
    int64_t asked_us =
        loop_wall_us(controller->loop) - (int64_t)(loop_now(controller->loop) - begun) * US_IN_MS;
    const struct failover_times times = {
        .deleted = work->in.deleted, /* which this controller has seen, and asked at once */
        .lost_us = work->in.deleted ? asked_us : timestamp_noted(work->since),
        .asked_us = asked_us,
        .proven_us = proven_us,
    };
    CLEANUP(freep) char *note = failover_note_text(work->name, &times);

    /* Not of a node that was heard of in this moment. */
    for (size_t i = 0; begun && i < work->in.n_volumes; i++) {
        CLEANUP(freep)
        char *key = kube_key(controller->settings.namespace_, volume_of(work, i));
        const struct kube_object *volume = store_get(controller->volumes, key);

        if (volume && is_one(&work->volumes[i]))
            events_record(controller->events, &AZ_VOLUMES, volume->metadata, EVENT_WARNING,
                          EVENT_FAILED_OVER, "Failover", "%s", note);
    }
}

static char *text_of(const struct failover_work *work)
{
    CLEANUP(freep) char *proof = proof_of(work);

    if (work->in.deleted)
        return mem_printf("This Node was deleted. %s, and Kubernetes moves its pods. It is there "
                          "again, with the taint " TAINT_OUT_OF_SERVICE
                          ", until their volumes are detached",
                          proof);
    return mem_printf("Nothing has been heard of this node since %s. %s, and Kubernetes moves its "
                      "pods. The taint " TAINT_OUT_OF_SERVICE " goes when it is started anew",
                      work->since, proof);
}

void failover_tell_given_up(const struct failover_work *work, int64_t proven_us)
{
    uint64_t begun = failover_begun(work->controller, work->name);
    CLEANUP(freep) char *text = text_of(work);

    tell_volumes(work, proven_us, any);
    say(work, EVENT_FAILED_OVER, text);
    metric_add(&METRIC_FAILOVERS, 1, "released");
    if (begun) /* else by another leader */
        metric_observe(&METRIC_FAILOVER_SECONDS,
                       (double)(loop_now(work->controller->loop) - begun) / MS_IN_S, "fence");
}

void failover_tell_moved(const struct failover_work *work, int64_t proven_us)
{
    size_t n = 0;

    for (size_t i = 0; i < work->in.n_volumes; i++)
        n += moves(&work->volumes[i]);
    CLEANUP(freep)
    char *text = mem_printf(
        "Nothing has been heard of this node since %s. The disks of some of its volumes (%zu of "
        "%zu) refuse its writes now, and the pods that use no others are moved. The "
        "taint " TAINT_FAILED_OVER " keeps new ones away until it is started anew",
        work->since, n, work->in.n_volumes);

    tell_volumes(work, proven_us, moves);
    say(work, EVENT_FAILED_OVER, text);
    metric_add(&METRIC_FAILOVERS, 1, "in part");
}
