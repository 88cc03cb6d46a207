/* The profiles: what happens in scenarios of a kind, and how often per hour. */

#include <string.h>

#include "lib/rt/random.h"
#include "test/sim/incident.h"
#include "test/sim/landscape.h"

enum { MINUTE_MS = 60 * 1000, QUIET_MS = 25 * MINUTE_MS };

/* What people ask for all the time. */
#define SOME_WORK                                                                                  \
    {"workload-create", 3}, {"workload-scale", 4}, {"workload-roll", 3}, {"workload-delete", 2},   \
        {"workload-create-block", 1}, {"workload-create-copy", 2},                                 \
        {"workload-change-replicas", 2}, {"claim-grows", 6}, {"claim-modified", 3},                \
        {"snapshot-taken", 6}, {"snapshot-deleted", 4}, {"pod-restart", 4},                        \
    {                                                                                              \
        "pod-move", 4                                                                              \
    }
/* A little of what goes wrong, so that what a profile is about does not come alone. */
#define SOME_TROUBLE                                                                               \
    {"leader-killed", 2}, {"leader-paused", 2}, {"leader-ended", 2}, {"controller-killed", 1},     \
        {"api-network-bad", 1}, {"azure-network-bad", 1}, {"watches-uneven", 1},                   \
    {                                                                                              \
        "watches-broken", 2                                                                        \
    }

#define RATES(...)                                                                                 \
    (const struct profile_rate[])                                                                  \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            NULL, 0                                                                                \
        }                                                                                          \
    }

const struct profile PROFILES[] = {
    {"calm", 30 * MINUTE_MS, QUIET_MS, RATES(SOME_WORK, {"disk-attach-refused", 3})},
    {"busy", 40 * MINUTE_MS, QUIET_MS,
     RATES({"workload-create", 20}, {"workload-delete", 18}, {"workload-roll", 5},
           {"workload-change-replicas", 5}, {"claim-grows", 15}, {"claim-modified", 8},
           {"pod-move", 10}, {"disk-attach-refused", 3})},
    {"rolling", 40 * MINUTE_MS, QUIET_MS,
     RATES(SOME_TROUBLE, {"workload-*", 2}, {"workload-create", 4}, {"workload-roll", 15},
           {"claim-grows", 10}, {"claim-modified", 5}, {"pod-move", 10})},
    {"churn", 40 * MINUTE_MS, QUIET_MS,
     RATES(SOME_TROUBLE, {"workload-create", 20}, {"workload-delete", 18}, {"workload-scale", 10},
           {"workload-change-replicas", 6}, {"claim-grows", 10}, {"claim-modified", 5},
           {"azure-creation-*", 1}, {"azure-deletion-*", 1})},
    {"block", 40 * MINUTE_MS, QUIET_MS,
     RATES(SOME_WORK, SOME_TROUBLE, {"workload-create-block", 10}, {"node-*", 1})},
    {"node-deaths", 45 * MINUTE_MS, QUIET_MS,
     RATES(SOME_WORK, SOME_TROUBLE, {"node-*", 5}, {"vm-*", 1}, {"pod-force-delete", 3})},
    {"zone-loss", 45 * MINUTE_MS, QUIET_MS,
     RATES(SOME_WORK, SOME_TROUBLE, {"zone-*", 3}, {"azure-zone-hangs", 2})},
    {"drains", 40 * MINUTE_MS, QUIET_MS,
     RATES(SOME_WORK, SOME_TROUBLE, {"node-drain*", 12}, {"node-add*", 4}, {"node-remove*", 4},
           {"cluster-*", 6})},
    {"failovers", 45 * MINUTE_MS, QUIET_MS,
     RATES(SOME_WORK, {"leader-killed", 12}, {"leader-ended", 6}, {"leader-paused", 12},
           {"controllers-killed", 3}, {"controller-paused", 6}, {"node-*", 3}, {"silent-*", 1},
           {"vm-*", 0.5}, {"pod-move", 10})},
    {"bad-api", 40 * MINUTE_MS, QUIET_MS,
     RATES(SOME_WORK, {"api-*", 6}, {"watch*", 8}, {"lists-stale", 5}, {"history-compacted", 6},
           {"leader-killed", 4}, {"leader-paused", 4}, {"node-*", 2})},
    {"azure-down", 100 * MINUTE_MS, QUIET_MS,
     RATES(SOME_WORK, {"azure-unreachable", 1.5}, {"node-*", 2}, {"leader-killed", 1})},
    {"azure-faults", 60 * MINUTE_MS, QUIET_MS,
     RATES({"claim-grows", 20}, {"claim-modified", 10}, SOME_WORK, SOME_TROUBLE, {"azure-*", 1},
           {"azure-unreachable", 0.2}, {"node-*", 1}, {"vm-*", 1})},
    {"by-hand", 40 * MINUTE_MS, QUIET_MS,
     RATES(SOME_WORK, SOME_TROUBLE, {"replica-detached-by-hand", 6}, {"disk-attached-by-hand", 6},
           {"disk-grown-by-hand", 6}, {"shares-lowered-by-hand", 12}, {"volume-restored", 6},
           {"volume-attached-by-hand", 6}, {"volume-attachments-removed-by-hand", 6},
           {"volume-record-deleted-by-hand", 6}, {"attachment-record-deleted-by-hand", 6},
           {"node-*", 1})},
    {"copies", 45 * MINUTE_MS, QUIET_MS,
     RATES(SOME_WORK, SOME_TROUBLE, {"workload-create", 8}, {"workload-create-copy", 12},
           {"workload-delete", 10}, {"snapshot-taken", 20}, {"snapshot-deleted", 8},
           {"claim-grows", 10}, {"claim-modified", 12}, {"leader-killed", 12},
           {"controllers-killed", 2}, {"azure-creation-*", 3}, {"volume-record-deleted-by-hand", 1},
           {"node-*", 1})},
    {"everything", 60 * MINUTE_MS, 30 * MINUTE_MS,
     RATES(SOME_WORK, {"node-*", 2}, {"zone-*", 1}, {"azure-*", 0.3}, {"vm-*", 0.3}, {"api-*", 1},
           {"watch*", 1}, {"lists-stale", 1}, {"history-compacted", 1}, {"leader-*", 2},
           {"controller*", 1}, {"silent-*", 0.5}, {"pod-*", 2}, {"replica-detached-by-hand", 1},
           {"disk-attached-by-hand", 1}, {"disk-grown-by-hand", 1}, {"shares-lowered-by-hand", 2},
           {"volume-restored", 1})},
    /* Only in clusters in which nodes are failed over; the last one. */
    {"silent-nodes", 45 * MINUTE_MS, QUIET_MS,
     RATES(SOME_WORK, {"silent-*", 2}, {"silent-dies", 4}, {"silent-cut", 6},
           {"pod-force-delete", 1}, {"leader-killed", 1}, {"leader-paused", 1}, {"api-away", 1},
           {"api-network-bad", 1}, {"api-errors", 1}, {"watches-uneven", 1}, {"node-reboot", 2},
           {"silent-deleted", 4}, {"attachment-record-deleted-by-hand", 1})},
    {.name = NULL},
};

const struct profile *profile_find(const char *name)
{
    for (const struct profile *profile = PROFILES; profile->name; profile++)
        if (strcmp(profile->name, name) == 0)
            return profile;
    return NULL;
}

const struct profile *profile_of_seed(uint64_t seed)
{
    enum { SILENT_NODES = 5 }; /* one seed in so many, where nodes are failed over */
    struct random random = {.state = seed};
    uint64_t n = 0;

    while (PROFILES[n].name)
        n++;
    const struct profile *last = &PROFILES[n - 1], *drawn = &PROFILES[random_below(&random, n - 1)];
    bool silent = landscape_of_seed(seed).failover && random_below(&random, SILENT_NODES) == 0;
    return silent ? last : drawn;
}
