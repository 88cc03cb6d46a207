/* work.h - one node that is being looked at by failover/reconcile.c: what is known of it and of the
 * volumes that are published to it.
 *
 * Good until the next yield, but for the objects, which are referenced.
 */
#pragma once

#include "controller/controller.h"
#include "controller/failover/plan.h"

/* What the API server itself says just now. */
struct failover_look {
    bool kubelet_is_silent; /* by kubelet's own Lease */
    bool is_deleted;        /* there is no Node */
};

/* A volume that is published to the node. */
struct failover_disk {
    struct kube_object *attachment; /* the node's; referenced */
    char *request;                  /* what a replica is asked; NULL without a fence */
    struct kube_object *to_ask;     /* the next replica's attachment; referenced; or NULL */
};

/* A request that was not answered. */
struct failover_request {
    struct kube_object *attachment; /* the replica's; referenced */
    size_t volume;
};

struct failover_work {
    struct controller *controller;
    const char *name;
    struct failover_look look;
    struct kube_object *node; /* referenced; the one that was deleted; NULL: nothing is known */
    char *since;              /* the last renewal of its Lease; NULL: it is not silent */
    struct failover_disk *disks;
    struct failover_volume *volumes; /* of the same index */
    char *foreign;                   /* one of what is not ours to prove, in words; or NULL */
    struct failover_pod *pods;       /* pods.h */
    size_t n_pods;
    struct failover_request *unanswered; /* of in.n_unanswered */
    struct kube_object *left;            /* an attachment of what was left; referenced; or NULL */
    struct failover_facts in;
};

/* How many nodes may be silent at once. */
unsigned failover_most_silent(const struct controller *controller);

void failover_work_gather(struct controller *controller, const char *name,
                          struct failover_look look, struct failover_work *ret);
void failover_work_fini(struct failover_work *work);
/* The index of an AzVolume of that name which is published there; in.n_volumes: it is not. */
size_t failover_work_find(const struct failover_work *work, const char *volume);
