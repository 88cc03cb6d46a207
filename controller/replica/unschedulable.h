/* unschedulable.h - volumes that have fewer replicas than they should, since there is no place for
 * more.
 *
 * They are planned for again when there may be one. The list belongs to the leader, and is made
 * anew by the next one.
 */
#pragma once

#include "controller/controller.h"

/* A few, for a place that has become free is soon taken. */
enum { UNSCHEDULABLE_FEW = 64 };
#define UNSCHEDULABLE_ALL SIZE_MAX

/* Remembers the volume, and why. False if that is nothing new. */
bool unschedulable_add(struct controller *controller, const struct kube_object *volume,
                       const char *why);
/* The same, with an event on the volume if it is new; "" tells nothing. */
void unschedulable_report(struct controller *controller, const struct kube_object *volume,
                          const char *why);
void unschedulable_remove(struct controller *controller,
                          const char *key); /* harmless if there is none */

/* In a moment, so that what happens at the same time is seen together. Those that have waited for
 * longest are the first. */
void unschedulable_requeue(struct controller *controller, size_t most);

void unschedulable_clear(struct controller *controller); /* all of them */
