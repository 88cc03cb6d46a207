/* gc.h - garbage collection of the replicas of a volume that is not published anywhere.
 *
 * The deadline is set when the volume is found unpublished. It is kept in the AzVolume's status, so
 * that it survives a change of leader; a publish removes it. If the volume's claim is gone, its
 * replicas are collected immediately. The decision is a pure function.
 */
#pragma once

#include "controller/controller.h"

struct replica_gc_snapshot {
    bool published; /* an attachment is the primary, or is to be */
    bool in_use;    /* Kubernetes has the volume on a node, or will soon, whatever is on record */
    bool attached;  /* there is something to collect */
    bool released;  /* its claim is gone: nothing will publish or unpublish it again */
    int64_t deadline_us; /* on record; 0: none */
    int64_t now_us;
    uint64_t delay_ms; /* after the last unpublish */
};

enum collection_step {
    REPLICA_GC_NONE,
    REPLICA_GC_SET,    /* the deadline, at `at_us` */
    REPLICA_GC_CANCEL, /* remove the deadline */
    REPLICA_GC_WAIT,   /* until `at_us` */
    REPLICA_GC_DUE,
};

struct replica_gc_plan {
    enum collection_step step;
    int64_t at_us;
};

struct replica_gc_plan replica_gc_decide(const struct replica_gc_snapshot *in);

/* Carries out the decision: records or removes the deadline, and deletes replicas that are due.
 * `ret_published`: whether the volume should have replicas. */
struct err *replica_gc_run(struct task *self, struct controller *controller,
                           const struct kube_object *volume, bool *ret_published)
    __attribute__((warn_unused_result));
