/* node.h - what all parts of the node plug-in share.
 *
 * One struct, owned by main.c, made before everything else and freed last. It mirrors only what
 * concerns this node, so that its size does not follow the cluster's.
 */
#pragma once

#include "lib/api/azdisk.pb-c.h"
#include "lib/kube/client.h"
#include "lib/kube/store.h"
#include "lib/rpc/in_flight.h"
#include "provisioner-lib/host/host.h"

struct settings {
    const char *driver_name;
    const char *node_id;          /* the Kubernetes node's name */
    const char *namespace_;       /* of the custom resources */
    const char *kubelet_endpoint; /* path of the CSI socket as kubelet sees it */
    uint64_t heartbeat_interval_ms;
    uint64_t node_lease_duration_ms; /* 0: no Lease (node/node_lease.h) */
    uint64_t replica_check_interval_ms;
    int64_t volume_attach_limit; /* -1: what the VM's size allows */
    bool remove_not_ready_taint; /* node/startup_taint.h */
};

struct node {
    struct loop *loop;
    struct settings settings;
    struct kube *kube;
    struct http_transport *metadata; /* to the instance metadata service */
    struct host *host;
    struct volume_looks *looks;

    char *attachments_selector, *own_selector; /* what is watched */
    struct store *attachments;                 /* AzVolumeAttachments of this node */
    struct store_index *attachments_by_volume; /* by volume id in lower case */
    struct store *driver_nodes;                /* at most our own */

    bool serving;             /* CSI */
    bool registered;          /* kubelet has said so */
    unsigned registrations;   /* how often */
    unsigned kubelet_lives;   /* how often kubelet has asked who the plug-in is */
    char *registration_error; /* why it could not, in its words; NULL: it has not said so */
    bool stopping;
    uint64_t heartbeat; /* loop_now() time of the last; 0: none yet */
    char *cluster_id;   /* lib/kube/cluster_id.h; NULL: not read yet */
    char *zone;         /* of the VM, as zone.h keeps it; NULL: not known yet */

    struct list replica_disks;  /* node/replica_disk.h */
    struct list replica_checks; /* node/replica_check.h */
    struct list left_mounts;    /* node/left_mount.h */
    struct in_flight volumes;
    struct in_flight running_jobs; /* of this process, by the uid of their attachment */
    struct waiters changed;        /* woken when anything above may have changed */
};

/* Tells all who wait for something here to look again. */
void node_changed(struct node *node);
/* Begins the end: the node is not ready any more, and the next heartbeat says so. */
void node_stop(struct node *node);

/* Why volumes cannot be served (yet); NULL when they can. */
struct err *node_check_ready(const struct node *node) __attribute__((warn_unused_result));
