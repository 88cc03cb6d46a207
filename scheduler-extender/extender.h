/* extender.h - what all parts of the scheduler extender share.
 *
 * One struct, owned by main.c, made before everything else and freed last. The stores mirror as
 * much of the cluster as the verbs need, in every replica of the extender: nobody leads, nobody
 * writes.
 */
#pragma once

#include "lib/kube/client.h"
#include "lib/kube/store.h"
#include "scheduler-extender/name_table.h"
#include "provisioner-lib/placement/node_health.h"

struct settings {
    const char *driver_name;
    const char *namespace_;      /* of the custom resources */
    uint64_t heartbeat_limit_ms; /* a node plug-in that was silent for longer says nothing */
};

struct extender {
    struct loop *loop;
    struct settings settings;
    struct kube *kube;

    /* Of digests (digest.h). */
    struct store *claims, *volumes;           /* PersistentVolumeClaims, PersistentVolumes */
    struct store *attachments, *driver_nodes; /* custom resources */
    struct store_index *attachments_by_disk;  /* by the disk's id in lower case */
    struct store_index *driver_nodes_by_node; /* by node_key_of its name */
    /* When nodes that were healthy, or not ready, by their last word said so (node_health.h). */
    struct name_table heard_us[N_NODE_HEALTHS];
};
