/* A volume that is a partition of a disk. */
#include "provisioner-lib/host/partition.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/base/file.h"
#include "provisioner-lib/host/block.h"
#include "provisioner-lib/host/shutdown.h"
#include "provisioner-lib/host/usage.h"
#include "test/unit/expect.h"
#include "test/unit/provisioner-lib/host/scene.h"

#define START MIB
#define SIZE SMALLEST_EXT4
#define DISK_SIZE (4 * SMALLEST_EXT4)

static const struct device_roots REAL = {"/sys", "/dev"};

static struct device device_of(const struct disk *disk)
{
    return (struct device){.path = disk->path, .number = disk->number, .fd = disk->fd};
}

static void test_partition_of_a_disk(void **state)
{
    CLEANUP(disk_freep) struct disk *disk = disk_new(DISK_SIZE);
    CLEANUP(disk_freep) struct disk *other = disk_new(SIZE);
    struct device whole = device_of(disk), partition;
    CLEANUP(freep)
    char *none =
        mem_printf("%s has no partition 1, which volume attribute partition names", disk->path);

    (void)state;
    assert_fails(partition_find(&REAL, &whole, 1, &partition), ERR_PRECONDITION, none);
    CLEANUP(freep)
    char *path = mem_printf("/dev/%s", disk_add_partition(disk, 12, START, SIZE));
    assert_fails(partition_find(&REAL, &whole, 1, &partition), ERR_PRECONDITION, none);
    disk_add_partition(disk, 12, START, SIZE); /* the look has made the kernel read the table */
    disk_add_partition(disk, 1, START + SIZE, SIZE);
    assert_ok(partition_find(&REAL, &whole, 12, &partition));
    assert_string_equal(partition.path, path);
    assert_true(partition_is_of(&REAL, partition.number, disk->number));
    assert_true(partition_is_of(&REAL, disk->number, disk->number));
    assert_false(partition_is_of(&REAL, partition.number, other->number));
    assert_false(partition_is_of(&REAL, disk->number, partition.number));
    assert_false(partition_is_of(&REAL, other->number, disk->number));
    assert_false(partition_is_of(&REAL, makedev(0, 99), disk->number));
    device_close(&partition);
}

/* The machine, as the scene has it, with what the kernel has of this disk. */
static void show_kernel(const struct scene *scene, const char *name)
{
    CLEANUP(freep) char *path = mem_printf("/dev/%s", name);

    assert_int_equal(symlink("/sys/dev", below(scene->roots.sys, "dev")), 0);
    assert_int_equal(symlink(path, below(scene->roots.dev, name)), 0);
}

static void assert_staged(struct task *self, const struct scene *scene, const char *path, bool raw)
{
    CLEANUP(freep)
    char *other = mem_printf("partition 1 of the disk is wanted, but partition 2 of the disk is "
                             "staged at %s: two PersistentVolumes that differ in volume attribute "
                             "partition must not have one volumeHandle on one node",
                             path);
    CLEANUP(freep)
    char *whole = mem_printf("the whole disk is wanted%s", other + strcspn(other, ","));

    assert_ok(host_check_partition(self, scene->host, path, raw, 2));
    assert_fails(host_check_partition(self, scene->host, path, raw, 1), ERR_PRECONDITION, other);
    assert_fails(host_check_partition(self, scene->host, path, raw, 0), ERR_PRECONDITION, whole);
}

static void assert_usage(const struct scene *scene, const char *path, uint64_t most)
{
    const struct usage_request request = {.roots = scene->roots, .path = path, .lun = 3};
    CLEANUP(usage_fini) struct volume_usage usage = {0};

    assert_ok(usage_look(&request, &usage));
    assert_null(usage.trouble);
    assert_true(usage.has_amounts);
    assert_in_range(usage.bytes.total, most / 2, most);
}

static void a_file_system_on_it(struct task *self, struct scene *scene)
{
    CLEANUP(disk_freep) struct disk *disk = disk_new(DISK_SIZE);
    const char *name = disk_add_partition(disk, 2, START, SIZE), *staging = in_workplace("staged");
    struct mount_request request = {.target = staging, .type = "ext4"};
    struct disk_expectation expected = expect(disk);
    struct disk_verdict verdict;
    struct device whole, partition = DEVICE_NONE;
    unsigned lun = 3;

    show_kernel(scene, name);
    find(self, scene, disk, &whole);
    assert_ok(host_find_partition(self, scene->host, &whole, 2, &partition));
    expected.partition = true;
    CLEANUP(freep)
    char *unformatted = mem_printf("%s: a partition is not formatted by this driver: format it by "
                                   "hand: found nothing; the device was not modified",
                                   partition.path);
    assert_fails(host_prove(self, scene->host, &whole, &partition, &expected, &verdict),
                 ERR_PRECONDITION, unformatted);

    RUN("mkfs.ext4", "-q", partition.path);
    assert_ok(host_prove(self, scene->host, &whole, &partition, &expected, &verdict));
    assert_false(verdict.format || verdict.record_due);
    expected.size = SIZE;
    CLEANUP(freep)
    char *size = mem_printf("%s: wrong disk: the volume has %llu bytes, but the device has %llu",
                            partition.path, SIZE, DISK_SIZE);
    assert_fails(host_prove(self, scene->host, &whole, &partition, &expected, &verdict),
                 ERR_PRECONDITION, size);

    request.device = partition.path;
    assert_ok(host_mount(self, scene->host, &partition, &request));
    CLEANUP(freep) char *in_use = mem_printf("%s: the device is in use", disk->path);
    assert_fails(host_check_unused(self, scene->host, 3), ERR_PRECONDITION, in_use);
    assert_ok(host_check_idle(self, scene->host, &lun, "azdk-nobody"));
    assert_staged(self, scene, staging, false);
    assert_usage(scene, staging, SIZE);
    assert_ok(host_unstage(self, scene->host, staging));
    assert_ok(host_check_partition(self, scene->host, staging, false, 1));
    assert_ok(host_check_unused(self, scene->host, 3));
    device_close(&partition);
    device_close(&whole);
}

static void test_a_file_system_on_it(void **state)
{
    play(*state, a_file_system_on_it);
}

static void a_block_device(struct task *self, struct scene *scene)
{
    CLEANUP(disk_freep) struct disk *disk = disk_new(DISK_SIZE);
    const char *name = disk_add_partition(disk, 2, START, SIZE), *staging = in_workplace("bound");
    struct disk_expectation expected = expect(disk);
    struct disk_verdict verdict;
    struct device whole, partition = DEVICE_NONE;

    show_kernel(scene, name);
    find(self, scene, disk, &whole);
    assert_ok(host_find_partition(self, scene->host, &whole, 2, &partition));
    expected.partition = expected.raw = true;
    assert_ok(host_prove(self, scene->host, &whole, &partition, &expected, &verdict));
    assert_false(verdict.format);
    assert_ok(host_bind(self, scene->host, &partition, staging, false));
    assert_staged(self, scene, staging, true);
    assert_usage(scene, staging, SIZE);
    assert_ok(host_unstage(self, scene->host, staging));
    device_close(&partition);
    device_close(&whole);
}

static void test_a_block_device(void **state)
{
    play(*state, a_block_device);
}

/* ---- the disk and all of them ---- */

static unsigned n_visited;

static struct err *close_to_writes(int fd, void *ctx)
{
    (void)ctx;
    n_visited++;
    return block_set_read_only(fd, true);
}

static bool takes_a_byte(int fd)
{
    ssize_t written = pwrite(fd, "x", 1, 0);

    return written == 1;
}

static void test_all_partitions_are_visited(void **state)
{
    CLEANUP(disk_freep) struct disk *disk = disk_new(DISK_SIZE);
    struct device whole = device_of(disk);
    CLEANUP(freep) char *path = mem_printf("/dev/%s", disk_add_partition(disk, 1, START, SIZE));

    (void)state;
    disk_add_partition(disk, 3, START + SIZE, SIZE);
    CLEANUP(closep) int user = open(path, O_RDWR | O_CLOEXEC);
    assert_true(takes_a_byte(user));
    n_visited = 0;
    assert_ok(partition_visit(&REAL, &whole, close_to_writes, NULL));
    assert_int_equal(n_visited, 3);
    assert_false(takes_a_byte(user));
    assert_int_equal(errno, EPERM);
    assert_ok(shutdown_lift(&REAL, &whole));
    assert_true(takes_a_byte(user));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_partition_of_a_disk),
        SCENE(test_a_file_system_on_it),
        SCENE(test_a_block_device),
        cmocka_unit_test(test_all_partitions_are_visited),
    };

    return cmocka_run_group_tests(tests, workplace_setup, workplace_teardown);
}
