#include "provisioner-lib/records/placement_gate.h"

#include "lib/base/text.h"
#include "lib/base/timestamp.h"

enum {
    US_IN_MS = 1000,
    US_IN_S = 1000 * US_IN_MS, /* which a creationTimestamp leaves out of its time at most */
    NO_GATE = -1,
};

static int gate_index(const Api__Pod *pod)
{
    for (size_t i = 0; pod->spec && i < pod->spec->n_scheduling_gates; i++)
        if (same_text(pod->spec->scheduling_gates[i]->name, PLACEMENT_GATE))
            return (int)i;
    return NO_GATE;
}

bool pod_has_placement_gate(const Api__Pod *pod)
{
    return gate_index(pod) != NO_GATE;
}

int64_t placement_gate_overdue_us(const Api__Pod *pod, int64_t seen_us)
{
    int64_t made_us = timestamp_noted(pod->metadata ? pod->metadata->creation_timestamp : NULL);

    if (made_us && made_us + US_IN_S < seen_us)
        seen_us = made_us + US_IN_S;
    return seen_us + (int64_t)PLACEMENT_GATE_LIMIT_MS * US_IN_MS;
}

/* The paths are of an array, where a test and what it guards are done in one step. */
json_t *placement_gate_removal(const Api__Pod *pod)
{
    int index = gate_index(pod);

    if (index == NO_GATE || !pod->metadata || !pod->metadata->uid)
        return NULL;
    return json_pack("[{s:s, s:s, s:s}, {s:s, s:o, s:s}, {s:s, s:o}]", "op", "test", "path",
                     "/metadata/uid", "value", pod->metadata->uid, "op", "test", "path",
                     json_sprintf("/spec/schedulingGates/%d/name", index), "value", PLACEMENT_GATE,
                     "op", "remove", "path", json_sprintf("/spec/schedulingGates/%d", index));
}
