/* cluster_of.h - a cluster as azdiskctl reads it, from a text (test/unit/cluster_text.h) that may
 * also have the lists 'claims', 'pods' and 'events'.
 */
#pragma once

#include "azdiskctl/cluster.h"
#include "lib/base/timestamp.h"
#include "test/unit/cluster_text.h"

#define NOW "2026-01-01T01:00:00Z"
#define PLUGIN(name, ready, heartbeat)                                                             \
    "{'metadata':{'name':'" name "'},'status':{'readyForVolumeAllocation':" ready                  \
    ",'lastHeartbeatTime':'" heartbeat "','slots':{'limit':8,'free':7}}}"

static inline struct cluster cluster_of(const char *text)
{
    CLEANUP(json_decrefp) json_t *json = json_of(text);
    struct cluster cluster = {
        .view = view_of(json),
        .claims = object_list_of(json, "claims", &api__persistent_volume_claim__descriptor),
        .pods = object_list_of(json, "pods", &api__pod__descriptor),
        .events = object_list_of(json, "events", &api__event__descriptor),
        .heartbeat_limit_ms = 2 * 60 * 1000,
    };

    assert_ok(timestamp_parse(NOW, &cluster.now_us));
    return cluster;
}

static inline void cluster_of_free(const struct cluster *cluster)
{
    view_free(&cluster->view);
    object_list_free(&cluster->claims);
    object_list_free(&cluster->pods);
    object_list_free(&cluster->events);
}
