/* leader_watch.h - whether a controller leads, as far as its Lease shows.
 *
 * As any candidate does (lib/kube/lease.h), by when a change of the Lease was seen here and never
 * by the clock in it: a leader is there for the duration that the Lease promises since it was last
 * renewed. What is found at first may be old, and does not count. Loop's thread.
 */
#pragma once

#include "lib/kube/client.h"
#include "lib/kube/store.h"
#include "lib/rt/group.h"

struct leader_watch;

struct leader_watch_config {
    struct kube *kube;
    const char *namespace_, *name; /* of the Lease */
    void (*failed)(void *ctx, const struct api_resource *resource, const struct err *err);
    void *ctx;
};

/* Runs as a member of `group`; what `config` points to must outlive it. */
struct leader_watch *leader_watch_start(struct loop *loop, struct task_group *group,
                                        const struct leader_watch_config *config);
bool leader_watch_has_leader(const struct leader_watch *watch);
void leader_watch_free(struct leader_watch *watch); /* after the group was closed; NULL is fine */
