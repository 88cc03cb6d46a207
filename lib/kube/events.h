/* events.h - Events, which `kubectl describe` shows below an object.
 *
 * An event says what happened to one object, for the person who looks at it. The same event again
 * becomes a count on the first one, and an object about which there is more to say than anybody
 * reads is cut short. Sending happens later and in the background; an event that cannot be sent is
 * dropped and reported to `failed`, because the work that it tells of is done either way.
 */
#pragma once

#include "lib/kube/client.h"
#include "lib/rt/group.h"

enum event_type { EVENT_NORMAL, EVENT_WARNING };

struct events_config {
    struct kube *kube;
    const char *controller; /* the driver's name */
    const char *instance;   /* the pod's name */
    void (*failed)(void *ctx, const struct err *err);
    void *ctx;
};

struct events;

/* What `config` points to must outlive it. The sender is a member of `group`; free after that is
 * closed. */
struct events *events_new(struct task_group *group, const struct events_config *config);
void events_free(struct events *events);
DEFINE_CLEANUP(struct events, events_free)

/* `reason` is a word in UpperCamelCase out of a fixed set, `action` what was being done, the note
 * (at most 1 kB) says what, why, and what happens next. */
void events_record(struct events *events, const struct api_resource *resource,
                   const Api__ObjectMeta *about, enum event_type type, const char *reason,
                   const char *action, const char *format, ...)
    __attribute__((format(printf, 7, 8)));
