/* cluster_id.h - which cluster this is: the UID of its namespace kube-system.
 *
 * The API server makes that namespace when a cluster begins, and nobody can delete it, so the UID
 * stays what it is for as long as there is the cluster; a cluster that is restored from a backup of
 * etcd has it again. Read with a list, for which the programs have the right anyway.
 */
#pragma once

#include "lib/kube/client.h"

/* free() it. UNAVAILABLE while the API server has no such namespace. */
struct err *kube_cluster_id(struct task *self, struct kube *kube, char **ret)
    __attribute__((warn_unused_result));
