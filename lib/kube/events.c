#include "lib/kube/events.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/hash.h"
#include "lib/base/timestamp.h"
#include "lib/base/utf8.h"

/* The limits of client-go's correlator: 25 events at once for an object, then one in 5 minutes;
 * equal ones within 10 minutes are a series. */
enum {
    BURST = 25,
    REFILL_MS = 5 * 60 * 1000,
    SERIES_MS = 10 * 60 * 1000,
    MAX_SERIES = 512,
    MAX_QUEUED = 256,
    LONGEST_NOTE = 1024,
};

/* Equal events about one object. */
struct series {
    char *key;               /* object, type, reason and note */
    char *name, *namespace_; /* of the Event object */
    json_t *first;           /* as it is to be created; NULL once it has been */
    unsigned count, told;    /* how often it was recorded, and how often the server knows */
    int64_t last_us;
    uint64_t last_ms;
    bool queued, sending;
    struct list link;
    UT_hash_handle hh;
};

/* How much may still be said about an object. */
struct allowance {
    char *uid;
    double tokens;
    uint64_t updated_ms;
    UT_hash_handle hh;
};

struct events {
    struct events_config config;
    struct loop *loop;
    struct series *series;
    struct allowance *allowances;
    struct list queue;
    unsigned queued;
    struct waiters waiting;
};

static void free_series(struct events *events, struct series *series)
{
    HASH_DEL(events->series, series);
    list_remove(&series->link);
    json_decref(series->first);
    free(series->key);
    free(series->name);
    free(series->namespace_);
    free(series);
}

static void free_allowance(struct events *events, struct allowance *allowance)
{
    HASH_DEL(events->allowances, allowance);
    free(allowance->uid);
    free(allowance);
}

void events_free(struct events *events)
{
    if (!events)
        return;
    HASH_FOREACH(events->series, series)
        free_series(events, series);
    HASH_FOREACH(events->allowances, allowance)
        free_allowance(events, allowance);
    free(events);
}

/* Its sender has it in hand, or will. */
static bool is_busy(const struct series *series)
{
    return series->queued || series->sending;
}

/* ---- sending ---- */

static void enqueue(struct events *events, struct series *series)
{
    if (is_busy(series))
        return;
    series->queued = true;
    events->queued++;
    list_append(&events->queue, &series->link);
    waiters_wake(&events->waiting);
}

static struct err *send(struct task *self, struct events *events, struct series *series)
{
    char last[TIMESTAMP_SIZE];

    if (series->first) {
        CLEANUP(json_decrefp) json_t *event = TAKE_PTR(series->first);

        series->told = 1;
        return kube_create(self, events->config.kube, &EVENTS, series->namespace_, event, NULL);
    }
    series->told = series->count;
    timestamp_format_micro(series->last_us, last);
    CLEANUP(json_decrefp)
    json_t *patch = json_pack("{s:{s:i, s:s}}", "series", "count", (int)series->count,
                              "lastObservedTime", last);
    return kube_patch(self, events->config.kube, &EVENTS, series->namespace_, series->name, NULL,
                      patch, NULL);
}

static void run(struct task *self, void *arg)
{
    struct events *events = arg;
    struct list *link;

    while (!task_is_cancelled(self)) {
        if (!(link = list_take_first(&events->queue))) {
            err_free(wait_for_change(self, &events->waiting, TIMER_NEVER));
            continue;
        }
        struct series *series = CONTAINER_OF(link, struct series, link);
        series->queued = false;
        events->queued--;
        series->sending = true;
        CLEANUP(err_freep) struct err *err = send(self, events, series);
        series->sending = false;
        if (err) {
            if (events->config.failed)
                events->config.failed(events->config.ctx, err);
            free_series(events, series); /* the next one starts anew */
        } else if (series->told < series->count) {
            enqueue(events, series);
        }
    }
}

struct events *events_new(struct task_group *group, const struct events_config *config)
{
    struct events *events = mem_alloc(sizeof *events);

    *events = (struct events){.config = *config, .loop = group->loop};
    list_init(&events->queue);
    waiters_init(&events->waiting);
    group_spawn(group, "events", run, events);
    return events;
}

/* ---- recording ---- */

static bool take_allowance(struct events *events, const char *uid)
{
    uint64_t now = loop_now(events->loop);
    struct allowance *allowance;

    HASH_FIND_STR(events->allowances, uid, allowance);
    if (!allowance) {
        if (HASH_COUNT(events->allowances) >= MAX_SERIES)
            free_allowance(events,
                           events->allowances); /* the one that was first seen longest ago */
        allowance = mem_alloc(sizeof *allowance);
        *allowance = (struct allowance){.uid = mem_strdup(uid), .tokens = BURST, .updated_ms = now};
        HASH_ADD_KEYPTR(hh, events->allowances, allowance->uid, strlen(uid), allowance);
    }
    allowance->tokens += (double)(now - allowance->updated_ms) / REFILL_MS;
    if (allowance->tokens > BURST)
        allowance->tokens = BURST;
    allowance->updated_ms = now;
    if (allowance->tokens < 1)
        return false;
    allowance->tokens -= 1;
    return true;
}

static struct series *new_series(struct events *events, const struct api_resource *resource,
                                 const Api__ObjectMeta *about, char *key)
{
    struct series *oldest = events->series;
    struct series *series = mem_alloc(sizeof *series);

    if (HASH_COUNT(events->series) >= MAX_SERIES && !is_busy(oldest))
        free_series(events, oldest);
    series->key = key;
    series->name = mem_printf("%.200s.%016llx", about->name,
                              (unsigned long long)random_next(loop_random(events->loop)));
    series->namespace_ = mem_strdup(about->namespace_ && resource->namespaced
                                        ? about->namespace_
                                        : "default"); /* the API server insists on it */
    list_init(&series->link);
    HASH_ADD_KEYPTR(hh, events->series, series->key, strlen(series->key), series);
    return series;
}

static json_t *event_json(const struct events *events, const struct series *series,
                          const struct api_resource *resource, const Api__ObjectMeta *about,
                          enum event_type type, const char *reason, const char *action,
                          const char *note)
{
    char now[TIMESTAMP_SIZE];
    CLEANUP(freep)
    char *api_version = resource->group[0] ? mem_printf("%s/%s", resource->group, resource->version)
                                           : mem_strdup(resource->version);

    timestamp_format_micro(loop_wall_us(events->loop), now);
    json_t *regarding = json_pack("{s:s, s:s, s:s, s:s*}", "apiVersion", api_version, "kind",
                                  resource->kind, "name", about->name, "uid", about->uid);
    if (resource->namespaced && about->namespace_)
        json_object_set_new(regarding, "namespace", json_string(about->namespace_));
    return json_pack("{s:{s:s, s:s}, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o}", "metadata", "name",
                     series->name, "namespace", series->namespace_, "eventTime", now,
                     "reportingController", events->config.controller, "reportingInstance",
                     events->config.instance, "type", type == EVENT_WARNING ? "Warning" : "Normal",
                     "reason", reason, "action", action, "note", note, "regarding", regarding);
}

void events_record(struct events *events, const struct api_resource *resource,
                   const Api__ObjectMeta *about, enum event_type type, const char *reason,
                   const char *action, const char *format, ...)
{
    uint64_t now = loop_now(events->loop);
    struct series *series;
    va_list args;

    va_start(args, format);
    CLEANUP(freep) char *note = mem_vprintf(format, args);
    va_end(args);
    if (strlen(note) >= LONGEST_NOTE)
        note[LONGEST_NOTE - 1] = '\0';
    utf8_repair(note);

    const char *identity = about->uid ? about->uid : about->name;
    CLEANUP(freep) char *key = mem_printf("%s\n%d\n%s\n%s", identity, type, reason, note);
    if (!take_allowance(events, identity) || events->queued >= MAX_QUEUED)
        return;
    HASH_FIND_STR(events->series, key, series);
    if (series && now - series->last_ms > SERIES_MS && !is_busy(series)) {
        free_series(events, series);
        series = NULL;
    }
    if (!series) {
        series = new_series(events, resource, about, TAKE_PTR(key));
        series->first = event_json(events, series, resource, about, type, reason, action, note);
    }
    series->count++;
    series->last_us = loop_wall_us(events->loop);
    series->last_ms = now;
    enqueue(events, series);
}
