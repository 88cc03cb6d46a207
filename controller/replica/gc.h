/* gc.h - when the replicas of a volume that nobody has published go.
 *
 * The time is set when the volume is found unpublished, and stands in the AzVolume's status: the
 * next leader keeps it, and a publish takes it away. Those of a volume whose claim is gone go at
 * once. The decision is a pure function.
 */
#pragma once

#include "controller/controller.h"

struct replica_gc_snapshot {
    bool published; /* an attachment is the primary, or is to be */
    bool in_use;    /* Kubernetes has the volume on a node, or is about to, whatever is on record */
    bool attached;  /* there is something to collect */
    bool released;  /* its claim is gone: nobody is about to publish it again, or to unpublish it */
    int64_t deadline_us; /* on record; 0: none */
    int64_t now_us;
    uint64_t delay_ms; /* after the last unpublish */
};

enum collection_step {
    REPLICA_GC_NONE,
    REPLICA_GC_SET,    /* the deadline, at `at_us` */
    REPLICA_GC_CANCEL, /* take it away */
    REPLICA_GC_WAIT,   /* until `at_us` */
    REPLICA_GC_DUE,
};

struct replica_gc_plan {
    enum collection_step step;
    int64_t at_us;
};

struct replica_gc_plan replica_gc_decide(const struct replica_gc_snapshot *in);

/* Keeps the record of an AzVolume as decided, and collects what is due. `ret_published` says
 * whether the volume is to have replicas. */
struct err *replica_gc_run(struct task *self, struct controller *controller,
                           const struct kube_object *volume, bool *ret_published)
    __attribute__((warn_unused_result));
