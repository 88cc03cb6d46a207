/* scsi.h - one command to a SCSI device, by the kernel's SG_IO.
 *
 * Blocks for as long as the device does, at most ten seconds a try: for a thread pool. Needs
 * CAP_SYS_RAWIO for what may change a device.
 */
#pragma once

#include <stddef.h>

#include "lib/base/err.h"

enum scsi_direction { SCSI_NO_DATA, SCSI_FROM_DEVICE, SCSI_TO_DEVICE };

struct scsi_command {
    unsigned char cdb[16];
    unsigned char cdb_length;
    enum scsi_direction direction;
    void *data;
    unsigned length; /* of the data, bytes */
};

enum scsi_result {
    SCSI_GOOD,
    SCSI_RESERVATION_CONFLICT, /* somebody else's reservation does not allow it */
    SCSI_UNSUPPORTED,          /* the device does not know the command, or is no SCSI device */
};

/* Unit attentions, which only say that something has happened, are retried, and so is a device that
 * is busy. UNAVAILABLE if it does not answer, DENIED if this process may not send the command. */
struct err *scsi_send(int fd, const struct scsi_command *command, enum scsi_result *ret)
    __attribute__((warn_unused_result));
