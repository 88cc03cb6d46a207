/* node.h - what a Node says of itself. Pure; for any program.
 */
#pragma once

#include <stdbool.h>

#include "lib/api/kubernetes.pb-c.h"

/* The taint by which an operator says that the machine does not run any more. */
#define TAINT_OUT_OF_SERVICE "node.kubernetes.io/out-of-service"

/* The taint by which this driver keeps new pods from a node from which it has moved some of the old
 * ones (docs/failover.md). Its value is the boot id that the node had. */
#define TAINT_FAILED_OVER "disk.csi.azure.com/failed-over"

bool node_is_ready(const Api__Node *node);
/* Pods may be placed there: not cordoned, and no taint keeps them away. */
bool node_is_schedulable(const Api__Node *node);
/* An operator has seen to it that the machine is off: what kubelet said last holds no longer. */
bool node_is_out_of_service(const Api__Node *node);
/* This driver has moved pods away from it. */
bool node_has_failed_over(const Api__Node *node);
/* Which machine it is, as the cloud has told; NULL if nobody has. */
const char *node_provider_id(const Api__Node *node);
/* Another one after each boot; NULL if kubelet has not said it. */
const char *node_boot_id(const Api__Node *node);

/* The volumes that kubelet has mounted there, or is about to (status.volumesInUse): how many, the
 * handle of one of them (NULL: it is another driver's), and whether one is among them. */
size_t node_count_in_use(const Api__Node *node);
const char *node_volume_in_use(const Api__Node *node, const char *driver_name, size_t i);
bool node_uses_volume(const Api__Node *node, const char *driver_name, const char *handle);
