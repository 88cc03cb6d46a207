/* heartbeat_limit.h - how old a heartbeat may be before the controller takes its node plug-in for
 * silent.
 *
 * It is the controller's --heartbeat-limit, and the cluster knows it: it is an argument in the
 * Deployment that the chart makes. Where there is none, or it may not be read, the flag's default
 * counts.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "lib/kube/client.h"

/* Milliseconds. Does not fail: what is not known is said as a warning. */
uint64_t heartbeat_limit_read(struct task *self, struct kube *kube, const char *driver_name);

/* Of the controller of this driver in a list of Deployments, as JSON; 0 if none of them says it. */
uint64_t heartbeat_limit_of(const json_t *deployments, const char *driver_name);
