/* The mark on a device that is being formatted. */
#include "provisioner-lib/host/format_mark.h"

#include "lib/base/alloc.h"
#include "provisioner-lib/host/mount.h"
#include "test/unit/expect.h"
#include "test/unit/provisioner-lib/host/disk.h"

#define OWN "617a646b-6e85-804c-ba1a-e367f410918d"
#define OTHER "617a646b-1111-8111-8111-111111111111"

static void test_mark(void **state)
{
    CLEANUP(disk_freep) struct disk *disk = disk_new(4 * MIB);
    char uuid[UUID_SIZE];

    (void)state;
    uint64_t blank = disk_checksum(disk);
    assert_ok(format_mark_read(disk->fd, disk->size, uuid));
    assert_string_equal(uuid, "");
    assert_ok(format_mark_set(disk->path, OWN));
    disk_write(disk, 0, "the beginnings of an earlier attempt");
    for (int i = 0; i < 2; i++)
        assert_ok(format_mark_set(disk->path, OWN));
    assert_ok(format_mark_read(disk->fd, disk->size, uuid));
    assert_string_equal(uuid, OWN);

    uint64_t marked = disk_checksum(disk);
    assert_ok(format_mark_clear(disk->path, OTHER));
    assert_int_equal(disk_checksum(disk), marked);
    for (int i = 0; i < 2; i++)
        assert_ok(format_mark_clear(disk->path, OWN));
    assert_int_equal(disk_checksum(disk), blank);
}

/* ---- since the proof ---- */

static void assert_left_alone(const struct disk *disk, const char *uuid, const char *what)
{
    uint64_t before = disk_checksum(disk);
    CLEANUP(freep)
    char *message = mem_printf("%s: the device was empty, and has %s now; it was not modified",
                               disk->path, what);

    assert_fails(format_mark_set(disk->path, uuid), ERR_PRECONDITION, message);
    assert_int_equal(disk_checksum(disk), before);
}

static void test_what_has_come_since_the_proof_stays(void **state)
{
    CLEANUP(disk_freep) struct disk *made = disk_new(SMALLEST_EXT4);
    CLEANUP(disk_freep) struct disk *at_the_head = disk_new(4 * MIB);
    CLEANUP(disk_freep) struct disk *at_the_end = disk_new(4 * MIB);

    (void)state;
    RUN("mkfs.ext4", "-q", "-U", OWN, made->path);
    assert_left_alone(made, OWN, "ext4");
    disk_write(at_the_head, 512 * 1024, "somebody's data");
    assert_left_alone(at_the_head, OWN, "data");
    disk_write(at_the_end, at_the_end->size - 4096, "somebody's data");
    assert_left_alone(at_the_end, OWN, "data");
}

/* Which volume's it was, the proof knows: a copy may have the mark of its origin. */
static void test_a_formatting_that_was_cut_off_is_taken_up(void **state)
{
    CLEANUP(disk_freep) struct disk *disk = disk_new(SMALLEST_EXT4);
    char uuid[UUID_SIZE];

    (void)state;
    assert_ok(format_mark_set(disk->path, OTHER));
    RUN("mkfs.ext4", "-q", "-E", "nodiscard", "-U", OTHER, disk->path);
    assert_ok(format_mark_set(disk->path, OWN));
    assert_ok(format_mark_read(disk->fd, disk->size, uuid));
    assert_string_equal(uuid, OWN);
    RUN("mkfs.ext4", "-q", "-E", "nodiscard", "-U", OTHER, disk->path);
    assert_left_alone(disk, OWN, "ext4");
}

/* Another machine has written it, and this one has the pages of before in its memory. */
static void test_what_is_on_the_disk_counts(void **state)
{
    CLEANUP(disk_freep) struct disk *disk = disk_new(4 * MIB);
    CLEANUP(freep)
    char *message =
        mem_printf("%s: the device was empty, and has data now; it was not modified", disk->path);
    char text[] = "somebody's", found[sizeof text];

    (void)state;
    assert_int_equal(pread(disk->fd, found, sizeof found, 0), sizeof found);
    assert_int_equal(pwrite(disk->image, text, sizeof text, 0), sizeof text);
    assert_int_equal(pread(disk->fd, found, sizeof found, 0), sizeof found);
    assert_int_equal(found[0], 0);
    assert_fails(format_mark_set(disk->path, OWN), ERR_PRECONDITION, message);
    assert_int_equal(pread(disk->image, found, sizeof found, 0), sizeof found);
    assert_string_equal(found, text);
}

static void test_mark_of_a_device_in_use(void **state)
{
    CLEANUP(disk_freep) struct disk *disk = disk_new(SMALLEST_EXT4);
    const char *target = in_workplace("in-use");
    struct mount_request request = {.device = disk->path, .target = target, .type = "ext4"};
    CLEANUP(freep) char *message = mem_printf("%s: the device is in use", disk->path);

    (void)state;
    RUN("mkfs.ext4", "-q", disk->path);
    make_folder(target);
    assert_ok(mount_filesystem(&request));
    assert_fails(format_mark_set(disk->path, OWN), ERR_PRECONDITION, message);
    assert_ok(mount_remove(target));
    assert_fails(format_mark_set("/dev/no-such-disk", OWN), ERR_NOT_FOUND,
                 "/dev/no-such-disk: No such file or directory");

    CLEANUP(disk_freep) struct disk *tiny = disk_new(MIB);
    CLEANUP(freep)
    char *too_small = mem_printf("%s: the device is too small for a file system", tiny->path);
    assert_fails(format_mark_set(tiny->path, OWN), ERR_PRECONDITION, too_small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mark),
        cmocka_unit_test(test_what_has_come_since_the_proof_stays),
        cmocka_unit_test(test_a_formatting_that_was_cut_off_is_taken_up),
        cmocka_unit_test(test_what_is_on_the_disk_counts),
        cmocka_unit_test(test_mark_of_a_device_in_use),
    };

    return cmocka_run_group_tests(tests, workplace_setup, workplace_teardown);
}
