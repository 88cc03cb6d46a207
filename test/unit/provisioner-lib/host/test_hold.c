/* Disks that are kept from everybody else on the machine. */
#include "provisioner-lib/host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"
#include "test/unit/provisioner-lib/host/scene.h"

/* As a mount, an array or a mapped device would. */
static int try_to_claim(const struct disk *disk)
{
    return open(disk->path, O_RDONLY | O_EXCL | O_CLOEXEC);
}

static bool is_free(const struct disk *disk)
{
    int fd = try_to_claim(disk);

    if (fd < 0)
        assert_int_equal(errno, EBUSY);
    else
        close(fd);
    return fd >= 0;
}

static void nobody_else_claims_it(struct task *self, struct scene *scene)
{
    CLEANUP(disk_freep) struct disk *disk = disk_new(MIB);
    struct device held = DEVICE_NONE;

    link_lun(scene, 3, disk->path);
    assert_true(is_free(disk));
    assert_ok(host_hold(self, scene->host, 3, &held));
    assert_int_equal(held.number, disk->number);
    assert_false(is_free(disk));
    assert_int_equal(fcntl(held.fd, F_GETFL) & O_ACCMODE,
                     O_RDONLY); /* else udev looks at it again */

    int fd = held.fd;
    assert_ok(host_hold(self, scene->host, 3, &held)); /* once more */
    assert_int_equal(held.fd, fd);
    host_let_go(self, scene->host, &held);
    assert_true(is_free(disk));
    host_let_go(self, scene->host, &held);
}

static void test_nobody_else_claims_it(void **state)
{
    play(*state, nobody_else_claims_it);
}

static void one_that_is_claimed(struct task *self, struct scene *scene)
{
    CLEANUP(disk_freep) struct disk *disk = disk_new(MIB);
    CLEANUP(freep) char *in_use = mem_printf("%s: the device is in use", disk->path);
    struct device held = DEVICE_NONE;
    int other = try_to_claim(disk);

    link_lun(scene, 3, disk->path);
    assert_fails(host_hold(self, scene->host, 3, &held), ERR_PRECONDITION, in_use);
    assert_int_equal(held.fd, -1);
    close(other);
    assert_ok(host_hold(self, scene->host, 3, &held));
    host_let_go(self, scene->host, &held);
}

static void test_one_that_is_claimed(void **state)
{
    play(*state, one_that_is_claimed);
}

static void another_at_its_lun(struct task *self, struct scene *scene)
{
    CLEANUP(disk_freep) struct disk *disk = disk_new(MIB);
    CLEANUP(disk_freep) struct disk *other = disk_new(MIB);
    struct device held = DEVICE_NONE;

    assert_fails(host_hold(self, scene->host, 3, &held), ERR_NOT_FOUND, "no disk at LUN 3");
    link_lun(scene, 3, disk->path);
    link_lun(scene, 4, other->path);
    assert_ok(host_hold(self, scene->host, 3, &held));
    assert_ok(host_hold(self, scene->host, 4, &held));
    assert_int_equal(held.number, other->number);
    assert_true(is_free(disk));
    assert_false(is_free(other));
    assert_fails(host_hold(self, scene->host, 5, &held), ERR_NOT_FOUND, "no disk at LUN 5");
    assert_int_equal(held.fd, -1);
    assert_true(is_free(other));
}

static void test_another_at_its_lun(void **state)
{
    play(*state, another_at_its_lun);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENE(test_nobody_else_claims_it),
        SCENE(test_one_that_is_claimed),
        SCENE(test_another_at_its_lun),
    };

    return cmocka_run_group_tests(tests, workplace_setup, workplace_teardown);
}
