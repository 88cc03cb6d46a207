/* event.h - what Events say about an object, for those who tell a story of it.
 */
#pragma once

#include "azdiskctl/cluster.h"

/* When it happened last; 0 if it does not say. */
int64_t event_time_us(const struct kube_object *object);
int event_count(const struct kube_object *object);
bool event_is_about(const struct kube_object *object, const char *kind,
                    const struct kube_object *about);
/* The last warning about an object, "Reason: note"; NULL if there is none; free() it. */
char *last_warning(const struct cluster *cluster, const char *kind,
                   const struct kube_object *object) __attribute__((warn_unused_result));

/* What an RFC 3339 text says; 0 if it is none. */
int64_t time_of_text(const char *text);
