/* snapshot.h - the replicas of one volume and where they belong, gathered from the cache.
 *
 * The view holds what it shows: it stays good through a yield, but then it is old.
 */
#pragma once

#include "controller/controller.h"
#include "controller/replica/plan.h"

struct replica_view {
    struct kube_object *objects[MAX_ATTACHMENTS]; /* referenced; beside the attachments */
    struct replica_attachment attachments[MAX_ATTACHMENTS];
    size_t n_attachments;
    bool has_primary, primary_attached;

    /* By replica_view_place. */
    unsigned wanted, max_shares;
    struct replica_target targets[MAX_SHARES_LIMIT];
    char *target_nodes[MAX_SHARES_LIMIT]; /* their names */
    size_t n_targets;
    char *why; /* there are fewer of them than wanted; NULL if not */
};

/* The attachments. */
void replica_view_gather(const struct controller *controller, const struct kube_object *volume,
                         struct replica_view *ret);
/* Where the replicas belong, together with those of the pod's other volumes. */
void replica_view_place(const struct controller *controller, const struct kube_object *volume,
                        struct replica_view *view);
void replica_view_fini(struct replica_view *view);
