/* fence_watch.h - notices that another node has taken the fence around a disk, as it does when this
 * one was silent: from then on the disk refuses what this node writes.
 *
 * Whatever is on record as held (fence_record.h) is compared with what the disk says, as often as
 * the node's Lease is renewed: a node that is heard of again says at once what it has lost, so that
 * nobody goes by a fence that it has no more. Without a Lease nobody does, and ten seconds are
 * often enough for people who read the log. The file system is shut down (shutdown.h): it stays
 * mounted until kubelet unmounts it, and writes nothing any more, whatever becomes of the fence. As
 * long as that fails it is tried again.
 */
#pragma once

#include "lib/rt/group.h"
#include "node/node.h"
#include "provisioner-lib/host/reservation.h"

/* Watches as long as the group lives. */
void fence_watch_start(struct node *node, struct task_group *group);

/* How far the loss of a fence has been dealt with. */
struct fence_loss {
    uint64_t key; /* of the fence */
    bool told;    /* that it is lost */
    bool ended;   /* its use */
    bool in_use;  /* though it is lost: ending it has failed */
};

/* A fence on record. */
struct fence_claim {
    uint64_t key;
    uint32_t generation; /* of the disk's reservations when it was taken; 0: not known */
    bool used; /* its disk is mounted here, and the key is of this boot: it was taken for that */
};

/* Takes in what the disk says of a fence, and tells whether it is lost: to whoever has it, or to
 * somebody who is gone again, if a disk in use does not know its key any more. (One that has
 * forgotten all, as when it was attached anew, begins to count its generations anew.) It stays lost
 * when whoever has taken it is gone, as long as that is not on record; if it was taken back, it may
 * be lost again. Pure. */
bool fence_loss_see(struct fence_loss *loss, const struct fence_claim *claim,
                    const struct reservation *seen);
