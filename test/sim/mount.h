/* mount.h - what a machine of the simulated cluster has mounted, and of which disk.
 *
 * Mounts belong to their machine and end with its power.
 */
#pragma once

#include "test/sim/content.h"
#include "test/sim/machine.h"

struct attachment;

/* A volume in kubelet's hands: in node.status.volumesInUse as long as it is there. */
struct mount {
    struct list link;
    struct machine *machine;
    struct volume *volume;
    unsigned users;       /* pods that want it here */
    unsigned published;   /* of them: have it at their path */
    bool busy;            /* a worker is staging or unstaging it */
    bool staged;          /* mounted at its staging path; the rest means something only then */
    char disk[UUID_SIZE]; /* unique_id of the disk that is really mounted, right or wrong */
    unsigned lun;
    uint64_t since;
    uint64_t key;           /* of its fence; 0: it has none */
    uint64_t former;        /* from whose key it was taken; 0: from nobody's */
    uint32_t generation;    /* as is on record with it */
    bool fence_lost;        /* to another node, as is on record */
    bool shut_down;         /* for that; the API server need not know */
    uint64_t device;        /* sequence of the attachment */
    uint64_t refused_since; /* loop_now: its writes fail (node_repair.c); 0: they do not */
    unsigned stage;         /* which of the volume's it is, from 1 */
};

struct mount *machine_mount(const struct machine *machine, const struct volume *volume); /* NULL */
struct mount *machine_use(struct machine *machine, struct volume *volume); /* makes it if needed */
void mount_free(struct mount *mount); /* no longer in use on its machine */
/* Whether a write by this machine would reach a disk now: mounted, the VM runs, the disk that is
 * mounted is attached to it. */
bool mount_can_write(const struct mount *mount);
/* The VM's attachment of the disk that is mounted. NULL: it is no longer there; what is attached
 * again since is another device, of which this mount knows nothing. */
struct attachment *mount_attachment(const struct mount *mount);
/* What is on the disk that is mounted. */
struct content *mount_content(const struct mount *mount);
/* Writes node.status.volumesInUse, if the API server can be reached. */
void machine_report_in_use(struct machine *machine);
bool machine_reports(const struct machine *machine, const struct volume *volume);

#define MOUNT_OF(item) CONTAINER_OF(item, struct mount, link)
