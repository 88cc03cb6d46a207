#include "provisioner-lib/host/filesystem_state.h"

#include <endian.h>
#include <ext2fs/ext2_fs.h>

#include "provisioner-lib/host/block.h"

enum { SUPERBLOCK_AT = 1024 };

struct err *ext4_state_read(int fd, struct filesystem_state *ret)
{
    struct ext2_super_block super;

    TRY(block_read(fd, SUPERBLOCK_AT, &super, sizeof super));
    if (le16toh(super.s_magic) != EXT2_SUPER_MAGIC)
        return err_new(ERR_INTERNAL, "the device has no superblock of ext4");

    unsigned state = le16toh(super.s_state);
    bool journal = le32toh(super.s_feature_compat) & EXT3_FEATURE_COMPAT_HAS_JOURNAL;
    bool errors = state & EXT2_ERROR_FS;
    *ret = (struct filesystem_state){
        .has_errors = errors,
        .needs_check = errors || (!journal && !(state & EXT2_VALID_FS)),
    };
    return NULL;
}
