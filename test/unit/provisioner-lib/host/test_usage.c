/* Whose a mount is and what is wrong with it, by what sysfs and the links to disks say. */
#include "provisioner-lib/host/usage.h"

#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"
#include "test/unit/provisioner-lib/host/disk.h"

/* A file system that is mounted, and the machine as it looks to this driver. */
static struct disk *disk;
static const char *target, *sys, *dev, *link_of_lun, *device_folder;

static int setup(void **state)
{
    if (workplace_setup(state))
        return -1;
    disk = disk_new(SMALLEST_EXT4);
    RUN("mkfs.ext4", "-q", disk->path);
    target = in_workplace("target");
    make_folder(target);
    assert_int_equal(mount(disk->path, target, "ext4", 0, NULL), 0);
    sys = in_workplace("sys");
    dev = in_workplace("dev");
    make_folder(below(dev, "disk/azure/data/by-lun"));
    link_of_lun = below(dev, "disk/azure/data/by-lun/3");
    make_folder(below(sys, "dev/block"));
    device_folder = in_workplace("sys/dev/block/%u:%u", major(disk->number), minor(disk->number));
    return 0;
}

static int teardown(void **state)
{
    assert_int_equal(umount(target), 0); /* which no look has kept */
    disk_free(disk);
    return workplace_teardown(state);
}

static int clear(void **state)
{
    (void)state;
    RUN("rm", "-rf", link_of_lun, device_folder, below(sys, "block"), below(sys, "fs"));
    return 0;
}

static void disk_is_there(void)
{
    assert_int_equal(symlink(disk->path, link_of_lun), 0);
}

static void kernel_has_device(void)
{
    const char *folder = in_workplace("sys/block/%s", strrchr(disk->path, '/') + 1);

    make_folder(folder);
    assert_int_equal(symlink(folder, device_folder), 0);
}

static struct err *look(const char *path, dev_t known, struct volume_usage *ret)
{
    const struct usage_request request = {
        .roots = {sys, dev}, .path = path, .lun = 3, .known = known};

    return usage_look(&request, ret);
}

static void assert_trouble(dev_t known, bool has_amounts, const char *wanted)
{
    CLEANUP(usage_fini) struct volume_usage usage = {0};

    assert_ok(look(target, known, &usage));
    assert_int_equal(usage.device, has_amounts ? disk->number : 0);
    assert_int_equal(usage.has_amounts, has_amounts);
    if (!wanted)
        assert_null(usage.trouble);
    else if (!usage.trouble || !strstr(usage.trouble, wanted))
        fail_msg("expected %s, got %s", wanted, usage.trouble);
}

static void test_well(void **state)
{
    CLEANUP(usage_fini) struct volume_usage usage = {0};
    struct statvfs found;

    (void)state;
    disk_is_there();
    kernel_has_device();
    assert_ok(look(target, 0, &usage));
    assert_int_equal(statvfs(target, &found), 0);
    assert_null(usage.trouble);
    assert_false(usage.raw);
    assert_int_equal(usage.bytes.total, found.f_blocks * found.f_frsize);
    assert_int_equal(usage.bytes.available, found.f_bavail * found.f_frsize);
    assert_true(usage.bytes.used + usage.bytes.available < usage.bytes.total); /* root's own */
    assert_int_equal(usage.inodes.total, usage.inodes.used + usage.inodes.available);
}

static void test_the_device_is_out_of_service(void **state)
{
    (void)state;
    disk_is_there();
    kernel_has_device();
    write_below(device_folder, "device/state", "running\n");
    assert_trouble(0, true, NULL);
    write_below(device_folder, "device/state", "offline\n");
    assert_trouble(0, true, "its state is \"offline\"");
}

static void test_errors(void **state)
{
    (void)state;
    disk_is_there();
    kernel_has_device();
    const char *name = strrchr(disk->path, '/') + 1;
    const char *folder = in_workplace("sys/fs/ext4/%s", name);
    write_below(folder, "errors_count", "0\n");
    assert_trouble(0, true, NULL);
    write_below(folder, "errors_count", "12\n");
    assert_trouble(0, true, "the kernel has recorded 12 errors in the ext4 file system");
}

static void test_gone(void **state)
{
    CLEANUP(freep)
    char *nobodys = mem_printf("%s may not be the volume: %s is mounted there, and no disk is at "
                               "LUN 3",
                               target, disk->path);
    struct volume_usage usage;

    (void)state;
    assert_trouble(disk->number, true, "no disk is at LUN 3 any more");
    assert_trouble(0, false, "no disk is at LUN 3 any more");
    kernel_has_device();
    assert_trouble(disk->number, true, "no disk is at LUN 3 any more");
    assert_fails(look(target, 0, &usage), ERR_NOT_FOUND, nobodys);
    assert_fails(look(target, disk->number + 1, &usage), ERR_NOT_FOUND, nobodys);
}

static void test_of_somebody_else(void **state)
{
    CLEANUP(disk_freep) struct disk *other = disk_new(MIB);
    const char *path = in_workplace("tmpfs"), *empty = in_workplace("empty");
    struct volume_usage usage;

    (void)state;
    kernel_has_device();
    assert_int_equal(symlink(other->path, link_of_lun), 0);
    CLEANUP(freep)
    char *message = mem_printf("%s is not the volume: %s is mounted there, not %s (LUN 3)", target,
                               disk->path, other->path);
    assert_fails(look(target, 0, &usage), ERR_NOT_FOUND, message);
    assert_trouble(disk->number, true, "the disk at LUN 3 is");

    make_folder(path);
    assert_int_equal(mount("stranger", path, "tmpfs", 0, NULL), 0);
    assert_int_equal(unlink(link_of_lun), 0);
    CLEANUP(freep)
    char *no_disk = mem_printf("%s may not be the volume: stranger is mounted there, and no disk "
                               "is at LUN 3",
                               path);
    assert_fails(look(path, 0, &usage), ERR_NOT_FOUND, no_disk);
    assert_int_equal(umount(path), 0);

    make_folder(empty);
    CLEANUP(freep) char *nothing = mem_printf("nothing is mounted at %s", empty);
    assert_fails(look(empty, disk->number, &usage), ERR_NOT_FOUND, nothing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_well, clear),
        cmocka_unit_test_setup(test_the_device_is_out_of_service, clear),
        cmocka_unit_test_setup(test_errors, clear),
        cmocka_unit_test_setup(test_gone, clear),
        cmocka_unit_test_setup(test_of_somebody_else, clear),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
