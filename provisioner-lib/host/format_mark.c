#include "provisioner-lib/host/format_mark.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/host/block.h"
#include "provisioner-lib/host/probe.h"

enum {
    DISTANCE = 512 * 1024, /* from the end */
    HEAD = 1024 * 1024,    /* where signatures are */
};

#define TITLE "azuredisk-csi: being formatted as "
enum { MARK = sizeof TITLE - 1 + UUID_SIZE }; /* the title and the UUID with its NUL */

static char zeros[64 * 1024];

struct err *format_mark_read(int fd, uint64_t size, char ret_uuid[UUID_SIZE])
{
    char mark[MARK];

    ret_uuid[0] = '\0';
    if (size < DISTANCE)
        return NULL;
    TRY(block_read(fd, size - DISTANCE, mark, sizeof mark));
    if (memcmp(mark, TITLE, strlen(TITLE)) == 0 && !mark[MARK - 1])
        memcpy(ret_uuid, mark + strlen(TITLE), UUID_SIZE);
    return NULL;
}

/* The proof may be minutes old: somebody may have made a file system here since, another machine
 * even, of which this one's memory says nothing. */
static struct err *check_nothing_is_lost(int fd)
{
    struct disk_observation found;

    TRY(block_drop_caches(fd));
    TRY(probe_device(fd, &found));
    if (proof_may_be_formatted(&found))
        return NULL;
    return err_new(ERR_PRECONDITION, "the device was empty, and has %s now; it was not modified",
                   found.type[0] ? found.type : "data");
}

static struct err *set(int fd, uint64_t size, const char *uuid)
{
    char mark[MARK] = TITLE;

    if (size < 2 * HEAD)
        return err_new(ERR_PRECONDITION, "the device is too small for a file system");
    TRY(check_nothing_is_lost(fd));
    memcpy(mark + strlen(TITLE), uuid, UUID_SIZE);
    TRY(block_write(fd, size - DISTANCE, mark, sizeof mark));
    TRY(block_flush(fd));
    for (uint64_t at = 0; at < HEAD; at += sizeof zeros)
        TRY(block_write(fd, at, zeros, sizeof zeros));
    return block_flush(fd);
}

/* mkfs may have put something else in its place. */
static struct err *clear(int fd, uint64_t size, const char *uuid)
{
    char found[UUID_SIZE];

    TRY(block_flush(fd));
    TRY(format_mark_read(fd, size, found));
    if (strcmp(found, uuid) != 0)
        return NULL;
    TRY(block_write(fd, size - DISTANCE, zeros, MARK));
    return block_flush(fd);
}

static struct err *with_device(const char *device, const char *uuid,
                               struct err *(*change)(int fd, uint64_t size, const char *uuid))
{
    CLEANUP(block_claim_end) struct block_claim claim = BLOCK_CLAIM_NONE;
    uint64_t size;

    TRY(block_claim(device, &claim));
    TRY(block_size(claim.fd, &size));
    struct err *err = change(claim.fd, size, uuid);
    return err ? err_wrap(err, "%s", device) : NULL;
}

struct err *format_mark_set(const char *device, const char *uuid)
{
    return with_device(device, uuid, set);
}

struct err *format_mark_clear(const char *device, const char *uuid)
{
    return with_device(device, uuid, clear);
}
