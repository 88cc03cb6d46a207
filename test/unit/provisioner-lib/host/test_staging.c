/* A volume on its way to a pod and back: staged, published, unpublished, unstaged, each more than
 * once, with what can be in the way. */
#include "provisioner-lib/host/staging.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/types.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/host/target_mount.h"
#include "test/unit/expect.h"
#include "test/unit/provisioner-lib/host/disk.h"

/* A volume, and the paths that a CO uses for it. */
struct volume {
    struct disk *disk;
    struct device device;
    const char *staging, *target, *second_target;
};

static int setup(void **state)
{
    static unsigned count;
    struct volume *volume = mem_alloc(sizeof *volume);

    count++;
    volume->disk = disk_new(SMALLEST_EXT4);
    volume->device = (struct device){volume->disk->path, volume->disk->number, volume->disk->fd};
    volume->staging = in_workplace("volume-%u/staging", count);
    volume->target = in_workplace("volume-%u/pod-1", count);
    volume->second_target = in_workplace("volume-%u/pod-2", count);
    make_folder(volume->staging);
    *state = volume;
    return 0;
}

static int teardown(void **state)
{
    struct volume *volume = *state;

    disk_free(volume->disk);
    free(volume);
    return 0;
}

static struct mount_request stage_request(const struct volume *volume)
{
    return (struct mount_request){
        .device = volume->disk->path, .target = volume->staging, .type = "ext4"};
}

static void stage(const struct volume *volume)
{
    struct mount_request request = stage_request(volume);

    assert_ok(staging_mount(&volume->device, &request));
}

static struct target_mount target_mount(const struct volume *volume, bool raw, bool read_only)
{
    return (struct target_mount){
        .staging = volume->staging, .target = volume->target, .raw = raw, .read_only = read_only};
}

static bool exists(const char *path)
{
    struct stat status;

    return lstat(path, &status) == 0;
}

static unsigned count_mounts(const char *path)
{
    CLEANUP(freep) char *table = read_text("/proc/self/mounts");
    CLEANUP(freep) char *wanted = mem_printf(" %s ", path);
    unsigned n = 0;

    for (const char *at = table; (at = strstr(at, wanted)); at++)
        n++;
    return n;
}

static bool is_used(const struct volume *volume)
{
    bool used;

    assert_ok(staging_is_used(volume->staging, &used));
    return used;
}

/* ---- file systems ---- */

static void test_there_and_back(void **state)
{
    struct volume *volume = *state;

    RUN("mkfs.ext4", "-q", volume->disk->path);
    struct target_mount writing = target_mount(volume, false, false);
    for (int life = 0; life < 2; life++) {
        for (int i = 0; i < 2; i++)
            stage(volume);
        assert_int_equal(count_mounts(volume->staging), 1);
        assert_true(is_used(volume));
        for (int i = 0; i < 2; i++)
            assert_ok(target_mount_make(&writing));
        assert_int_equal(count_mounts(volume->target), 1);
        if (life == 0)
            write_file(below(volume->target, "file"), "data");
        CLEANUP(freep) char *text = read_text(below(volume->target, "file"));
        assert_string_equal(text, "data");
        for (int i = 0; i < 2; i++)
            assert_ok(target_mount_remove(volume->target));
        assert_false(exists(volume->target));
        for (int i = 0; i < 2; i++)
            assert_ok(staging_remove(volume->staging));
        assert_int_equal(count_mounts(volume->staging), 0);
        assert_false(is_used(volume));
        assert_true(exists(volume->staging)); /* not ours */
    }
}

static void test_read_only(void **state)
{
    struct volume *volume = *state;
    struct mount_request request = stage_request(volume);
    struct target_mount reading = target_mount(volume, false, true);
    struct target_mount writing = target_mount(volume, false, false);

    RUN("mkfs.ext4", "-q", volume->disk->path);
    stage(volume);
    assert_ok(target_mount_make(&reading));
    assert_int_equal(open(below(volume->target, "file"), O_CREAT | O_WRONLY, 0600), -1);
    assert_int_equal(errno, EROFS);
    CLEANUP(freep)
    char *published =
        mem_printf("the volume is already published at %s, read-only", volume->target);
    assert_fails(target_mount_make(&writing), ERR_EXISTS, published);

    CLEANUP(freep)
    char *staged = mem_printf("the volume is already staged at %s, for writing", volume->staging);
    request.read_only = true;
    assert_fails(staging_mount(&volume->device, &request), ERR_EXISTS, staged);
    assert_ok(target_mount_remove(volume->target));
    assert_ok(staging_remove(volume->staging));

    /* What is staged read-only is read-only for all. */
    assert_ok(staging_mount(&volume->device, &request));
    for (int i = 0; i < 2; i++)
        assert_ok(target_mount_make(&writing));
    assert_int_equal(open(below(volume->target, "file"), O_CREAT | O_WRONLY, 0600), -1);
    assert_ok(target_mount_remove(volume->target));
    assert_ok(staging_remove(volume->staging));
}

static void test_something_else_in_the_way(void **state)
{
    struct volume *volume = *state;
    struct target_mount writing = target_mount(volume, false, false);
    CLEANUP(disk_freep) struct disk *other = disk_new(SMALLEST_EXT4);
    struct device device = {other->path, other->number, other->fd};
    struct mount_request request = stage_request(volume);

    RUN("mkfs.ext4", "-q", volume->disk->path);
    CLEANUP(freep)
    char *not_staged = mem_printf("the volume is not staged at %s", volume->staging);
    assert_fails(target_mount_make(&writing), ERR_PRECONDITION, not_staged);

    stage(volume);
    CLEANUP(freep)
    char *staging_taken = mem_printf("%s is in use: %s is mounted there, not %s", volume->staging,
                                     volume->disk->path, other->path);
    assert_fails(staging_mount(&device, &request), ERR_PRECONDITION, staging_taken);

    make_folder(volume->target);
    assert_int_equal(mount("tmpfs", volume->target, "tmpfs", 0, NULL), 0);
    CLEANUP(freep)
    char *target_taken = mem_printf("%s is in use: tmpfs is mounted there", volume->target);
    assert_fails(target_mount_make(&writing), ERR_PRECONDITION, target_taken);
    assert_ok(target_mount_remove(volume->target));
    assert_ok(staging_remove(volume->staging));
}

static void test_not_unstaged_while_published(void **state)
{
    struct volume *volume = *state;
    struct target_mount writing = target_mount(volume, false, false);
    CLEANUP(freep)
    char *message = mem_printf("the volume is in use: it is still mounted at %s", volume->target);

    RUN("mkfs.ext4", "-q", volume->disk->path);
    stage(volume);
    assert_ok(target_mount_make(&writing));
    assert_fails(staging_remove(volume->staging), ERR_PRECONDITION, message);
    assert_int_equal(count_mounts(volume->staging), 1);
    assert_ok(target_mount_remove(volume->target));
    assert_ok(staging_remove(volume->staging));
}

/* Layers as two calls at once would leave them. */
static void test_all_layers_of_a_target_go(void **state)
{
    struct volume *volume = *state;

    RUN("mkfs.ext4", "-q", volume->disk->path);
    stage(volume);
    make_folder(volume->target);
    for (int i = 0; i < 3; i++)
        assert_ok(mount_bind(volume->staging, volume->target, false));
    assert_ok(target_mount_remove(volume->target));
    assert_false(exists(volume->target));
    assert_ok(staging_remove(volume->staging));
}

static void test_nothing_but_what_is_empty_is_removed(void **state)
{
    struct volume *volume = *state;

    make_folder(volume->target);
    write_file(below(volume->target, "file"), "somebody's");
    CLEANUP(freep) char *folder = mem_printf("removing %s: Directory not empty", volume->target);
    assert_fails(target_mount_remove(volume->target), ERR_INTERNAL, folder);

    CLEANUP(freep)
    char *file = mem_printf("%s is neither a directory nor an empty file: not removed",
                            below(volume->target, "file"));
    assert_fails(target_mount_remove(below(volume->target, "file")), ERR_INTERNAL, file);
    assert_true(exists(below(volume->target, "file")));

    write_file(below(volume->staging, "device"), "somebody's, too");
    CLEANUP(freep)
    char *node = mem_printf("%s is neither a directory nor an empty file: not removed",
                            below(volume->staging, "device"));
    assert_fails(staging_remove(volume->staging), ERR_INTERNAL, node);
    assert_int_equal(unlink(below(volume->staging, "device")), 0);
}

static void test_paths_that_are_not_there(void **state)
{
    struct volume *volume = *state;
    struct target_mount writing = target_mount(volume, false, false);

    assert_ok(target_mount_remove("/no/such/target"));
    assert_ok(staging_remove("/no/such/staging"));
    RUN("mkfs.ext4", "-q", volume->disk->path);
    stage(volume);
    writing.target = "/no/such/target";
    assert_fails(target_mount_make(&writing), ERR_INTERNAL,
                 "making /no/such/target: No such file or directory");
    assert_ok(staging_remove(volume->staging));
}

/* Somebody has cut the disk off: what was not written is lost, and the mount goes all the same. */
static void test_a_disk_that_fails(void **state)
{
    struct volume *volume = *state;
    CLEANUP(freep)
    char *message =
        mem_printf("data written to %s may be lost: Input/output error", volume->staging);

    RUN("mkfs.ext4", "-q", volume->disk->path);
    stage(volume);
    int file = open(below(volume->staging, "file"), O_CREAT | O_WRONLY, 0600);
    assert_int_equal(write(file, "lost", 4), 4);
    close(file);
    int root = open(volume->staging, O_RDONLY | O_DIRECTORY);
    assert_int_equal(ioctl(root, _IOR('X', 125, __u32), &(__u32){2}), 0); /* EXT4_IOC_SHUTDOWN */
    close(root);
    assert_fails(staging_remove(volume->staging), ERR_INTERNAL, message);
    assert_int_equal(count_mounts(volume->staging), 0);
    assert_ok(staging_remove(volume->staging));
}

/* ---- raw volumes ---- */

static void test_raw_there_and_back(void **state)
{
    struct volume *volume = *state;
    struct target_mount raw = target_mount(volume, true, false);
    struct stat status;
    char text[5] = "";

    for (int i = 0; i < 2; i++)
        assert_ok(staging_bind(&volume->device, volume->staging, false));
    assert_true(is_used(volume));
    for (int i = 0; i < 2; i++)
        assert_ok(target_mount_make(&raw));
    assert_int_equal(stat(volume->target, &status), 0);
    assert_true(S_ISBLK(status.st_mode));
    assert_int_equal(status.st_rdev, volume->disk->number);

    int file = open(volume->target, O_RDWR);
    assert_int_equal(pwrite(file, "data", 4, 4096), 4);
    close(file);
    CLEANUP(freep)
    char *in_use = mem_printf("the volume is in use: it is still mounted at %s", volume->target);
    assert_fails(staging_remove(volume->staging), ERR_PRECONDITION, in_use);
    for (int i = 0; i < 2; i++)
        assert_ok(target_mount_remove(volume->target));
    for (int i = 0; i < 2; i++)
        assert_ok(staging_remove(volume->staging));
    assert_false(exists(volume->target));
    assert_false(exists(below(volume->staging, "device")));
    assert_int_equal(pread(volume->disk->fd, text, 4, 4096), 4);
    assert_string_equal(text, "data");
}

static bool can_write(const char *node)
{
    int fd = open(node, O_RDWR);
    bool can = fd >= 0 && pwrite(fd, "data", 4, 0) == 4;

    close(fd);
    return can;
}

static void test_raw_read_only(void **state)
{
    struct volume *volume = *state;
    struct target_mount reading = target_mount(volume, true, true);
    struct target_mount writing = target_mount(volume, true, false);

    assert_ok(staging_bind(&volume->device, volume->staging, false));
    assert_ok(target_mount_make(&reading));
    assert_false(can_write(volume->target));
    writing.target = volume->second_target;
    assert_fails(target_mount_make(&writing), ERR_PRECONDITION,
                 "the volume is read-only on this node");
    assert_ok(target_mount_remove(volume->target));
    assert_ok(staging_remove(volume->staging));

    /* It does not stay so. */
    assert_ok(staging_bind(&volume->device, volume->staging, false));
    assert_ok(target_mount_make(&writing));
    assert_true(can_write(writing.target));
    assert_ok(target_mount_remove(writing.target));
    assert_ok(staging_remove(volume->staging));
}

/* Its user would find that his writes fail. */
static void test_raw_read_only_beside_a_writer(void **state)
{
    struct volume *volume = *state;
    struct target_mount reading = target_mount(volume, true, true);
    struct target_mount writing = target_mount(volume, true, false);
    CLEANUP(freep)
    char *message = mem_printf("the volume is published at %s; as a raw volume is read-only for "
                               "all pods of a node, it must be unpublished there first",
                               volume->target);

    assert_ok(staging_bind(&volume->device, volume->staging, false));
    assert_ok(target_mount_make(&writing));
    reading.target = volume->second_target;
    assert_fails(target_mount_make(&reading), ERR_PRECONDITION, message);
    assert_true(can_write(volume->target));
    assert_false(exists(volume->second_target));

    assert_ok(target_mount_remove(volume->target));
    reading.target = volume->target;
    assert_ok(target_mount_make(&reading));
    reading.target = volume->second_target;
    assert_ok(target_mount_make(&reading));
    assert_ok(target_mount_remove(volume->target));
    assert_ok(target_mount_remove(volume->second_target));
    assert_ok(staging_remove(volume->staging));
}

/* ---- published read-only ---- */

static bool settle(const struct volume *volume, bool raw, bool read_only)
{
    bool result;

    assert_ok(staging_settle_access(&volume->device, volume->staging, raw, read_only, &result));
    return result;
}

static void test_a_read_only_device(void **state)
{
    struct volume *volume = *state;
    struct mount_request request = stage_request(volume);

    RUN("mkfs.ext4", "-q", volume->disk->path);
    assert_true(settle(volume, false, true));
    assert_false(can_write(volume->disk->path));
    CLEANUP(err_freep) struct err *refused = staging_mount(&volume->device, &request);
    assert_non_null(refused);
    request.read_only = true;
    assert_ok(staging_mount(&volume->device, &request));
    assert_true(settle(volume, false, true));
    assert_ok(staging_remove(volume->staging));
    assert_true(can_write(volume->disk->path));

    /* One that was left so. */
    assert_true(settle(volume, false, true));
    assert_false(settle(volume, false, false));
    stage(volume);
    assert_ok(staging_remove(volume->staging));
}

/* By a plug-in that knew of no read-only publish. */
static void test_what_is_staged_for_writing_stays_so(void **state)
{
    struct volume *volume = *state;

    RUN("mkfs.ext4", "-q", volume->disk->path);
    stage(volume);
    assert_false(settle(volume, false, true));
    write_file(below(volume->staging, "file"), "data");
    assert_ok(staging_remove(volume->staging));

    assert_ok(staging_bind(&volume->device, volume->staging, false));
    assert_false(settle(volume, true, true));
    assert_true(can_write(volume->disk->path));
    assert_ok(staging_remove(volume->staging));
}

/* Somebody else's mount is not made unwritable under its user. */
static void test_a_device_in_use_is_left_alone(void **state)
{
    struct volume *volume = *state;
    const char *elsewhere = in_workplace("elsewhere");

    make_folder(elsewhere);
    RUN("mkfs.ext4", "-q", volume->disk->path);
    assert_int_equal(mount(volume->disk->path, elsewhere, "ext4", 0, NULL), 0);
    settle(volume, false, true);
    write_file(below(elsewhere, "file"), "data");
    assert_int_equal(umount(elsewhere), 0);
    assert_true(can_write(volume->disk->path));
}

static void test_raw_staged_read_only(void **state)
{
    struct volume *volume = *state;
    struct target_mount any = target_mount(volume, true, false);
    CLEANUP(freep)
    char *staged = mem_printf("the volume is already staged at %s, read-only", volume->staging);

    assert_true(settle(volume, true, true));
    for (int i = 0; i < 2; i++)
        assert_ok(staging_bind(&volume->device, volume->staging, true));
    assert_fails(staging_bind(&volume->device, volume->staging, false), ERR_EXISTS, staged);
    for (int i = 0; i < 2; i++)
        assert_ok(target_mount_make(&any));
    assert_false(can_write(volume->target));
    assert_ok(target_mount_remove(volume->target));
    assert_ok(staging_remove(volume->staging));
    assert_true(can_write(volume->disk->path));
}

static void test_raw_of_another_device(void **state)
{
    struct volume *volume = *state;
    CLEANUP(disk_freep) struct disk *other = disk_new(MIB);
    struct device device = {other->path, other->number, other->fd};
    CLEANUP(freep)
    char *message =
        mem_printf("%s/device is in use: it is not device %s", volume->staging, other->path);

    assert_ok(staging_bind(&volume->device, volume->staging, false));
    assert_fails(staging_bind(&device, volume->staging, false), ERR_PRECONDITION, message);
    assert_ok(staging_remove(volume->staging));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_there_and_back),
        TEST(test_read_only),
        TEST(test_something_else_in_the_way),
        TEST(test_not_unstaged_while_published),
        TEST(test_all_layers_of_a_target_go),
        TEST(test_nothing_but_what_is_empty_is_removed),
        TEST(test_paths_that_are_not_there),
        TEST(test_a_disk_that_fails),
        TEST(test_raw_there_and_back),
        TEST(test_raw_read_only),
        TEST(test_raw_read_only_beside_a_writer),
        TEST(test_a_read_only_device),
        TEST(test_what_is_staged_for_writing_stays_so),
        TEST(test_a_device_in_use_is_left_alone),
        TEST(test_raw_staged_read_only),
        TEST(test_raw_of_another_device),
    };

    return cmocka_run_group_tests(tests, workplace_setup, workplace_teardown);
}
