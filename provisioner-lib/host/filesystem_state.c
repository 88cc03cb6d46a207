#include "provisioner-lib/host/filesystem_state.h"

#include <endian.h>
#include <ext2fs/ext2_fs.h>
#include <string.h>

#include "provisioner-lib/host/block.h"

enum { SUPERBLOCK_AT = 1024 };

#define MIB (UINT64_C(1024) * 1024)
#define TIB (MIB * 1024 * 1024)

/* The peak of e2fsck 1.47.0 -f -p, in MiB:
 *
 *     empty, of   256 GiB   1 TiB   2 TiB   4 TiB   8 TiB   16 TiB   32 TiB
 *                     8.3    24.1    45.3    46.3    89.5     94.0    185.0
 *     of 256 GiB, with a million files in 1,000 folders       9.6
 *                 with 400,000 folders                       39.7, that is 82 bytes each
 *                 with 2,000,000 fragments                  195.3, that is 98 bytes each
 *
 * The superblock says how large it is and how many inodes are in use, but neither how many of them
 * are folders nor how fragmented it is: what is allowed for every file system covers 500,000
 * fragments, and what is allowed for each inode two folders among five of them. */
static uint64_t memory_to_check(uint64_t bytes, uint64_t inodes)
{
    return 64 * MIB + bytes / (TIB / (12 * MIB)) + 32 * inodes;
}

static uint64_t size_of(const struct ext2_super_block *super)
{
    uint64_t blocks = le32toh(super->s_blocks_count);

    if (le32toh(super->s_feature_incompat) & EXT4_FEATURE_INCOMPAT_64BIT)
        blocks |= (uint64_t)le32toh(super->s_blocks_count_hi) << 32;
    return blocks << (10 + (le32toh(super->s_log_block_size) & 31));
}

static struct err *read_super(int fd, struct ext2_super_block *ret)
{
    TRY(block_read(fd, SUPERBLOCK_AT, ret, sizeof *ret));
    if (le16toh(ret->s_magic) != EXT2_SUPER_MAGIC)
        return err_new(ERR_INTERNAL, "the device has no ext4 superblock");
    return NULL;
}

struct err *ext4_size_read(int fd, uint64_t *ret_bytes)
{
    struct ext2_super_block super;

    TRY(read_super(fd, &super));
    *ret_bytes = size_of(&super);
    return NULL;
}

/* The first members of xfs's superblock, by xfs_format.h; numbers are big-endian. */
struct xfs_super {
    char magic[4];
    uint32_t block_size;
    uint64_t blocks;
};

struct err *xfs_size_read(int fd, uint64_t *ret_bytes)
{
    struct xfs_super super;

    TRY(block_read(fd, 0, &super, sizeof super));
    if (memcmp(super.magic, "XFSB", sizeof super.magic) != 0)
        return err_new(ERR_INTERNAL, "the device has no xfs superblock");
    *ret_bytes = be64toh(super.blocks) * be32toh(super.block_size);
    return NULL;
}

struct err *ext4_state_read(int fd, struct filesystem_state *ret)
{
    struct ext2_super_block super;

    TRY(read_super(fd, &super));
    unsigned state = le16toh(super.s_state);
    bool journal = le32toh(super.s_feature_compat) & EXT3_FEATURE_COMPAT_HAS_JOURNAL;
    bool errors = state & EXT2_ERROR_FS;
    uint32_t inodes = le32toh(super.s_inodes_count), spare = le32toh(super.s_free_inodes_count);
    *ret = (struct filesystem_state){
        .has_journal_to_replay = le32toh(super.s_feature_incompat) & EXT3_FEATURE_INCOMPAT_RECOVER,
        .has_errors = errors,
        .needs_check = errors || (!journal && !(state & EXT2_VALID_FS)),
        .check_memory = memory_to_check(size_of(&super), spare < inodes ? inodes - spare : inodes),
    };
    return NULL;
}
