/* disk_keys.h - persistent reservations of the simulated disks: which VMs have registered which key
 * with a disk, and which of them writes (provisioner-lib/host/reservation.h, SPC-3).
 *
 * A VM's attachment is known to a disk by its sequence: attached again it is unknown. Keys and
 * reservations outlive the VM's power, not the attachment. Owner: the world.
 */
#pragma once

#include "test/azsim/model/attachment.h"

struct disk_keys;   /* of one disk */
struct reservation; /* provisioner-lib/host/reservation.h */

struct all_disk_keys {
    struct disk_keys *by_disk;
    uint64_t changes; /* ever made */
};

void disk_keys_fini(struct all_disk_keys *all);

/* What the VM that has it reads of the disk. */
void disk_keys_read(struct all_disk_keys *all, const struct disk *disk, struct reservation *ret);
/* As the commands of that name; what is in conflict does nothing. */
void disk_keys_register(struct all_disk_keys *all, const struct attachment *device, uint64_t key);
void disk_keys_take(struct all_disk_keys *all, const struct attachment *device);
void disk_keys_release(struct all_disk_keys *all, const struct attachment *device);
void disk_keys_preempt(struct all_disk_keys *all, const struct attachment *device, uint64_t other);

/* Whether the disk takes what this VM writes. */
bool disk_keys_accept(struct all_disk_keys *all, const struct attachment *device);
/* Somebody detaches the disk past the driver. */
void disk_keys_pulled(struct all_disk_keys *all, const struct attachment *device);
/* The VM that had the reservation was deleted, or somebody has pulled the disk from it, and nobody
 * has it since: no driver can help that. */
bool disk_keys_went_with_holder(struct all_disk_keys *all, const struct disk *disk);
