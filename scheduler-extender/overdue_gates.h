/* overdue_gates.h - takes the placement gate away from pods that have it for too long.
 *
 * Every replica of the extender does it, for every pod of the cluster, whoever has added the gate:
 * the leader, which takes it away as a rule, may be gone or busy. All gated pods are read at the
 * start, so that a gate does not outlive a restart. A few are taken away at a time; one that cannot
 * be is tried again after a pause. Loop's thread.
 */
#pragma once

#include "lib/kube/client.h"
#include "lib/rt/group.h"

struct overdue_gates;

struct overdue_gates_config {
    struct kube *kube;
    void (*failed)(void *ctx, const struct api_resource *resource, const struct err *err);
    void *ctx;
};

/* Runs as a member of `group`; what `config` points to must outlive it. */
struct overdue_gates *overdue_gates_start(struct loop *loop, struct task_group *group,
                                          const struct overdue_gates_config *config);
/* False before all gated pods are known, and while gates cannot be removed: no more of them, then.
 */
bool overdue_gates_are_removed(const struct overdue_gates *gates);
/* Before the end: takes away all gates that are known, overdue or not, for this may be the last of
 * our programs. Returns when none is left, or after some seconds. */
void overdue_gates_leave(struct task *self, struct overdue_gates *gates);
void overdue_gates_free(struct overdue_gates *gates); /* after the group was closed; NULL is fine */
