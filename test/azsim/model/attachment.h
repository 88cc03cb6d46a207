/* attachment.h - a disk at a LUN of a VM, as it really is, whatever the VM's model says.
 *
 * It begins as a claim, when a change of the VM that will attach the disk is accepted: claims count
 * as shares, so that a disk is never promised to more VMs than it can have. It becomes real when
 * the change is done. Attachments belong to their VM.
 */
#pragma once

#include "test/azsim/model/disk.h"
#include "test/azsim/model/vm.h"

struct attachment {
    struct vm *vm;
    struct disk *disk;
    unsigned lun;
    bool attached;     /* false: a claim */
    uint64_t sequence; /* a disk's owners are in the order in which they came */
    struct list by_vm, by_disk;
};

struct attachment *attachment_claim(struct vm *vm, unsigned lun, struct disk *disk);
/* A claim with the place among the disk's owners that it had before a restart. */
struct attachment *attachment_restore(struct vm *vm, unsigned lun, struct disk *disk,
                                      uint64_t sequence);
/* Makes it real, on the devices too; refused if they fail. */
struct refusal *attachment_attach(struct attachment *attachment)
    __attribute__((warn_unused_result));
/* Ends it, on the devices too if it was real. */
void attachment_end(struct attachment *attachment);
/* The same, because its VM is deleted: the disk hears of that later. */
void attachment_end_with_vm(struct attachment *attachment);

struct attachment *attachment_find(const struct vm *vm, const struct disk *disk); /* or NULL */
/* What holds a LUN of the VM; NULL if it is free. */
struct attachment *attachment_at(const struct vm *vm, unsigned lun);

#define ATTACHMENT_OF_VM(link) CONTAINER_OF(link, struct attachment, by_vm)
#define ATTACHMENT_OF_DISK(link) CONTAINER_OF(link, struct attachment, by_disk)
