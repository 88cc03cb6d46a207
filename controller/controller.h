/* controller.h - what all parts of the controller share.
 *
 * One struct, a part of the app (app.h), made before everything else and freed last. The stores
 * have a copy of the cluster in every replica of the controller.
 */
#pragma once

#include "controller/leading.h"
#include "lib/api/azdisk.pb-c.h"
#include "lib/kube/client.h"
#include "lib/kube/events.h"
#include "lib/kube/store.h"
#include "lib/rpc/in_flight.h"
#include "provisioner-lib/cloud.h"
#include "provisioner-lib/records/attachment.h"
#include "provisioner-lib/records/volume.h"

enum publish_wait { PUBLISH_WAIT_CREATED, PUBLISH_WAIT_LUN, PUBLISH_WAIT_ATTACHED };
enum on_unpublish { ON_UNPUBLISH_DEMOTE, ON_UNPUBLISH_DETACH };
enum repair { REPAIR_SAFE, REPAIR_NONE };
enum placement_way { PLACEMENT_NONE, PLACEMENT_NOMINATE };

struct settings {
    const char *driver_name;
    const char *namespace_; /* of the custom resources */
    int publish_wait;       /* enum publish_wait */
    int on_unpublish;       /* enum on_unpublish */
    uint64_t replica_gc_delay_ms;
    uint64_t heartbeat_limit_ms;    /* a node plug-in that was silent for longer is not ready */
    int64_t worker_tasks;           /* of each reconciler */
    uint64_t audit_interval_ms;     /* between scans; 0: none */
    bool expand_detaches_replicas;  /* of a disk that cannot be changed while a VM has it */
    int64_t reserved_slots;         /* of each VM, for disks of others */
    int repair;                     /* enum repair: what the audit puts right */
    uint64_t node_grace_period_ms;  /* until a node with a Lease is silent; 0: never */
    int64_t failover_max_silent;    /* percent of all nodes; docs/failover.md */
    const char *scheduler_extender; /* namespace/app of its pods; "": unknown */
    int placement;                  /* enum placement_way: what is done for pods at the gate */
    const char *placement_webhook;  /* whose certificate is kept; "": none */
    const char *placement_certificate_secret; /* where */
    uint64_t placement_certificate_ms;        /* how long one lasts */
};

struct controller {
    struct loop *loop;
    struct settings settings;
    struct disk_creator creator; /* this driver in this cluster */
    struct kube *kube;           /* for what any replica may do */
    struct kube *leader_kube;    /* for reconcilers: writes only while this process leads */
    struct cloud *cloud;         /* the same */
    struct events *events;

    struct store *volumes, *attachments, *driver_nodes, *snapshots; /* custom resources */
    struct store *nodes, *namespaces, *pods, *persistent_volumes;
    struct store *volume_attachments;                   /* Kubernetes's */
    struct store_index *attachments_by_volume;          /* by the AzVolume's key */
    struct store_index *attachments_by_node;            /* by the node's name */
    struct store_index *pods_by_claim;                  /* by the PersistentVolumeClaim's key */
    struct store_index *pods_by_label, *repelling_pods; /* scheduling/interpod_affinity.h */
    struct store_index *persistent_volumes_by_claim;    /* by the claim's key, while bound to it */
    struct store_index *volumes_by_pv;              /* by the PersistentVolume that is on record */
    struct store_index *volumes_by_disk;            /* by the id that is on record, in lower case */
    struct store_index *snapshots_by_id;            /* by the id that is on record, likewise */
    struct store_index *snapshots_by_disk;          /* by the id of their disk, likewise */
    struct store_index *persistent_volumes_by_name; /* by volume_plain_name() of their disks */
    struct store_index *volume_attachments_by_pv;   /* by the PersistentVolume's name */
    struct store_index *volume_attachments_by_inline_disk; /* of pods without one, likewise */
    struct store_index *volume_attachments_by_node;        /* by the Node's name */
    struct node_infos *node_infos;
    struct deleted_node *deleted_nodes; /* failover/deleted_nodes.h */

    struct timer liveness;   /* of nodes (routing/replica_events.c) */
    struct leading *leading; /* NULL unless this process leads */

    struct in_flight csi_calls;  /* by volume */
    struct semaphore publishes;  /* that write their attachment; the others wait with empty hands */
    struct adoptions {           /* that are being written (volume/adoption.h) */
        struct string_set names; /* of the disks */
        struct waiters ended;
    } adoptions;
};

/* ---- the reconcilers, each a workqueue_work_fn in a file of its own ---- */

workqueue_work_fn reconcile_volume, reconcile_attachment, reconcile_replicas, reconcile_driver_node,
    reconcile_recovery;
/* The part of reconcile_attachment that needs no cloud, promotion above all: on a queue of its own,
 * so that it waits for no task, and no look, of an attachment that does. */
workqueue_work_fn reconcile_role;

/* How many disks a node's VM can have, looked up anew from time to time: on a queue of its own, so
 * that clearing up after a node does not wait behind looks that nobody needs. */
workqueue_work_fn reconcile_limit;

workqueue_work_fn reconcile_snapshot;
/* progress.h; of many snapshots and disks at once. */
workqueue_work_fn reconcile_snapshot_progress, reconcile_disk_progress;

workqueue_work_fn reconcile_failover;

/* placement/reconcile.h; of pods that wait for it. */
workqueue_work_fn reconcile_placement;

/* volume/attachment_summary.h; on a queue of its own, since it is in no hurry. */
workqueue_work_fn reconcile_summary;

/* Forgets what was learned while leading. */
void attachment_forget_learned(struct controller *controller);

/* ---- small things that several of them need ---- */

/* An AzVolume by its name; NULL if there is none. */
struct kube_object *volume_of_name(const struct controller *controller, const char *name);

/* The AzSnapshot that has this id on record; NULL if there is none. */
struct kube_object *snapshot_of_id(const struct controller *controller, const char *id);

/* Attachments of a volume, by the AzVolume's name. */
struct kube_object *const *attachments_of_volume(const struct controller *controller,
                                                 const char *volume_name, size_t *ret_n);

/* Adds the key of the object with this name to a queue; nothing unless this process leads. */
void enqueue(const struct controller *controller, enum queue queue, const char *name);
