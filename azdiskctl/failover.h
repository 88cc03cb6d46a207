/* failover.h - `azdiskctl failover CLAIM [--to NODE]`: a planned switchover of the pod that uses a
 * claim to a node that has replicas of its volumes.
 *
 * The wish for the node is noted on the claim (provisioner-lib/records/switchover.h), where the
 * scheduler extender reads it, and taken back on every way out but SIGKILL; after that, its own
 * time ends it.
 */
#pragma once

#include "azdiskctl/cluster.h"
#include "azdiskctl/steps.h"
#include "lib/base/buffer.h"

struct failover_config {
    struct kube *kube;
    struct cluster_query query;
    const char *claim; /* in the query's namespace */
    const char *to;    /* "": the best node */
    bool dry_run;
    uint64_t timeout_ms;
    struct steps *steps;
};

/* PRECONDITION, and nothing done, if the pod cannot be moved. */
struct err *failover_json(struct task *self, const struct failover_config *config, json_t **ret)
    __attribute__((warn_unused_result));
/* The pod runs where it was to, or nothing was to be done. */
bool failover_is_as_planned(const json_t *failover);
void failover_text(const json_t *failover, struct buffer *out);
