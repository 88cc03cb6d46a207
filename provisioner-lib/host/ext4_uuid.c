/* The UUID of ext4 and of its forerunners.
 *
 * It is part of every checksum in ext4's metadata, unless the superblock holds what the checksums
 * begin with (metadata_csum_seed, Linux 4.4): that is what the former UUID becomes, in the very
 * write that brings the new one. The checksums of group descriptors that mkfs made before 2016
 * (uninit_bg) cannot do without the UUID; the kernel finds them wrong then, and e2fsck, which is
 * run for that, puts them right. */
#include <endian.h>
#include <ext2fs/ext2_fs.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "lib/base/crc32c.h"
#include "provisioner-lib/host/block.h"
#include "provisioner-lib/host/filesystem_uuid.h"
#include "provisioner-lib/host/identity.h"

enum { SUPERBLOCK_AT = 1024, CRC32C_TYPE = 1, LARGEST_BLOCK_LOG = 6, SMALLEST_GROUP = 256 };

static bool has_checksums(const struct ext2_super_block *super)
{
    return le32toh(super->s_feature_ro_compat) & EXT4_FEATURE_RO_COMPAT_METADATA_CSUM;
}

static uint32_t checksum_of(const struct ext2_super_block *super)
{
    return crc32c(~UINT32_C(0), super, offsetof(struct ext2_super_block, s_checksum));
}

static bool is_valid(const struct ext2_super_block *super)
{
    return le16toh(super->s_magic) == EXT2_SUPER_MAGIC &&
           le32toh(super->s_log_block_size) <= LARGEST_BLOCK_LOG &&
           le32toh(super->s_blocks_per_group) >= SMALLEST_GROUP &&
           (!has_checksums(super) || (super->s_checksum_type == CRC32C_TYPE &&
                                      le32toh(super->s_checksum) == checksum_of(super)));
}

static struct err *check(const struct ext2_super_block *super)
{
    uint32_t incompat = le32toh(super->s_feature_incompat);

    if (!is_valid(super))
        return err_new(ERR_INTERNAL, "the device has no valid ext4 superblock");
    if (incompat & EXT3_FEATURE_INCOMPAT_RECOVER)
        return err_new(ERR_INTERNAL, "the file system's journal has not been replayed");
    if (le32toh(super->s_feature_compat) & EXT4_FEATURE_COMPAT_STABLE_INODES)
        return err_new(ERR_INTERNAL,
                       "the file system's UUID cannot change: it has the feature stable_inodes");
    if (incompat & EXT4_FEATURE_INCOMPAT_EA_INODE && !has_checksums(super))
        return err_new(ERR_INTERNAL, "the file system's UUID cannot change: it has the feature "
                                     "ea_inode without metadata_csum");
    return NULL;
}

static void change(struct ext2_super_block *super, const unsigned char uuid[16])
{
    uint32_t incompat = le32toh(super->s_feature_incompat);

    if (has_checksums(super) && !(incompat & EXT4_FEATURE_INCOMPAT_CSUM_SEED)) {
        super->s_checksum_seed = htole32(crc32c(~UINT32_C(0), super->s_uuid, sizeof super->s_uuid));
        super->s_feature_incompat = htole32(incompat | EXT4_FEATURE_INCOMPAT_CSUM_SEED);
    }
    memcpy(super->s_uuid, uuid, sizeof super->s_uuid);
    if (has_checksums(super))
        super->s_checksum = htole32(checksum_of(super));
}

/* ---- the superblock's copies ---- */

static bool is_power_of(uint32_t number, uint32_t base)
{
    while (number > 1 && number % base == 0)
        number /= base;
    return number == 1;
}

static bool has_copy(const struct ext2_super_block *super, uint32_t group)
{
    if (le32toh(super->s_feature_compat) & EXT4_FEATURE_COMPAT_SPARSE_SUPER2)
        return group == le32toh(super->s_backup_bgs[0]) || group == le32toh(super->s_backup_bgs[1]);
    return !(le32toh(super->s_feature_ro_compat) & EXT2_FEATURE_RO_COMPAT_SPARSE_SUPER) ||
           is_power_of(group, 3) || is_power_of(group, 5) || is_power_of(group, 7);
}

/* What is no copy is left alone: e2fsck is its business. */
static struct err *change_copy(int fd, uint64_t at, uint32_t group, const unsigned char uuid[16])
{
    struct ext2_super_block super;

    TRY(block_read(fd, at, &super, sizeof super));
    if (!is_valid(&super) || le16toh(super.s_block_group_nr) != (uint16_t)group)
        return NULL;
    change(&super, uuid);
    return block_write(fd, at, &super, sizeof super);
}

static struct err *change_copies(int fd, const struct ext2_super_block *super,
                                 const unsigned char uuid[16])
{
    uint64_t block = UINT64_C(1024) << le32toh(super->s_log_block_size), size;
    uint64_t first = le32toh(super->s_first_data_block);
    uint64_t per_group = le32toh(super->s_blocks_per_group);

    TRY(block_size(fd, &size));
    for (uint64_t group = 1; (first + group * per_group) * block + block <= size; group++)
        if (has_copy(super, (uint32_t)group))
            TRY(change_copy(fd, (first + group * per_group) * block, (uint32_t)group, uuid));
    return NULL;
}

struct err *ext4_uuid_set(int fd, const char *uuid)
{
    struct ext2_super_block super;
    unsigned char bytes[sizeof super.s_uuid];

    TRY(identity_uuid_bytes(uuid, bytes));
    TRY(block_read(fd, SUPERBLOCK_AT, &super, sizeof super));
    TRY(check(&super));
    TRY(change_copies(fd, &super, bytes));
    TRY(block_flush(fd));
    change(&super, bytes);
    TRY(block_write(fd, SUPERBLOCK_AT, &super, sizeof super));
    return block_flush(fd);
}
