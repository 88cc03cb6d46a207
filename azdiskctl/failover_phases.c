#include "azdiskctl/failover_phases.h"

#include <string.h>

#include "azdiskctl/event.h"
#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "lib/base/text.h"
#include "provisioner-lib/records/failover_note.h"

/* Each ends with what is named; the first begins when the node fell silent, or its Node was
 * deleted. */
enum phase { DETECT, FENCE, TAINT, SCHEDULE, PROMOTE, MOUNT, PHASES };

static const char *const names[PHASES] = {
    [DETECT] = "detect",         /* a replica's node was asked */
    [FENCE] = "fence",           /* the disks refused the node's writes, or its VM was off */
    [TAINT] = "taint",           /* the node had the taint: the Event */
    [SCHEDULE] = "schedule",     /* the pod had a node */
    [PROMOTE] = "promote",       /* the replica was primary */
    [MOUNT] = "mount and start", /* the pod was ready */
};

#define PER_SECOND 1e6

struct failover {
    char *node;
    int64_t begin_us, ends_us[PHASES]; /* 0: not known */
};

/* ---- what is on record of a phase's end, between two times ---- */

static bool is_between(int64_t us, int64_t from_us, int64_t to_us)
{
    return us >= from_us && us < to_us;
}

/* Conditions have whole seconds. */
static int64_t condition_us(const struct kube_object *pod, const char *type)
{
    const Api__PodStatus *status = pod ? KUBE_AS(Api__Pod, pod)->status : NULL;

    for (size_t i = 0; status && i < status->n_conditions; i++)
        if (same_text(status->conditions[i]->type, type) &&
            same_text(status->conditions[i]->status, "True"))
            return time_of_text(status->conditions[i]->last_transition_time);
    return 0;
}

/* The first Event of that reason about a replica of the volume. */
static int64_t promoted_us(const struct cluster *cluster, const struct kube_object *volume,
                           int64_t from_us, int64_t to_us)
{
    const struct object_list *attachments = &cluster->view.attachments;
    int64_t first_us = 0;

    for (size_t i = 0; i < cluster->events.n; i++) {
        const struct kube_object *event = cluster->events.items[i];
        int64_t us = event_time_us(event);

        if (!same_text(KUBE_AS(Api__Event, event)->reason, "PromotedToPrimary") ||
            !is_between(us, from_us, to_us) || (first_us && us >= first_us))
            continue;
        for (size_t k = 0; k < attachments->n; k++)
            if (same_text(attachment_volume(attachments->items[k]), volume->metadata->name) &&
                event_is_about(event, AZ_VOLUME_ATTACHMENTS.kind, attachments->items[k]))
                first_us = us;
    }
    return first_us;
}

/* ---- one failover ---- */

static bool read_failover(const struct kube_object *object, const struct kube_object *volume,
                          struct failover *ret)
{
    const Api__Event *event = KUBE_AS(Api__Event, object);
    struct failover_times times;

    *ret = (struct failover){0};
    if (!same_text(event->reason, EVENT_FAILED_OVER) || !event->note ||
        !event_is_about(object, AZ_VOLUMES.kind, volume) ||
        !failover_note_parse(event->note, &ret->node, &times))
        return false;
    ret->begin_us = times.lost_us;
    ret->ends_us[DETECT] = times.asked_us;
    ret->ends_us[FENCE] = times.proven_us;
    ret->ends_us[TAINT] = event_time_us(object);
    return true;
}

/* What follows belongs to the next failover, if there was one. */
static int64_t next_begin_us(const struct cluster *cluster, const struct kube_object *volume,
                             int64_t after_us)
{
    int64_t next_us = INT64_MAX;

    for (size_t i = 0; i < cluster->events.n; i++) {
        struct failover other;

        if (!read_failover(cluster->events.items[i], volume, &other))
            continue;
        if (other.ends_us[TAINT] > after_us && other.begin_us < next_us)
            next_us = other.begin_us;
        free(other.node);
    }
    return next_us;
}

/* A pod that was there before, or has come later, says nothing of this failover. */
static void add_pod(struct failover *failover, const struct kube_object *pod, int64_t next_us)
{
    int64_t second_us = (int64_t)PER_SECOND;
    int64_t from_us = failover->ends_us[TAINT] / second_us * second_us;
    int64_t scheduled_us = condition_us(pod, "PodScheduled"), ready_us = condition_us(pod, "Ready");

    if (!is_between(scheduled_us, from_us, next_us))
        return;
    failover->ends_us[SCHEDULE] = scheduled_us;
    if (is_between(ready_us, scheduled_us, next_us))
        failover->ends_us[MOUNT] = ready_us;
}

/* Of times of different clocks and precision none is before the one that it follows. */
static struct failover_gap gap_of(const struct failover *failover)
{
    int64_t before_us = failover->begin_us;
    struct buffer text;

    buffer_init(&text, 1 << 12);
    for (int i = 0; i < PHASES; i++) {
        int64_t end_us = failover->ends_us[i];

        if (!end_us)
            continue;
        end_us = end_us > before_us ? end_us : before_us;
        buffer_printf(&text, "%s%s %.1f s", text.length ? ", " : "", names[i],
                      (double)(end_us - before_us) / PER_SECOND);
        before_us = end_us;
    }
    CLEANUP(freep) char *phases = buffer_take(&text);
    return (struct failover_gap){
        before_us, mem_printf("from node %s: %.1f s (%s%s)", failover->node,
                              (double)(before_us - failover->begin_us) / PER_SECOND, phases,
                              failover->ends_us[MOUNT] ? "" : "; the rest is not on record")};
}

struct failover_gaps failover_gaps_of(const struct cluster *cluster,
                                      const struct kube_object *volume,
                                      const struct kube_object *pod)
{
    struct failover_gaps gaps = {0};

    for (size_t i = 0; i < cluster->events.n; i++) {
        struct failover failover;

        if (!read_failover(cluster->events.items[i], volume, &failover))
            continue;
        int64_t tainted_us = failover.ends_us[TAINT];
        int64_t next_us = next_begin_us(cluster, volume, tainted_us);
        failover.ends_us[PROMOTE] = promoted_us(cluster, volume, tainted_us, next_us);
        add_pod(&failover, pod, next_us);
        ARRAY_ADD(gaps.items, gaps.n) = gap_of(&failover);
        free(failover.node);
    }
    return gaps;
}

void failover_gaps_fini(struct failover_gaps *gaps)
{
    for (size_t i = 0; i < gaps->n; i++)
        free(gaps->items[i].text);
    free(gaps->items);
    *gaps = (struct failover_gaps){0};
}
