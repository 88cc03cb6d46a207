/* node_selector.h - on which nodes a volume's parameter replicaNodeSelector lets replicas be.
 *
 * The parameter was checked when the volume was made; an AzVolume can be written by hand since. One
 * that cannot be read allows no node, so that nothing moves by mistake, and says why.
 */
#pragma once

#include "lib/api/azdisk.pb-c.h"
#include "lib/api/kubernetes.pb-c.h"
#include "lib/base/err.h"

struct replica_selector {
    Api__LabelSelector *labels; /* NULL: the volume does not say */
    struct err *unreadable;     /* NULL: it is not */
};

void replica_selector_of(const Api__AzVolume *volume, struct replica_selector *ret);
void replica_selector_fini(struct replica_selector *selector);

bool replica_selector_allows(const struct replica_selector *selector, const Api__Node *node);
