#include "lib/api/known_texts.h"

#include "lib/api/names.h"
#include "lib/base/alloc.h"

#define KNOWN(text)                                                                                \
    {                                                                                              \
        text, sizeof text - 1                                                                      \
    }

const struct known_text KNOWN_TEXTS[] = {
    KNOWN(CONTEXT_LUN),
    KNOWN("fsType"),
    KNOWN("Created"),
    KNOWN(ROLE_PRIMARY),
    KNOWN(ROLE_REPLICA),
    KNOWN("skuName"),
    KNOWN(STATE_ATTACHED),
    KNOWN(ROLE_CHANGE_PROMOTED),
    KNOWN("maxShares"),
    KNOWN("Premium_LRS"),
    KNOWN("cachingMode"),
    KNOWN("PremiumV2_LRS"),
    KNOWN(CONTEXT_SIZE),
    KNOWN("kubernetes.io/os"),
    KNOWN("requestedsizegib"),
    KNOWN("disk.csi.azure.com"),
    KNOWN("kubernetes.io/arch"),
    KNOWN("maxMountReplicaCount"),
    KNOWN("beta.kubernetes.io/os"),
    KNOWN(LABEL_PV),
    KNOWN(LABEL_PVC),
    KNOWN("kubernetes.io/hostname"),
    KNOWN("beta.kubernetes.io/arch"),
    KNOWN(ANNOTATION_FENCE),
    KNOWN(ANNOTATION_VM),
    KNOWN("csi.storage.k8s.io/pv/name"),
    KNOWN(ANNOTATION_BOOT),
    KNOWN("csi.storage.k8s.io/pvc/name"),
    KNOWN(ANNOTATION_DISK_SKU),
    KNOWN("topology.kubernetes.io/zone"),
    KNOWN(LABEL_NODE),
    KNOWN(ANNOTATION_FILESYSTEM),
    KNOWN("topology.kubernetes.io/region"),
    KNOWN(LABEL_ROLE_CHANGE),
    KNOWN(ANNOTATION_RUNNING_JOB),
    KNOWN(LABEL_VOLUME),
    KNOWN("pv.kubernetes.io/provisioned-by"),
    KNOWN("beta.kubernetes.io/instance-type"),
    KNOWN("csi.storage.k8s.io/pvc/namespace"),
    KNOWN(LABEL_PVC_NAMESPACE),
    KNOWN(ANNOTATION_REPLICA_READY),
    KNOWN("node.kubernetes.io/instance-type"),
    KNOWN("topology.disk.csi.azure.com/zone"),
    KNOWN(ANNOTATION_DISK_UNIQUE_ID),
    KNOWN(LABEL_ROLE),
    KNOWN(ANNOTATION_DISK_MAX_SHARES),
    KNOWN(ANNOTATION_AUTOMATIC_FAILOVER),
    KNOWN(FINALIZER_VOLUME),
    KNOWN("failure-domain.beta.kubernetes.io/zone"),
    KNOWN(FINALIZER_SNAPSHOT),
    KNOWN("failure-domain.beta.kubernetes.io/region"),
    KNOWN("storage.kubernetes.io/csiProvisionerIdentity"),
    KNOWN(FINALIZER_ATTACHMENT),
};
const size_t N_KNOWN_TEXTS = COUNT_OF(KNOWN_TEXTS);
