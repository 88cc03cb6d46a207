/* snapshot_contents.h - the VolumeSnapshotContents of a cluster, as the audit looks into them.
 *
 * Nothing else of the driver needs them, so that they are read when they are compared.
 */
#pragma once

#include "lib/kube/client.h"
#include "provisioner-lib/audit/cluster_view.h"

struct snapshot_contents {
    enum {
        CONTENTS_READ,
        CONTENTS_NOT_DEFINED, /* the cluster does not know such objects, so that there are none */
        CONTENTS_DENIED,
    } state;
    struct object_list list;
    struct kube_object **owned; /* of the list, referenced */
    struct object_index by_handle, by_name;
};

struct err *snapshot_contents_read(struct task *self, struct kube *kube,
                                   struct snapshot_contents *ret)
    __attribute__((warn_unused_result));
/* Takes the objects of an array, and the array; for who has them already. */
void snapshot_contents_of(struct kube_object **objects, size_t n, struct snapshot_contents *ret);
void snapshot_contents_fini(struct snapshot_contents *contents);

/* One names the snapshot with this id. */
bool snapshot_contents_name(const struct snapshot_contents *contents, const char *id);
/* One names the AzSnapshot's snapshot, or is what it was made for. */
bool snapshot_contents_have(const struct snapshot_contents *contents,
                            const Api__AzSnapshot *snapshot);
