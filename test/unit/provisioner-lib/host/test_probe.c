/* What is seen on real devices that carry what people have on theirs. */
#include "provisioner-lib/host/probe.h"

#include "lib/base/alloc.h"
#include "provisioner-lib/host/block.h"
#include "provisioner-lib/host/format_mark.h"
#include "test/unit/expect.h"
#include "test/unit/provisioner-lib/host/disk.h"

#define UUID "617a646b-6e85-804c-ba1a-e367f410918d"

static void make_ext4(const struct disk *disk)
{
    RUN("mkfs.ext4", "-q", "-U", UUID, disk->path);
}

static void make_xfs(const struct disk *disk)
{
    CLEANUP(freep) char *uuid = mem_printf("uuid=%s", UUID);

    RUN("mkfs.xfs", "-q", "-m", uuid, disk->path);
}

static void make_swap(const struct disk *disk)
{
    RUN("mkswap", "--quiet", disk->path);
}

/* One partition of Linux's type, from 1 MiB on. */
static void make_partitions(const struct disk *disk)
{
    static const unsigned char entry[16] = {[4] = 0x83, [9] = 8, [13] = 8};

    assert_int_equal(pwrite(disk->fd, entry, sizeof entry, 446), sizeof entry);
    disk_write(disk, 510, "\x55\xaa");
}

/* Whoever made the table may have left a file system in front of it, or the reverse. */
static void make_ext4_with_partitions(const struct disk *disk)
{
    make_ext4(disk);
    make_partitions(disk);
}

static void make_luks(const struct disk *disk)
{
    disk_write(disk, 0, "LUKS\xba\xbe");
    disk_write(disk, 7, "\1");
}

/* An ext4 superblock where xfs has nothing. */
static void make_both(const struct disk *disk)
{
    CLEANUP(disk_freep) struct disk *other = disk_new(SMALLEST_EXT4);
    char superblock[1024];

    make_xfs(disk);
    make_ext4(other);
    assert_int_equal(pread(other->fd, superblock, sizeof superblock, 1024), sizeof superblock);
    assert_int_equal(pwrite(disk->fd, superblock, sizeof superblock, 1024), sizeof superblock);
}

static void write_first(const struct disk *disk)
{
    disk_write(disk, MIB - 1, "x");
}

static void write_last(const struct disk *disk)
{
    disk_write(disk, disk->size - MIB, "x");
}

static void write_between(const struct disk *disk)
{
    disk_write(disk, MIB, "x");
}

static void set_mark(const struct disk *disk)
{
    assert_ok(format_mark_set(disk->path, UUID));
}

static void make_nothing(const struct disk *disk)
{
    (void)disk;
}

static const struct {
    void (*make)(const struct disk *disk);
    uint64_t size;
    struct disk_observation seen; /* the size apart */
} table[] = {
    {make_nothing, 4 * MIB, {.content = DISK_UNSIGNED, .blank = true}},
    {make_nothing, 256 * 1024, {.content = DISK_UNSIGNED, .blank = true}},
    {write_first, 4 * MIB, {.content = DISK_UNSIGNED}},
    {write_last, 4 * MIB, {.content = DISK_UNSIGNED}},
    {write_between, 4 * MIB, {.content = DISK_UNSIGNED, .blank = true}},
    {set_mark, 4 * MIB, {.content = DISK_UNSIGNED, .format_mark = UUID}},
    {make_ext4, SMALLEST_EXT4, {.content = DISK_FILESYSTEM, .type = "ext4", .uuid = UUID}},
    {make_xfs, SMALLEST_XFS, {.content = DISK_FILESYSTEM, .type = "xfs", .uuid = UUID}},
    {make_swap, 4 * MIB, {.content = DISK_OTHER, .type = "swap"}},
    {make_partitions, 4 * MIB, {.content = DISK_OTHER, .type = "dos"}},
    {make_ext4_with_partitions, SMALLEST_EXT4, {.content = DISK_OTHER, .type = "dos"}},
    {make_luks, 4 * MIB, {.content = DISK_OTHER, .type = "crypto_LUKS"}},
    {make_both, SMALLEST_XFS, {.content = DISK_AMBIGUOUS}},
};

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        CLEANUP(disk_freep) struct disk *disk = disk_new(table[i].size);
        struct disk_observation found;

        table[i].make(disk);
        uint64_t before = disk_checksum(disk);
        assert_ok(probe_device(disk->fd, &found));
        assert_int_equal(found.size, table[i].size);
        assert_int_equal(found.content, table[i].seen.content);
        assert_string_equal(found.type, table[i].seen.type);
        assert_string_equal(found.uuid, table[i].seen.uuid);
        assert_int_equal(found.blank, table[i].seen.blank);
        assert_string_equal(found.format_mark, table[i].seen.format_mark);
        assert_int_equal(disk_checksum(disk), before);
    }
}

static void test_a_device_that_cannot_be_read(void **state)
{
    struct disk_observation found;
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_fails(probe_device(ends[0], &found), ERR_INTERNAL,
                 "BLKGETSIZE64: Inappropriate ioctl for device");
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_a_device_that_cannot_be_read),
    };

    return cmocka_run_group_tests(tests, workplace_setup, workplace_teardown);
}
