#include "azdiskctl/event.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/timestamp.h"

int64_t time_of_text(const char *text)
{
    int64_t us = 0;

    if (!text)
        return 0;
    CLEANUP(err_freep) struct err *err = timestamp_parse(text, &us);
    return err ? 0 : us;
}

/* Kubelet and many others write theirs through the older API, which has no eventTime and no series,
 * and counts in the Event itself. */
int64_t event_time_us(const struct kube_object *object)
{
    const Api__Event *event = KUBE_AS(Api__Event, object);
    const char *texts[] = {event->series ? event->series->last_observed_time : NULL,
                           event->event_time, event->deprecated_last_timestamp,
                           object->metadata->creation_timestamp};
    int64_t us = 0;

    for (size_t i = 0; i < COUNT_OF(texts) && !us; i++)
        us = time_of_text(texts[i]);
    return us;
}

int event_count(const struct kube_object *object)
{
    const Api__Event *event = KUBE_AS(Api__Event, object);
    int count = event->series ? event->series->count : event->deprecated_count;

    return count > 1 ? count : 1;
}

static bool same_namespace(const char *a, const char *b)
{
    return !a || !b || strcmp(a, b) == 0;
}

bool event_is_about(const struct kube_object *object, const char *kind,
                    const struct kube_object *about)
{
    const Api__ObjectReference *regarding = KUBE_AS(Api__Event, object)->regarding;

    return regarding && regarding->kind && regarding->name && strcmp(regarding->kind, kind) == 0 &&
           strcmp(regarding->name, about->metadata->name) == 0 &&
           same_namespace(regarding->namespace_, about->metadata->namespace_);
}

char *last_warning(const struct cluster *cluster, const char *kind,
                   const struct kube_object *object)
{
    const struct kube_object *last = NULL;

    for (size_t i = 0; object && i < cluster->events.n; i++) {
        const struct kube_object *event = cluster->events.items[i];
        const char *type = KUBE_AS(Api__Event, event)->type;

        if (type && strcmp(type, "Warning") == 0 && event_is_about(event, kind, object) &&
            (!last || event_time_us(event) >= event_time_us(last)))
            last = event;
    }
    if (!last)
        return NULL;
    const Api__Event *event = KUBE_AS(Api__Event, last);
    return mem_printf("%s: %s", event->reason ? event->reason : "?",
                      event->note ? event->note : "");
}
