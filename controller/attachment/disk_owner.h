/* disk_owner.h - which of the VMs that a disk names as its owners belongs to a node.
 *
 * For an attachment whose VM is unknown: its Node is deleted, and its record was lost or dates from
 * before VMs were recorded. In that case, the disk decides: a VM that the disk does not name needs
 * no detach, and the VMs that it names are identified by their host names, from which kubelet takes
 * the name of its Node.
 */
#pragma once

#include "controller/attachment/snapshot.h"

struct disk_owner {
    const char *id;
    bool gone;        /* the VM no longer exists */
    const char *host; /* its own host name; NULL: it is unknown, or the VM must not be read */
};

/* Finds the node's VM among the owners. A pure function. */
enum disk_owner_search disk_owner_decide(const char *node, const struct disk_owner *owners,
                                         size_t n_owners, size_t *ret_owner);

/* The same, with the owners read from the cloud. `ret_id`: the VM's id if it was found; the caller
 * frees it. */
struct err *disk_owner_find(struct task *self, struct controller *controller, const char *disk_id,
                            const char *node, enum disk_owner_search *ret, char **ret_id)
    __attribute__((warn_unused_result));
