/* The UUID of xfs.
 *
 * Metadata carries the UUID that mkfs gave, and goes on doing so: since Linux 4.3 the superblock
 * may hold that one (meta_uuid) beside the one that the file system is known by, which is changed
 * here. The latter is in the log as well: the kernel refuses a log whose last record has another
 * one. In a log that was unmounted that record is the mark of it, and holds nothing. It gets the
 * null UUID, which the kernel takes for any; the next record that it writes has the new one. */
#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/crc32c.h"
#include "provisioner-lib/host/block.h"
#include "provisioner-lib/host/filesystem_uuid.h"
#include "provisioner-lib/host/identity.h"

enum {
    UUID_BYTES = 16,
    LARGEST_SECTOR = 32 * 1024,
    WITH_CHECKSUMS = 5, /* of version: the one that mkfs.xfs has made since 2015 */
    META_UUID = 1 << 2, /* of features_incompat */
    BLOCK = 512,        /* of the log: a "basic block" */
    LOG_MAGIC = (int)0xfeedbabe,
    CYCLE_SIZE = 32 * 1024,      /* of the data that one header covers */
    LARGEST_RECORD = 256 * 1024, /* without its headers */
    MOST_BLOCKS = (LARGEST_RECORD + LARGEST_RECORD / CYCLE_SIZE * BLOCK) / BLOCK,
    SUMMED = 328,         /* of a record's first header */
    SUMMED_OF_MORE = 260, /* of each further one */
    UNMOUNT = 0x20,       /* of an operation's flags */
};

/* By xfs_format.h and xfs_log_format.h of the kernel; numbers are big-endian, checksums are not. */
struct xfs_super {
    char magic[4];
    uint32_t block_size;
    uint64_t blocks, realtime_blocks, realtime_extents;
    unsigned char uuid[UUID_BYTES];
    uint64_t log_start; /* 0: on another device */
    uint64_t inodes[3];
    uint32_t realtime_extent_size, ag_blocks, ag_count, bitmap_blocks, log_blocks;
    uint16_t version, sector_size, inode_size, inodes_per_block;
    char label[12];
    uint8_t block_log, sector_log, inode_log, inodes_per_block_log, ag_block_log, others[3];
    uint64_t counts[4], quota_inodes[2];
    uint32_t flags, inode_alignment, unit, width, log_geometry[2], features2[2];
    uint32_t features_compat, features_ro_compat, features_incompat, features_log_incompat;
    uint32_t checksum, inode_chunk_alignment;
    uint64_t project_quota_inode, sequence;
    unsigned char meta_uuid[UUID_BYTES];
};

struct log_header {
    uint32_t magic, cycle, version, length;
    uint64_t sequence, tail;
    uint32_t checksum, previous, operations;
    uint32_t cycles[CYCLE_SIZE / BLOCK];
    uint32_t format;
    unsigned char uuid[UUID_BYTES];
    uint32_t size; /* that the record could have had */
};

struct log_operation {
    uint32_t id, length;
    uint8_t client, flags;
    uint16_t reserved;
};

_Static_assert(offsetof(struct xfs_super, uuid) == 32, "the layout of xfs's superblock");
_Static_assert(offsetof(struct xfs_super, checksum) == 224, "the layout of xfs's superblock");
_Static_assert(offsetof(struct xfs_super, meta_uuid) == 248, "the layout of xfs's superblock");
_Static_assert(offsetof(struct log_header, uuid) == 304, "the layout of a log record");

static uint32_t checksum_of(const void *data, size_t length, size_t at)
{
    static const uint32_t zero = 0;
    const char *bytes = data;
    uint32_t crc = crc32c(~UINT32_C(0), bytes, at);

    crc = crc32c(crc, &zero, sizeof zero);
    return crc32c(crc, bytes + at + sizeof zero, length - at - sizeof zero);
}

/* ---- superblocks: one for each allocation group ---- */

static uint32_t super_checksum(const char *sector, size_t size)
{
    return htole32(~checksum_of(sector, size, offsetof(struct xfs_super, checksum)));
}

static bool is_valid(const char *sector)
{
    const struct xfs_super *super = (const struct xfs_super *)sector;
    size_t size = be16toh(super->sector_size);

    if (memcmp(super->magic, "XFSB", sizeof super->magic) != 0 || size < BLOCK ||
        size > LARGEST_SECTOR || !super->ag_blocks || super->block_log > 16 ||
        super->ag_block_log > 31)
        return false;
    return (be16toh(super->version) & 0xf) == WITH_CHECKSUMS &&
           super->checksum == super_checksum(sector, size);
}

static uint64_t group_at(const struct xfs_super *super, uint32_t group)
{
    return (uint64_t)group * be32toh(super->ag_blocks) * be32toh(super->block_size);
}

static struct err *read_super(int fd, uint64_t at, char *sector)
{
    TRY(block_read(fd, at, sector, LARGEST_SECTOR));
    return is_valid(sector) ? NULL
                            : err_new(ERR_INTERNAL,
                                      "the device has no valid xfs superblock at "
                                      "byte %llu",
                                      (unsigned long long)at);
}

static struct err *check_supers(int fd, const struct xfs_super *primary, char *sector)
{
    for (uint32_t group = 1; group < be32toh(primary->ag_count); group++)
        TRY(read_super(fd, group_at(primary, group), sector));
    return NULL;
}

static void change(char *sector, const unsigned char uuid[UUID_BYTES])
{
    struct xfs_super *super = (struct xfs_super *)sector;
    uint32_t incompat = be32toh(super->features_incompat);

    if (!(incompat & META_UUID)) {
        memcpy(super->meta_uuid, super->uuid, UUID_BYTES);
        super->features_incompat = htobe32(incompat | META_UUID);
    }
    memcpy(super->uuid, uuid, UUID_BYTES);
    super->checksum = super_checksum(sector, be16toh(super->sector_size));
}

static struct err *change_super(int fd, uint64_t at, char *sector,
                                const unsigned char uuid[UUID_BYTES])
{
    TRY(read_super(fd, at, sector));
    change(sector, uuid);
    return block_write(fd, at, sector, be16toh(((const struct xfs_super *)sector)->sector_size));
}

/* ---- the log ---- */

struct log {
    int fd;
    uint64_t at;     /* byte */
    uint32_t blocks; /* of BLOCK bytes */
};

static struct log log_of(int fd, const struct xfs_super *super)
{
    uint64_t start = be64toh(super->log_start), block_size = be32toh(super->block_size);
    uint64_t in_group = start & ((UINT64_C(1) << super->ag_block_log) - 1);

    return (struct log){
        .fd = fd,
        .at = group_at(super, (uint32_t)(start >> super->ag_block_log)) + in_group * block_size,
        .blocks = (uint32_t)(be32toh(super->log_blocks) * block_size / BLOCK),
    };
}

static struct err *read_block(const struct log *log, uint32_t number, void *block)
{
    return block_read(log->fd, log->at + (uint64_t)number * BLOCK, block, BLOCK);
}

/* How often the log had been written round when this block was. */
static struct err *read_cycle(const struct log *log, uint32_t number, uint32_t *ret)
{
    uint32_t words[BLOCK / sizeof(uint32_t)];

    TRY(read_block(log, number, words));
    *ret = be32toh(words[0]) == (uint32_t)LOG_MAGIC ? words[1] : words[0];
    return NULL;
}

/* The first block that is of the round before; behind the last one if none is. */
static struct err *find_head(const struct log *log, uint32_t *ret)
{
    uint32_t begin = 1, end = log->blocks, first, cycle;

    TRY(read_cycle(log, 0, &first));
    while (begin < end) {
        uint32_t middle = begin + (end - begin) / 2;

        TRY(read_cycle(log, middle, &cycle));
        if (cycle == first)
            begin = middle + 1;
        else
            end = middle;
    }
    *ret = begin;
    return NULL;
}

/* A record: its headers, of a block each, and its data. */
struct record {
    uint32_t at, n_headers, blocks;
    char *content;
};

static void record_fini(struct record *record)
{
    free(record->content);
}

static struct log_header *header_of(const struct record *record)
{
    return (struct log_header *)record->content;
}

static uint32_t length_of(const struct record *record)
{
    return be32toh(header_of(record)->length);
}

/* Of the last one that begins before `head`. */
static struct err *find_last(const struct log *log, uint32_t head, struct record *ret)
{
    for (uint32_t back = 1; back <= MOST_BLOCKS && back < log->blocks; back++) {
        ret->at = (head + log->blocks - back) % log->blocks;
        TRY(read_block(log, ret->at, ret->content));
        if (be32toh(header_of(ret)->magic) == (uint32_t)LOG_MAGIC)
            return NULL;
    }
    return err_new(ERR_INTERNAL, "the file system's log has no last record");
}

static struct err *read_record(const struct log *log, uint32_t head, struct record *ret)
{
    ret->content = mem_alloc((size_t)MOST_BLOCKS * BLOCK);
    TRY(find_last(log, head, ret));
    uint32_t size = be32toh(header_of(ret)->size);
    ret->n_headers = size > CYCLE_SIZE ? (size + CYCLE_SIZE - 1) / CYCLE_SIZE : 1;
    if (size > LARGEST_RECORD || length_of(ret) > LARGEST_RECORD)
        return err_new(ERR_INTERNAL, "the last record of the file system's log is too large");
    ret->blocks = ret->n_headers + (length_of(ret) + BLOCK - 1) / BLOCK;
    for (uint32_t i = 1; i < ret->blocks; i++)
        TRY(read_block(log, (ret->at + i) % log->blocks, ret->content + (size_t)i * BLOCK));
    return NULL;
}

/* As the kernel decides whether there is anything to replay. */
static bool is_unmount(const struct log *log, uint32_t head, const struct record *record)
{
    const char *data = record->content + (size_t)record->n_headers * BLOCK;

    return (record->at + record->blocks) % log->blocks == head % log->blocks &&
           be32toh(header_of(record)->operations) == 1 &&
           ((const struct log_operation *)data)->flags & UNMOUNT;
}

static uint32_t record_checksum(const struct record *record)
{
    const char *content = record->content;
    uint32_t crc = checksum_of(content, SUMMED, offsetof(struct log_header, checksum));

    for (uint32_t i = 1; i * CYCLE_SIZE < length_of(record); i++)
        crc = crc32c(crc, content + (size_t)i * BLOCK, SUMMED_OF_MORE);
    crc = crc32c(crc, content + (size_t)record->n_headers * BLOCK, length_of(record));
    return htole32(~crc);
}

/* The mark of an unmount, which ends the log. */
static struct err *read_unmount(const struct log *log, const struct xfs_super *super,
                                struct record *ret)
{
    static const unsigned char null[UUID_BYTES];
    uint32_t head;

    TRY(find_head(log, &head));
    TRY(read_record(log, head, ret));
    if (!is_unmount(log, head, ret))
        return err_new(ERR_INTERNAL, "the file system's log has not been replayed");
    const struct log_header *header = header_of(ret);
    if (header->checksum != record_checksum(ret) ||
        (memcmp(header->uuid, super->uuid, UUID_BYTES) != 0 &&
         memcmp(header->uuid, null, UUID_BYTES) != 0))
        return err_new(ERR_INTERNAL, "the last record of the file system's log is damaged");
    return NULL;
}

static struct err *change_log(const struct log *log, const struct record *record)
{
    struct log_header *header = header_of(record);

    memset(header->uuid, 0, UUID_BYTES);
    header->checksum = record_checksum(record);
    return block_write(log->fd, log->at + (uint64_t)record->at * BLOCK, header, BLOCK);
}

/* ---- the whole of it ---- */

static struct err *set(int fd, const struct xfs_super *primary, char *sector,
                       const unsigned char uuid[UUID_BYTES])
{
    const struct log log = log_of(fd, primary);
    CLEANUP(record_fini) struct record record = {0};

    if (!primary->log_start || !log.blocks)
        return err_new(ERR_INTERNAL, "the file system's log is on another device");
    TRY(check_supers(fd, primary, sector));
    TRY(read_unmount(&log, primary, &record));

    TRY(change_log(&log, &record));
    TRY(block_flush(fd));
    for (uint32_t group = 1; group < be32toh(primary->ag_count); group++)
        TRY(change_super(fd, group_at(primary, group), sector, uuid));
    TRY(block_flush(fd));
    TRY(change_super(fd, 0, sector, uuid));
    return block_flush(fd);
}

struct err *xfs_uuid_set(int fd, const char *uuid)
{
    CLEANUP(freep) char *sector = mem_alloc(LARGEST_SECTOR);
    unsigned char bytes[UUID_BYTES];

    TRY(identity_uuid_bytes(uuid, bytes));
    TRY(read_super(fd, 0, sector));
    struct xfs_super primary = *(const struct xfs_super *)sector;
    return set(fd, &primary, sector, bytes);
}
