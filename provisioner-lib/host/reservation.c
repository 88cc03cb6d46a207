#include "provisioner-lib/host/reservation.h"

#include <string.h>

#include "provisioner-lib/host/scsi.h"

/* SPC-3, 6.11 and 6.12. */
enum { PERSISTENT_RESERVE_IN = 0x5e, PERSISTENT_RESERVE_OUT = 0x5f };
enum { READ_KEYS = 0, READ_RESERVATION = 1, REPORT_CAPABILITIES = 2 };
enum {
    RESERVE = 1,
    RELEASE = 2,
    PREEMPT = 4,
    REGISTER_AND_IGNORE_EXISTING_KEY = 6,
};
enum {
    HEADER = 8, /* generation, length of what follows */
    KEY = 8,
    RESERVATION_DATA = 24,
    SCOPE_AND_TYPE = 21, /* in it */
    CAPABILITIES = 8,
    TYPE_MASK_VALID = 0x80, /* in byte 3 of them */
    TYPE_MASK = 4,
    MASK_WRITE_EXCLUSIVE = 0x02,
    PARAMETERS = 24,
};

static uint64_t number_at(const unsigned char *bytes, size_t length)
{
    uint64_t number = 0;

    for (size_t i = 0; i < length; i++)
        number = number << 8 | bytes[i];
    return number;
}

static void put_number(unsigned char *bytes, size_t length, uint64_t number)
{
    for (size_t i = length; i-- > 0; number >>= 8)
        bytes[i] = (unsigned char)number;
}

static struct err *ask(int fd, unsigned char what, unsigned char *data, size_t size,
                       enum scsi_result *ret)
{
    struct scsi_command command = {
        .cdb = {PERSISTENT_RESERVE_IN, what},
        .cdb_length = 10,
        .direction = SCSI_FROM_DEVICE,
        .data = data,
        .length = (unsigned)size,
    };

    memset(data, 0, size);
    put_number(command.cdb + 7, 2, size);
    return scsi_send(fd, &command, ret);
}

/* A device that does not say which types it has is asked for the one that is needed. */
static struct err *has_write_exclusive(int fd, bool *ret)
{
    unsigned char data[CAPABILITIES];
    enum scsi_result result;

    TRY(ask(fd, REPORT_CAPABILITIES, data, sizeof data, &result));
    *ret = result != SCSI_GOOD || !(data[3] & TYPE_MASK_VALID) ||
           data[TYPE_MASK] & MASK_WRITE_EXCLUSIVE;
    return NULL;
}

static struct err *read_keys(int fd, bool *ret_supported, struct reservation *found)
{
    unsigned char data[HEADER + RESERVATION_KEYS * KEY];
    enum scsi_result result;

    TRY(ask(fd, READ_KEYS, data, sizeof data, &result));
    *ret_supported = result == SCSI_GOOD;
    uint64_t n = number_at(data + 4, 4) / KEY;
    if (n > RESERVATION_KEYS)
        return err_new(ERR_PRECONDITION,
                       "the disk has %u registered keys, more than VMs can have it (%d)",
                       (unsigned)n, RESERVATION_KEYS);
    found->generation = (uint32_t)number_at(data, 4);
    found->n_keys = n;
    for (size_t i = 0; i < n; i++)
        found->keys[i] = number_at(data + HEADER + i * KEY, KEY);
    return NULL;
}

static struct err *read_holder(int fd, bool *ret_supported, struct reservation *found)
{
    unsigned char data[RESERVATION_DATA];
    enum scsi_result result;

    TRY(ask(fd, READ_RESERVATION, data, sizeof data, &result));
    *ret_supported = result == SCSI_GOOD;
    found->held = number_at(data + 4, 4) > 0;
    found->holder = found->held ? number_at(data + HEADER, KEY) : 0;
    found->type = found->held ? data[SCOPE_AND_TYPE] & 0x0f : 0;
    return NULL;
}

struct err *reservation_read(int fd, bool *ret_supported, struct reservation *ret)
{
    struct reservation found = {0};
    bool supported;

    TRY(read_keys(fd, &supported, &found));
    if (supported)
        TRY(read_holder(fd, &supported, &found));
    if (supported && found.n_keys == 0)
        TRY(has_write_exclusive(fd, &supported));
    *ret = found;
    *ret_supported = supported;
    return NULL;
}

static struct err *change(int fd, unsigned char how, uint64_t key, uint64_t other)
{
    unsigned char parameters[PARAMETERS] = {0};
    struct scsi_command command = {
        .cdb = {PERSISTENT_RESERVE_OUT, how, RESERVATION_WRITE_EXCLUSIVE},
        .cdb_length = 10,
        .direction = SCSI_TO_DEVICE,
        .data = parameters,
        .length = sizeof parameters,
    };
    enum scsi_result result;

    put_number(command.cdb + 5, 4, sizeof parameters);
    put_number(parameters, KEY, key);
    put_number(parameters + KEY, KEY, other);
    TRY(scsi_send(fd, &command, &result));
    if (result == SCSI_UNSUPPORTED)
        return err_new(ERR_UNIMPLEMENTED,
                       "the device refuses PERSISTENT RESERVE OUT with service action %u", how);
    return NULL;
}

struct err *reservation_register(int fd, uint64_t key)
{
    return change(fd, REGISTER_AND_IGNORE_EXISTING_KEY, 0, key);
}

struct err *reservation_take(int fd, uint64_t key)
{
    return change(fd, RESERVE, key, 0);
}

struct err *reservation_release(int fd, uint64_t key)
{
    return change(fd, RELEASE, key, 0);
}

struct err *reservation_preempt(int fd, uint64_t key, uint64_t other)
{
    return change(fd, PREEMPT, key, other);
}
