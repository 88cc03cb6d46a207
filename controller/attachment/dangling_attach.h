/* dangling_attach.h - a disk of the driver's that is attached to a VM of which no record says so:
 * somebody attached it there by hand, or a record was lost for good. Azure refuses to attach it
 * anywhere else.
 *
 * It is detached there for the primary that waits for it, if Kubernetes has the volume on no other
 * node, and no kubelet says that it uses it.
 */
#pragma once

#include "controller/attachment/snapshot.h"

struct dangling_owner {
    bool here;      /* the VM that the disk is to be attached to */
    bool on_record; /* an attachment of the volume says that it is there */
};

struct dangling_snapshot {
    bool ours;           /* the driver made the disk */
    bool for_primary;    /* somebody waits for it */
    bool used_elsewhere; /* Kubernetes has it on another node, or a kubelet says that it uses it */
    int max_shares;
    const struct dangling_owner *owners;
    size_t n_owners;
};

/* A pure function: whether the disk is to be detached, and from which owner. */
bool dangling_attach_decide(const struct dangling_snapshot *in, size_t *ret_owner);

/* After Azure has refused to attach the disk. `ret_ended`: there was one, and it is detached. */
struct err *dangling_attach_end(struct task *self, const struct attachment_work *work,
                                bool *ret_ended) __attribute__((warn_unused_result));
