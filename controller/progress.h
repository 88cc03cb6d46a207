/* progress.h - how much of the data of disks and snapshots has been copied.
 *
 * Azure copies that of PremiumV2 and Ultra disks in the background, for minutes or hours: to
 * snapshots of them, and to disks that are made from something else or become of that kind. All of
 * a resource group that are not complete are looked at with one list, every 15 seconds, as long as
 * there are any: the queue's keys are progress_group() of their ids.
 */
#pragma once

#include "controller/controller.h"

struct progress {
    struct controller *controller;
    struct store *store; /* of the records; kept sorted */
    enum queue queue;
    /* The id of what a record is about, if not all of its data is there; NULL otherwise. */
    const char *(*incomplete_id)(const struct kube_object *object);
    /* Records what a list says of one of them, or that it says nothing. */
    struct err *(*record)(struct task *self, struct controller *controller,
                          struct kube_object *object, const void *list);
};

/* Everything of an id but its name, in lower case; free() it. */
char *progress_group(const char *id) __attribute__((warn_unused_result));

/* Looks at the object's group before long, if the object is not complete. */
void progress_enqueue(const struct progress *progress, const struct kube_object *object);

/* The id of one of the group that is not complete, beside which all are listed; NULL if there is
 * none. free() it. */
char *progress_any(const struct progress *progress, const char *group)
    __attribute__((warn_unused_result));
/* Records what the list says of those of the group, and comes back while there are any. */
struct err *progress_record(struct task *self, const struct progress *progress, const char *group,
                            const void *list) __attribute__((warn_unused_result));
