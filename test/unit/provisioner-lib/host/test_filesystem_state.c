/* What ext4 says of itself, on real file systems. */
#include "provisioner-lib/host/filesystem_state.h"

#include "lib/base/alloc.h"
#include "provisioner-lib/host/mount.h"
#include "test/unit/expect.h"
#include "test/unit/provisioner-lib/host/disk.h"

static const struct {
    const char *what;
    const char *features; /* for mkfs */
    const char *state;    /* then, by debugfs; NULL: as mkfs has left it */
    bool dirty;           /* used, and cut off */
    bool has_errors, needs_check;
} rows[] = {
    {"new", "has_journal", NULL, false, false, false},
    {"with a journal to be replayed", "has_journal", NULL, true, false, false},
    {"not unmounted", "has_journal", "0", false, false, false},
    {"with errors", "has_journal", "2", false, true, true},
    {"with errors, unmounted", "has_journal", "3", false, true, true},
    {"new, without a journal", "^has_journal", NULL, false, false, false},
    {"cut off, without a journal", "^has_journal", NULL, true, false, true},
    {"not unmounted, without a journal", "^has_journal", "0", false, false, true},
    {"with errors, without a journal", "^has_journal", "2", false, true, true},
};

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(disk_freep) struct disk *disk = disk_new(SMALLEST_EXT4);
        struct filesystem_state found;

        RUN("mkfs.ext4", "-q", "-O", rows[i].features, disk->path);
        if (rows[i].dirty)
            disk_use_and_cut_off(disk, "ext4");
        if (rows[i].state) {
            CLEANUP(freep) char *command = mem_printf("ssv state %s", rows[i].state);

            RUN("debugfs", "-w", "-R", command, disk->path);
        }
        assert_ok(ext4_state_read(disk->fd, &found));
        assert_int_equal(found.has_journal_to_replay, rows[i].dirty && rows[i].features[0] != '^');
        if (found.has_errors != rows[i].has_errors || found.needs_check != rows[i].needs_check)
            fail_msg("%s: errors %d, check %d", rows[i].what, found.has_errors, found.needs_check);
    }
}

/* Sparse: none of it is written but its metadata. */
static void test_memory_to_check(void **state)
{
    static const struct {
        uint64_t gib, mib;
        uint64_t inodes; /* as mkfs makes them */
    } sizes[] = {{1, 64, 65536},
                 {1024, 64 + 12, 67108864},
                 {4096, 64 + 4 * 12, 134217728},
                 {8192, 64 + 8 * 12, 268435456}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        CLEANUP(disk_freep) struct disk *disk = disk_new(sizes[i].gib * 1024 * MIB);
        struct filesystem_state found;

        RUN("mkfs.ext4", "-q", "-m", "0", "-E", "nodiscard", disk->path);
        assert_ok(ext4_state_read(disk->fd, &found));
        assert_int_equal(found.check_memory / MIB, sizes[i].mib);
        RUN("debugfs", "-w", "-R", "ssv free_inodes_count 0", disk->path);
        assert_ok(ext4_state_read(disk->fd, &found));
        assert_int_equal(found.check_memory / MIB, sizes[i].mib + sizes[i].inodes * 32 / MIB);
    }
}

static void test_something_else(void **state)
{
    CLEANUP(disk_freep) struct disk *disk = disk_new(MIB);
    struct filesystem_state found;

    (void)state;
    assert_fails(ext4_state_read(disk->fd, &found), ERR_INTERNAL,
                 "the device has no ext4 superblock");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_memory_to_check),
        cmocka_unit_test(test_something_else),
    };

    return cmocka_run_group_tests(tests, workplace_setup, workplace_teardown);
}
