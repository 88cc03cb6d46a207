/* attach_detach.h - who has volumes published on nodes: kube-controller-manager's attach/detach
 * controller, and external-attacher, which makes CSI calls of what that one wants.
 *
 * A publication is a VolumeAttachment. The first makes one for each volume and node that a pod
 * needs, and deletes it when no pod does and the node has let go of the volume, or six minutes
 * later if the node is not ready, or at once if it is marked out of service. A volume of one node
 * is not wanted on a second while the first still has its VolumeAttachment. The second calls
 * ControllerPublishVolume and ControllerUnpublishVolume until they succeed.
 */
#pragma once

#include "lib/base/list.h"
#include "test/sim/machine.h"

struct publication {
    struct list link;       /* world->publications */
    struct list by_machine; /* machine->publications */
    struct volume *volume;
    struct machine *machine;
    char *name;             /* of the VolumeAttachment */
    bool held;              /* has external-attacher's finalizer */
    bool tried;             /* a ControllerPublishVolume was sent */
    bool attached;          /* ... and answered with success: status.attached */
    bool reported;          /* in node.status.volumesAttached */
    bool deleting;          /* has a deletionTimestamp */
    bool unpublishing;      /* a ControllerUnpublishVolume was sent: the disk may go */
    bool forced;            /* deleted though the node had not let go */
    bool compared, listed;  /* in the last look at ListVolumes (attacher_sync.h) */
    bool repeat;            /* it was not: ControllerPublishVolume is to be sent again */
    bool was_replica;       /* at first there was an attached replica of it */
    uint64_t began;         /* loop_now */
    uint64_t unused_since;  /* loop_now: no pod wants it; 0: one does */
    uint64_t by_hand_until; /* likewise: a person keeps it there; 0: nobody does */
    uint64_t hindered_at;   /* likewise: a person had it attached elsewhere, too */
    char *error;            /* of the last call that failed; NULL: it did not */
    struct waiters changed;
};

/* Looks soon at what pods want and nodes use. */
void attach_detach_poke(struct world *world);
/* The loop of the attach/detach controller, a task of the sim; `arg` is the world. */
void attach_detach_run(struct task *self, void *arg);
/* A person makes a VolumeAttachment for another node, and leaves it there for so long. */
void publication_by_hand(struct volume *volume, uint64_t duration_ms);
void publication_by_hand_on(struct machine *machine, struct volume *volume, uint64_t duration_ms);
struct publication *publication_find(const struct machine *machine, const struct volume *volume);
void publication_free(struct publication *publication);
/* As CSI says it: published, and no unpublish was sent since. */
bool publication_holds(const struct publication *publication);

#define PUBLICATION_OF(item) CONTAINER_OF(item, struct publication, link)
#define PUBLICATION_ON(item) CONTAINER_OF(item, struct publication, by_machine)
