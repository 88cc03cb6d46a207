/* placement_gate.h - the scheduling gate that holds a pod back until a node is proposed for it.
 *
 * The webhook of azdisk-scheduler-extender gives it to a new pod, the leader takes it away when it
 * has written status.nominatedNodeName. Nobody may have to wait for either of them: whoever finds a
 * gate that is overdue takes it away. Pure; for all programs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "lib/api/kubernetes.pb-c.h"

#define PLACEMENT_GATE "disk.csi.azure.com/placement"

enum { PLACEMENT_GATE_LIMIT_MS = 5 * 1000 }; /* the gate is overdue then */

bool pod_has_placement_gate(const Api__Pod *pod);

/* When the gate of this pod is overdue: PLACEMENT_GATE_LIMIT_MS after the pod was made, or was seen
 * here for the first time, whichever is earlier, so that neither a restart of ours nor a clock that
 * is behind the API server's makes the pod wait longer. All in microseconds since 1970. */
int64_t placement_gate_overdue_us(const Api__Pod *pod, int64_t seen_us);

/* A JSON patch (RFC 6902) that takes the gate away from this very pod, and of its gates only this
 * one: it fails if the pod is another by now, or its gates have changed. NULL if there is no such
 * gate. */
json_t *placement_gate_removal(const Api__Pod *pod) __attribute__((warn_unused_result));
