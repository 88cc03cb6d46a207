/* cluster.h - the cluster as it was at one moment: lists that are read once.
 */
#pragma once

#include "azdiskctl/listed.h"

/* Label selector: what the chart has made, whatever its values are. */
#define OF_THE_CHART "app.kubernetes.io/part-of=azuredisk-csi-driver"

struct cluster {
    struct cluster_view view;
    struct object_list claims, pods, events;
    char *cluster_id;            /* of CLUSTER_IDENTITY; NULL: not read */
    int64_t now_us;              /* when it was read */
    uint64_t heartbeat_limit_ms; /* heartbeat_limit.h; set by who looks at heartbeats */

    struct listed *owned; /* what the other lists point into */
    size_t n_owned;
};

/* What a command looks at beside the custom resources, nodes and PersistentVolumes. */
enum cluster_part {
    CLUSTER_VOLUME_ATTACHMENTS = 1 << 0, /* VolumeAttachments */
    CLUSTER_CLAIMS = 1 << 1,
    CLUSTER_PODS = 1 << 2, /* of one namespace, or of all; on one node, or anywhere */
    CLUSTER_EVENTS = 1 << 3,
    CLUSTER_IDENTITY = 1 << 4,  /* by which disks of other clusters are told from this one's */
    CLUSTER_SNAPSHOTS = 1 << 5, /* AzSnapshots; none, if the cluster does not know such objects */
};

struct cluster_query {
    const char *driver_name, *object_namespace;
    const char *pod_namespace; /* NULL: all */
    const char *pod_node;      /* NULL: wherever they are */
    unsigned parts;            /* of enum cluster_part */
};

struct err *cluster_read(struct task *self, struct kube *kube, const struct cluster_query *query,
                         struct cluster *ret) __attribute__((warn_unused_result));
/* The pods of a namespace, beside what was read; for who knows it only then. */
struct err *cluster_read_pods(struct task *self, struct kube *kube, const char *namespace_,
                              struct cluster *cluster) __attribute__((warn_unused_result));
void cluster_fini(struct cluster *cluster);

/* ---- what several commands say of objects ---- */

/* "eastus-1", "eastus-1,eastus-2", "any"; free() it. */
char *volume_zones(const struct cluster *cluster, const struct kube_object *volume)
    __attribute__((warn_unused_result));
/* Of a Node, or of none; NULL if its plug-in has not labelled it. Borrowed. */
const char *node_zone(const struct cluster *cluster, const struct kube_object *node);
/* Of several PersistentVolumes of one disk a bound one; NULL if there is none. */
const struct kube_object *pv_of_disk(const struct cluster *cluster, const char *disk_id);
const struct kube_object *pv_among(const struct object_list *pvs, const char *disk_id);
/* The claim of a PersistentVolume as "namespace/name"; NULL if there is none; free() it. */
char *claim_of_pv(const struct kube_object *pv) __attribute__((warn_unused_result));
/* The claim of a disk's PersistentVolume as "namespace/name"; NULL if there is none; free() it. */
char *claim_of_disk(const struct cluster *cluster, const char *disk_id)
    __attribute__((warn_unused_result));
/* The state on record, "Deleting" once that is asked for, "Pending" before there is one. */
const char *volume_stage(const struct kube_object *volume);
/* The role that an attachment is to have. */
const char *attachment_role(const struct kube_object *attachment);
/* Where an attachment is, in a word: "waiting", "attaching", "attached", "promoting", "demoting",
 * "detaching", "failed". */
const char *attachment_stage(const struct kube_object *attachment);

/* By their names. free() it. */
struct kube_object **objects_sorted(const struct object_list *list)
    __attribute__((warn_unused_result));
struct kube_object *find_object(const struct object_list *list, const char *key);
/* The first that has this value; NULL if there is none. */
struct kube_object *find_by(const struct object_list *list, object_key_fn *key_of,
                            const char *value);
/* What is on record of a volume, by the name of its AzVolume or PersistentVolume: either, both or
 * neither; NULL for what is not. */
void find_volume(const struct cluster *cluster, const char *name,
                 const struct kube_object **ret_volume, const struct kube_object **ret_pv);
