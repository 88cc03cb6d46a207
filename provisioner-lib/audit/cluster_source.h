/* cluster_source.h - where the audit finds the objects of a cluster: in lists that were read once
 * (view_source.h), or in a controller's stores.
 *
 * A table of lookups, so that the comparisons are written once. A lookup is quick, does not yield
 * and answers for this moment; ids of disks are alike whatever their case. Objects and lists are
 * borrowed, good until the next yield.
 */
#pragma once

#include "lib/rt/task.h"
#include "provisioner-lib/audit/cluster_view.h"

enum cluster_kind { VOLUMES_OF, ATTACHMENTS_OF, SNAPSHOTS_OF, PERSISTENT_VOLUMES_OF, NODES_OF };

struct cluster_source;

struct cluster_source_ops {
    /* Visits each object of a kind that is there all the time, and may yield between two visits,
     * never within one. */
    struct err *(*walk)(struct task *self, const struct cluster_source *source,
                        enum cluster_kind kind,
                        void (*visit)(void *ctx, struct kube_object *object), void *ctx);
    /* For a walk over something else: called for the nth of its things, it may yield as well. */
    struct err *(*pause)(struct task *self, size_t nth);

    /* NULL if there is none. */
    struct kube_object *(*volume)(const struct cluster_source *source, const char *name);
    struct kube_object *(*volume_of_disk)(const struct cluster_source *source, const char *id);
    /* The AzSnapshot of that name, and the one that has this id on record. */
    struct kube_object *(*snapshot)(const struct cluster_source *source, const char *name);
    struct kube_object *(*snapshot_of_id)(const struct cluster_source *source, const char *id);
    struct kube_object *(*node)(const struct cluster_source *source, const char *name);

    struct object_list (*attachments_of_volume)(const struct cluster_source *source,
                                                const char *name);
    struct object_list (*attachments_of_node)(const struct cluster_source *source,
                                              const char *name);
    /* These two may list objects of other disks as well. */
    struct object_list (*persistent_volumes_of_disk)(const struct cluster_source *source,
                                                     const char *id);
    struct object_list (*inline_volume_attachments)(const struct cluster_source *source,
                                                    const char *id);
    /* VolumeAttachments of a PersistentVolume. */
    struct object_list (*volume_attachments)(const struct cluster_source *source, const char *name);
};

struct cluster_source {
    const struct cluster_source_ops *ops;
    const char *driver_name;
    const char *cluster_id; /* lib/kube/cluster_id.h; needed where disks are compared */
};
