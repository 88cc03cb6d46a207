/* The end of a file system whose fence another node has taken, and of no other one's. */
#include "provisioner-lib/host/shutdown.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include "test/unit/expect.h"
#include "test/unit/provisioner-lib/host/scene.h"

enum { KEY = 7 };

static struct disk *xfs_at(const char *target)
{
    struct disk *disk = disk_new(SMALLEST_XFS);

    RUN("mkfs.xfs", "-q", disk->path);
    assert_int_equal(mount(disk->path, target, "xfs", 0, NULL), 0);
    return disk;
}

static struct disk *mounted_at(const char *target)
{
    struct disk *disk = disk_new(SMALLEST_EXT4);

    RUN("mkfs.ext4", "-q", disk->path);
    assert_int_equal(mount(disk->path, target, "ext4", 0, NULL), 0);
    return disk;
}

/* What creating a file there says; 0: it is there. */
static int write_at(const char *target)
{
    int fd = open(below(target, "file"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

static struct err *shut_down(struct task *self, struct scene *scene, const struct disk *disk)
{
    struct device device = {.path = disk->path, .number = disk->number, .fd = disk->fd};

    return host_shut_down(self, scene->host, &device, KEY);
}

static void of_a_mount(struct task *self, struct scene *scene)
{
    const char *target = in_workplace("alone");

    make_folder(target);
    CLEANUP(disk_freep) struct disk *disk = mounted_at(target);
    assert_int_equal(write_at(target), 0);
    assert_ok(shut_down(self, scene, disk));
    assert_int_equal(write_at(target), EIO);
    assert_int_equal(umount(target), 0);
}

static void test_a_file_system_ends(void **state)
{
    play(*state, of_a_mount);
}

/* By whoever has not recorded that he had done it. */
static void again(struct task *self, struct scene *scene, struct disk *(*make)(const char *))
{
    const char *target = in_workplace("again");

    make_folder(target);
    CLEANUP(disk_freep) struct disk *disk = make(target);
    assert_ok(shut_down(self, scene, disk));
    assert_ok(shut_down(self, scene, disk));
    assert_int_equal(write_at(target), EIO);
    assert_int_equal(umount(target), 0);
}

static void again_of_each_type(struct task *self, struct scene *scene)
{
    again(self, scene, mounted_at);
    again(self, scene, xfs_at);
}

static void test_what_has_ended_ends_again(void **state)
{
    play(*state, again_of_each_type);
}

/* As when the mount is taken away between a look at the table and its end: what is at the path then
 * is the file system of the folder, which may be the machine's own. */
static void of_what_is_below(struct task *self, struct scene *scene)
{
    const char *target = in_workplace("covered");

    make_folder(target);
    CLEANUP(disk_freep) struct disk *disk = mounted_at(target);
    CLEANUP(disk_freep) struct disk *other = mounted_at(target);
    CLEANUP(err_freep) struct err *err = shut_down(self, scene, disk);
    assert_int_equal(err_kind(err), ERR_NOT_FOUND);
    assert_int_equal(write_at(target), 0);
    assert_int_equal(umount(target), 0);
    assert_ok(shut_down(self, scene, disk));
    assert_int_equal(write_at(target), EIO);
    assert_int_equal(umount(target), 0);
}

static void test_another_one_at_its_path_does_not(void **state)
{
    play(*state, of_what_is_below);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENE(test_a_file_system_ends),
        SCENE(test_what_has_ended_ends_again),
        SCENE(test_another_one_at_its_path_does_not),
    };

    return cmocka_run_group_tests(tests, workplace_setup, workplace_teardown);
}
