/* dangling_attach.h - a disk of the driver that is attached to a VM without any record of it:
 * somebody attached it by hand, or a record was lost permanently. Azure refuses to attach the disk
 * anywhere else.
 *
 * The disk is detached from that VM if a primary waits for it, Kubernetes does not have the volume
 * on another node, and no kubelet reports it as in use.
 */
#pragma once

#include "controller/attachment/snapshot.h"

struct dangling_owner {
    bool here;      /* the VM to which the disk is to be attached */
    bool on_record; /* an attachment of the volume names this VM */
};

struct dangling_snapshot {
    bool ours;           /* the driver created the disk */
    bool for_primary;    /* a primary waits for the disk */
    bool used_elsewhere; /* Kubernetes has the volume on another node, or a kubelet reports it as in
                            use */
    int max_shares;
    const struct dangling_owner *owners;
    size_t n_owners;
};

/* Whether to detach the disk, and from which owner. A pure function. */
bool dangling_attach_decide(const struct dangling_snapshot *in, size_t *ret_owner);

/* Call after Azure has refused to attach the disk, with the disk as it is since. `ret_ended`: a
 * dangling attach was found, and the disk has been detached. */
struct err *dangling_attach_end(struct task *self, const struct attachment_work *work,
                                const struct cloud_disk *disk, bool *ret_ended)
    __attribute__((warn_unused_result));
