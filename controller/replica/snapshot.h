/* snapshot.h - one volume whose replicas are reconciled: its attachments and the nodes where its
 * replicas belong, gathered from the cache.
 *
 * It references the objects that it points to, so it remains valid across a yield, but may then be
 * out of date.
 */
#pragma once

#include "controller/controller.h"
#include "controller/replica/plan.h"

struct replica_work {
    struct kube_object *objects[MAX_ATTACHMENTS]; /* referenced; parallel to `attachments` */
    struct replica_attachment attachments[MAX_ATTACHMENTS];
    size_t n_attachments;
    bool has_primary, primary_attached; /* the latter also if the cloud has begun to attach it */

    /* Set by replica_work_place. */
    unsigned wanted, max_shares;
    struct replica_target targets[MAX_SHARES_LIMIT];
    char *target_nodes[MAX_SHARES_LIMIT]; /* their names */
    size_t n_targets;
    char *why; /* why there are fewer targets than wanted; NULL if there are enough */
};

/* Reads the attachments. */
void replica_work_gather(const struct controller *controller, const struct kube_object *volume,
                         struct replica_work *ret);
/* Computes where the replicas belong, together with those of the pod's other volumes. */
void replica_work_place(const struct controller *controller, const struct kube_object *volume,
                        struct replica_work *work);
void replica_work_fini(struct replica_work *work);
