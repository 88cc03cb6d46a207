/* machine_look.h - asks the cloud whether the machine of a node that is silent, or whose Node was
 * deleted, is off, for those whose volumes nobody can fence (docs/failover.md).
 *
 * Beside the reconciler, which must not wait for a cloud that is slow while a disk may be fenced
 * any moment; it is told when there is an answer. An answer is about the boot that the node had
 * when the question was asked: that one has ended, whatever becomes of the machine. What is
 * remembered ends when the node is heard of. Part of controller->leading; owner: node_leases.c.
 */
#pragma once

#include "controller/controller.h"
#include "lib/rt/group.h"

struct machine_looks;

struct machine_looks *machine_looks_new(struct controller *controller, struct task_group *group);
void machine_looks_free(struct machine_looks *looks); /* after the group was closed */

/* What is known of a machine. */
enum machine_look {
    MACHINE_TO_ASK,     /* nobody has asked yet, or not for long */
    MACHINE_ASKED,      /* just now */
    MACHINE_MAY_RUN,    /* by the last answer, or the cloud has none; it is asked again later */
    MACHINE_IS_OFF,     /* the boot that the node has had has ended */
    MACHINE_IS_UNKNOWN, /* no Node has said which it is */
};
enum machine_look machine_look_of(const struct machine_looks *looks,
                                  const struct kube_object *node);

/* Asks, if that is due. */
void machine_look_begin(struct machine_looks *looks, struct kube_object *node);
void machine_look_forget(struct machine_looks *looks, const char *node);
