/* move.h - one pod leaves its node: it is evicted, and its successor followed until it is ready.
 */
#pragma once

#include "azdiskctl/dependency_chain.h"
#include "azdiskctl/steps.h"
#include "lib/base/string_set.h"
#include "lib/kube/client.h"

/* What has happened, in milliseconds since the eviction; MOVE_UNSEEN: not, or nobody saw it. */
#define MOVE_UNSEEN UINT64_MAX
enum move_phase {
    MOVE_ENDED,     /* the former pod is gone */
    MOVE_SCHEDULED, /* the successor has a node */
    MOVE_PRIMARY,   /* and the volumes are primary there */
    MOVE_READY,     /* and it is ready */
    MOVE_PHASES
};

struct move {
    struct kube *kube;
    struct steps *steps;
    const char *object_namespace; /* of the custom resources */
    const struct kube_object *pod;
    const struct dependency_chains *chains; /* the pod's */

    /* What comes of it. */
    struct string_set known; /* uids of pods that were there before */
    char *selector;          /* labels of the pods among which the successor is; NULL: of all */
    uint64_t evicted;        /* loop_now() time */
    bool in_doubt;           /* whether it is evicted is not known */
    uint64_t after[MOVE_PHASES];
    char *successor, *successor_uid, *node; /* its key, and where it is; NULL: it is nowhere */
};

/* PRECONDITION, with the reason, if nobody would make the pod of the chains again. */
struct err *move_check(struct task *self, struct kube *kube, const struct dependency_chains *chains)
    __attribute__((warn_unused_result));

/* The same; `chains` and its cluster must outlive the move. */
struct err *move_begin(struct task *self, struct kube *kube, struct steps *steps,
                       const char *object_namespace, const struct dependency_chains *chains,
                       struct move *ret) __attribute__((warn_unused_result));
void move_fini(struct move *move);

/* THROTTLED while a PodDisruptionBudget does not allow it. A pod that is gone already counts as
 * evicted. Without an answer the pod shows whether it was; an error that leaves that open says so.
 * Until then the API server is waited for, up to the loop_now() time. */
struct err *move_evict(struct task *self, struct move *move, uint64_t deadline)
    __attribute__((warn_unused_result));
/* Until the successor is ready; TIMEOUT, with what is missing, at the loop_now() time. */
struct err *move_follow(struct task *self, struct move *move, uint64_t deadline)
    __attribute__((warn_unused_result));

/* {"successor": "default/db-0", "node": "b", "seconds": {"ended": 1.5, ...}} */
json_t *move_json(const struct move *move);
/* "8.2 s from the eviction to the new pod's being ready (ended 1.5 s, scheduled 1.6 s, ...)".
 * free() it. */
char *move_gap_text(const json_t *move);
