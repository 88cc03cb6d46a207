/* failover_subject.h - the pod that `azdiskctl failover CLAIM` is to move, and whether it may be.
 *
 * Pure; borrows from the cluster.
 */
#pragma once

#include "azdiskctl/dependency_chain.h"

/* The chains of the one pod that uses the claim ("namespace/name"). NOT_FOUND if there is no such
 * claim; PRECONDITION, with the reason and what to do, if its pod cannot be moved. */
struct err *failover_subject(const struct cluster *cluster, const char *claim,
                             struct dependency_chains *ret) __attribute__((warn_unused_result));
