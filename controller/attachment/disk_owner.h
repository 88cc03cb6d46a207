/* disk_owner.h - which of the VMs that a disk names as its owners is the one of a node.
 *
 * For an attachment whose VM nobody knows: its Node is deleted and its record is from before VMs
 * were recorded, or was lost. Then the disk has the last word: what it is not attached to needs no
 * detach, and what it is attached to is told by the VM's own host name, as kubelet takes it.
 */
#pragma once

#include "controller/attachment/snapshot.h"

struct disk_owner {
    const char *id;
    bool gone;        /* there is no such VM any more */
    const char *host; /* that it calls itself; NULL: it may not be asked, or does not say */
};

/* A pure function: the node's VM among the owners is `ret_owner`. */
enum disk_owner_search disk_owner_decide(const char *node, const struct disk_owner *owners,
                                         size_t n_owners, size_t *ret_owner);

/* Asks the cloud; of what is found `ret_id` is the VM's id, the caller's. */
struct err *disk_owner_find(struct task *self, struct controller *controller, const char *disk_id,
                            const char *node, enum disk_owner_search *ret, char **ret_id)
    __attribute__((warn_unused_result));
