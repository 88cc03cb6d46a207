/* nvme_namespace.h - what Azure says of the disk behind an NVMe namespace.
 *
 * Recent firmware of Azure's controllers for remote disks puts it into the vendor's part of
 * Identify Namespace: "type=data,lun=4,name=data-db", up to a NUL. Of SCSI disks and other makers'
 * namespaces nothing is told. Of two words about the same, the first counts.
 *
 * Reading blocks for as long as the controller does: for a thread pool. Needs CAP_SYS_ADMIN with
 * kernels before 6.2.
 */
#pragma once

#include <stdbool.h>

/* Azure allows 80 characters for a disk's name. */
enum { NVME_DISK_NAME_SIZE = 128, NVME_NO_LUN = -1 };

struct nvme_namespace {
    bool not_data;                  /* the operating system's disk, or a local one */
    int lun;                        /* NVME_NO_LUN: it does not say */
    char name[NVME_DISK_NAME_SIZE]; /* of the managed disk; "": it does not say */
};

#define NVME_SAYS_NOTHING ((struct nvme_namespace){.lun = NVME_NO_LUN})

/* Of at most `size` bytes, by whomever they are. What has no meaning says nothing. */
void nvme_namespace_parse(const char *text, unsigned size, struct nvme_namespace *ret);
/* Of a block device, whatever it is. What cannot be read says nothing. */
void nvme_namespace_read(int fd, struct nvme_namespace *ret);
