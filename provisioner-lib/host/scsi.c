#include "provisioner-lib/host/scsi.h"

#include <errno.h>
#include <scsi/sg.h>
#include <string.h>
#include <sys/ioctl.h>

#include "lib/rt/thread_pool.h"

/* SPC-3, 4.5 (sense data) and SAM-3, 5.3 (status). */
enum {
    STATUS_GOOD = 0x00,
    STATUS_CHECK_CONDITION = 0x02,
    STATUS_BUSY = 0x08,
    STATUS_RESERVATION_CONFLICT = 0x18,
    STATUS_TASK_SET_FULL = 0x28,
    SENSE_DESCRIPTOR_FORMAT = 0x72,
    KEY_ILLEGAL_REQUEST = 0x05,
    KEY_UNIT_ATTENTION = 0x06,
};
enum { SENSE_SIZE = 64, TIMEOUT_MS = 10 * 1000, TRIES = 10, PAUSE_MS = 20 };

enum reaction { TAKE_IT, TRY_AGAIN, FAIL };

static unsigned sense_key(const unsigned char *sense)
{
    bool descriptor = (sense[0] & 0x7e) == SENSE_DESCRIPTOR_FORMAT;

    return sense[descriptor ? 1 : 2] & 0x0f;
}

static enum reaction react(const struct sg_io_hdr *done, enum scsi_result *ret)
{
    if (done->host_status)
        return FAIL;
    switch (done->status) {
    case STATUS_GOOD:
        *ret = SCSI_GOOD;
        return TAKE_IT;
    case STATUS_RESERVATION_CONFLICT:
        *ret = SCSI_RESERVATION_CONFLICT;
        return TAKE_IT;
    case STATUS_BUSY:
    case STATUS_TASK_SET_FULL:
        return TRY_AGAIN;
    case STATUS_CHECK_CONDITION:
        *ret = SCSI_UNSUPPORTED;
        switch (sense_key(done->sbp)) {
        case KEY_ILLEGAL_REQUEST:
            return TAKE_IT;
        case KEY_UNIT_ATTENTION:
            return TRY_AGAIN;
        default:
            return FAIL;
        }
    default:
        return FAIL;
    }
}

static struct err *ioctl_failed(int number, enum scsi_result *ret)
{
    switch (number) {
    case ENOTTY: /* no SCSI device */
    case EINVAL:
    case EOPNOTSUPP:
        *ret = SCSI_UNSUPPORTED;
        return NULL;
    case EPERM:
        return err_new(ERR_DENIED, "SG_IO: this process needs the capability CAP_SYS_RAWIO");
    default:
        return err_new(ERR_UNAVAILABLE, "SG_IO: %s", strerror(number));
    }
}

struct err *scsi_send(int fd, const struct scsi_command *command, enum scsi_result *ret)
{
    static const int directions[] = {SG_DXFER_NONE, SG_DXFER_FROM_DEV, SG_DXFER_TO_DEV};
    unsigned char sense[SENSE_SIZE] = {0};
    struct sg_io_hdr io;

    for (int tries = 0; tries < TRIES; tries++) {
        io = (struct sg_io_hdr){
            .interface_id = 'S',
            .dxfer_direction = directions[command->direction],
            .cmdp = (unsigned char *)(uintptr_t)command->cdb,
            .cmd_len = command->cdb_length,
            .dxferp = command->data,
            .dxfer_len = command->length,
            .sbp = sense,
            .mx_sb_len = sizeof sense,
            .timeout = TIMEOUT_MS,
        };
        if (ioctl(fd, SG_IO, &io))
            return ioctl_failed(errno, ret);
        switch (react(&io, ret)) {
        case TAKE_IT:
            return NULL;
        case TRY_AGAIN:
            thread_pool_pause(PAUSE_MS);
            break;
        case FAIL:
            tries = TRIES;
            break;
        }
    }
    return err_new(ERR_UNAVAILABLE,
                   "the device does not carry out SCSI command %#x: status %#x, sense key %#x, "
                   "host status %#x",
                   command->cdb[0], io.status, sense_key(sense), io.host_status);
}
