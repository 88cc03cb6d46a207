/* node_selector.h - the nodes that a volume's parameter replicaNodeSelector allows for replicas.
 *
 * CreateVolume has checked the parameter, but the AzVolume may have been edited since. A selector
 * that cannot be parsed allows no node, so that nothing moves by mistake; `unreadable` says why.
 */
#pragma once

#include "lib/api/azdisk.pb-c.h"
#include "lib/api/kubernetes.pb-c.h"
#include "lib/base/err.h"

struct replica_selector {
    Api__LabelSelector *labels; /* NULL: the volume has no selector */
    struct err *unreadable;     /* NULL: it can be read */
};

void replica_selector_of(const Api__AzVolume *volume, struct replica_selector *ret);
void replica_selector_fini(struct replica_selector *selector);

bool replica_selector_allows(const struct replica_selector *selector, const Api__Node *node);
