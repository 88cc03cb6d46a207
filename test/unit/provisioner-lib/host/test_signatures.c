/* What marks a device as somebody's, for all kinds that libblkid knows: none is ever formatted. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/host/probe.h"
#include "test/unit/expect.h"
#include "test/unit/provisioner-lib/host/disk.h"

enum { SIZE = 8 * 1024 * 1024, KIB = 1024 };

/* Of each kind the bytes by which it is known, and nothing else of it: a damaged one is not free to
 * be overwritten, either. */
#define AT(kind_, offset_, bytes_)                                                                 \
    {                                                                                              \
        kind_, offset_, bytes_, sizeof(bytes_) - 1                                                 \
    }
#define AT_END(kind_, back_, bytes_) AT(kind_, SIZE - (back_), bytes_)
static const struct {
    const char *kind;
    off_t offset;
    const char *bytes;
    size_t length;
} table[] = {
    AT("linux_raid_member", 4 * KIB, "\xfc\x4e\x2b\xa9"),
    AT_END("linux_raid_member", 8 * KIB, "\xfc\x4e\x2b\xa9"),
    AT_END("linux_raid_member", 64 * KIB, "\xfc\x4e\x2b\xa9"),
    AT_END("ddf_raid_member", 512, "\xde\x11\xde\x11"),
    AT_END("isw_raid_member", 1024, "Intel Raid ISM Cfg Sig. "),
    AT_END("lsi_mega_raid_member", 512, "$XIDE$"),
    AT_END("via_raid_member", 512, "\x55\xaa"),
    AT_END("silicon_medley_raid_member", 512 - 0x60, "\xf0\xff\x2f\x00"),
    AT_END("nvidia_raid_member", 1024, "NVIDIA"),
    AT_END("promise_fasttrack_raid_member", 63 * 512, "Promise Technology, Inc."),
    AT_END("hpt45x_raid_member", 11 * 512, "\xf3\x16\x78\x5a"),
    AT("hpt37x_raid_member", 4 * KIB + 544, "\xf0\x16\x78\x5a"),
    AT_END("adaptec_raid_member", 512, "DPTM"),
    AT_END("jmicron_raid_member", 512, "JM"),
    AT("bcache", 4 * KIB + 24, "\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"),
    AT("bcachefs", 4 * KIB + 24,
       "\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"),
    AT("ceph_bluestore", 0, "bluestore block device"),
    AT_END("drbd", 4 * KIB - 0x1c, "\x83\x74\x02\x6b"),
    AT("drbdmanage_control_volume", 0, "$DRBDmgr=q"),
    AT("drbdproxy_datalog", 0, "DRBDdlh*"),
    AT("LVM2_member", 0x218, "LVM2 001"),
    AT("LVM1_member", 0, "HM"),
    AT("DM_snapshot_cow", 0, "SnAp"),
    AT("DM_verity_hash", 0, "verity\0\0"),
    AT("DM_integrity", 0, "integrt\0"),
    AT("crypto_LUKS", 0, "LUKS\xba\xbe"),
    AT("crypto_LUKS", 16 * KIB, "SKUL\xba\xbe"), /* where the second header may be */
    AT("VMFS_volume_member", 1024 * KIB, "\x0d\xd0\x01\xc0"),
    AT("ubi", 0, "UBI#"),
    AT("vdo", 0, "dmvdo001"),
    AT("stratis", 512 + 4, "!Stra0tis\x86\xff\x02^\x41rh"),
    AT("BitLocker", 0, "\xeb\x52\x90-FVE-FS-"),
    AT("cs_fvault2", 88, "CS"),
    AT("vfat", 0x52, "FAT32   "),
    AT("swsuspend", 0xff6, "S1SUSPEND"),
    AT("swap", 0xff6, "SWAPSPACE2"),
    AT("xfs", 0, "XFSB"),
    AT("xfs_external_log", 0, "\xfe\xed\xba\xbe"),
    AT("exfs", 0, "EXFS"),
    AT("ext4dev", 1080, "\x53\xef"),
    AT("ext4", 1080, "\x53\xef"),
    AT("ext3", 1080, "\x53\xef"),
    AT("ext2", 1080, "\x53\xef"),
    AT("jbd", 1080, "\x53\xef"),
    AT("reiserfs", 64 * KIB + 0x34, "ReIsEr3Fs"),
    AT("reiser4", 64 * KIB, "ReIsEr4"),
    AT("jfs", 32 * KIB, "JFS1"),
    AT("udf", 32 * KIB + 1, "BEA01"),
    AT("iso9660", 32 * KIB + 1, "CD001"),
    AT("zfs_member", 128 * KIB, "\x0c\xb1\xba\x00"),
    AT_END("zfs_member", 256 * KIB, "\x0c\xb1\xba\x00"),
    AT("hfsplus", 1 * KIB, "H+"),
    AT("hfs", 1 * KIB, "BD"),
    AT("ufs", 8 * KIB + 0x55c, "\x54\x19\x01\x00"),
    AT("hpfs", 8 * KIB, "\x49\xe8\x95\xf9"),
    AT("sysv", 1 * KIB + 0x1f8, "\xfd\x18\x7e\x20"),
    AT("xenix", 2 * KIB, "\x2b\x55\x44"),
    AT("ntfs", 3, "NTFS    "),
    AT("ReFS", 0, "\0\0\0ReFS\0"),
    AT("cramfs", 0, "\x45\x3d\xcd\x28"),
    AT("romfs", 0, "-rom1fs-"),
    AT("minix", 1 * KIB + 0x10, "\x7f\x13"),
    AT("gfs", 64 * KIB, "\x01\x16\x19\x70"),
    AT("gfs2", 64 * KIB, "\x01\x16\x19\x70"),
    AT("ocfs", 8 * KIB, "OracleCFS"),
    AT("ocfs2", 2 * KIB, "OCFSV2"),
    AT("oracleasm", 32, "ORCLDISK"),
    AT("vxfs", 1 * KIB, "\xf5\xfc\x01\xa5"),
    AT("squashfs", 0, "hsqs"),
    AT("squashfs3", 0, "sqsh"),
    AT("nss", 4 * KIB, "SPB5"),
    AT("btrfs", 64 * KIB + 0x40, "_BHRfS_M"),
    AT("ubifs", 0, "\x31\x18\x10\x06"),
    AT("bfs", 0, "\xce\xfa\xad\x1b"),
    AT("VMFS", 2048 * KIB, "\x5e\xf1\xab\x2f"),
    AT("befs", 32, "BFS1"),
    AT("nilfs2", 1 * KIB + 6, "\x34\x34"),
    AT_END("nilfs2", 4 * KIB - 6, "\x34\x34"),
    AT("exfat", 3, "EXFAT   "),
    AT("f2fs", 1 * KIB, "\x10\x20\xf5\xf2"),
    AT("mpool", 0, "mpoolDev"),
    AT("apfs", 32, "NXSB"),
    AT("zonefs", 0, "SFOZ"),
    AT("erofs", 1 * KIB, "\xe2\xe1\xf5\xe0"),
    AT("scoutfs_meta", 64 * KIB + 4, "\x8b\x42\x3c\x10"),
    AT("scoutfs_data", 64 * KIB + 4, "\x8b\x42\x3c\x10"),
};

static bool known(const char *kind)
{
    for (size_t i = 0; i < COUNT_OF(table); i++)
        if (strcmp(table[i].kind, kind) == 0)
            return true;
    return false;
}

static void test_the_table_has_every_kind(void **state)
{
    const char *path = in_workplace("kinds");
    char kind[64];
    int kinds = 0;

    (void)state;
    CLEANUP(freep) char *command = mem_printf("blkid -k >%s", path); /* the same libblkid */
    RUN("sh", "-c", command);
    FILE *list = fopen(path, "re");
    assert_non_null(list);
    for (; fscanf(list, "%63s", kind) == 1; kinds++)
        if (!known(kind))
            fail_msg("libblkid knows %s, which this table does not", kind);
    assert_int_equal(fclose(list), 0);
    assert_true(kinds > 70);
}

static struct err *decide(const struct disk *disk)
{
    const struct disk_expectation expected = {
        .size = SIZE, .type = "ext4", .uuid = "617a646b-6e85-804c-ba1a-e367f410918d"};
    struct disk_observation found;
    struct disk_verdict verdict;

    assert_ok(probe_device(disk->fd, &found));
    return proof_decide(&expected, &found, &verdict);
}

static void test_none_is_formatted(void **state)
{
    CLEANUP(disk_freep) struct disk *disk = disk_new(SIZE);
    static const char zeros[64];

    (void)state;
    assert_ok(decide(disk));
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        const ssize_t length = (ssize_t)table[i].length;

        assert_int_equal(pwrite(disk->fd, table[i].bytes, table[i].length, table[i].offset),
                         length);
        CLEANUP(err_freep) struct err *err = decide(disk);
        if (!err)
            fail_msg("a device with %s would be formatted", table[i].kind);
        assert_int_equal(err_kind(err), ERR_PRECONDITION);
        assert_int_equal(pwrite(disk->fd, zeros, table[i].length, table[i].offset), length);
    }
    assert_ok(decide(disk));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_table_has_every_kind),
        cmocka_unit_test(test_none_is_formatted),
    };

    return cmocka_run_group_tests(tests, workplace_setup, workplace_teardown);
}
