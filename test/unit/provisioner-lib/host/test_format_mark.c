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
        cmocka_unit_test(test_mark_of_a_device_in_use),
    };

    return cmocka_run_group_tests(tests, workplace_setup, workplace_teardown);
}
