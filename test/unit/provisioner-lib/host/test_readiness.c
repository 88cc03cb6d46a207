/* Whether a disk that nobody uses could be used: what is at its LUN, how large it is, and whether
 * it can be read. */
#include "provisioner-lib/host/readiness.h"

#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"
#include "test/unit/provisioner-lib/host/disk.h"

static struct disk *disk;
static const char *link_of_lun;
static struct readiness_request request;

static int setup(void **state)
{
    if (workplace_setup(state))
        return -1;
    request = (struct readiness_request){
        .roots = {in_workplace("sys"), in_workplace("dev")}, .lun = 3, .size = MIB};
    make_folder(below(request.roots.dev, "disk/azure/data/by-lun"));
    link_of_lun = below(request.roots.dev, "disk/azure/data/by-lun/3");
    return 0;
}

static int arrive(void **state)
{
    (void)state;
    disk = disk_new(MIB);
    return symlink(disk->path, link_of_lun);
}

static int leave(void **state)
{
    (void)state;
    disk_free(disk);
    return unlink(link_of_lun);
}

static void test_a_disk_that_can_be_read(void **state)
{
    struct readiness seen;

    (void)state;
    assert_ok(readiness_look(&request, &seen));
    assert_int_equal(seen.device, disk->number);
    assert_int_equal(seen.size, MIB);
}

static void test_no_disk(void **state)
{
    struct readiness seen = {.device = 1, .size = 1};
    struct readiness_request other = request;

    (void)state;
    other.lun = 4;
    assert_fails(readiness_look(&other, &seen), ERR_NOT_FOUND, "no disk at LUN 4");
    assert_int_equal(seen.device, 0);
    assert_int_equal(seen.size, 0);
}

/* Although the kernel still has in memory what is there. */
static void test_a_disk_that_cannot_be_read(void **state)
{
    CLEANUP(freep)
    char *message = mem_printf("%s: reading the device: Input/output error", disk->path);
    struct readiness seen;
    char cached[4096];

    (void)state;
    disk_write(disk, 0, "something");
    assert_int_equal(fsync(disk->fd), 0);
    assert_int_equal(pread(disk->fd, cached, sizeof cached, 0), sizeof cached);
    assert_int_equal(ftruncate(disk->image, 0), 0);
    assert_int_equal(pread(disk->fd, cached, sizeof cached, 0), sizeof cached);
    assert_fails(readiness_look(&request, &seen), ERR_INTERNAL, message);
    assert_int_equal(seen.device, disk->number);
    assert_int_equal(seen.size, MIB);
}

static const char *kernel_is_asked(void)
{
    const char *file =
        in_workplace("sys/dev/block/%u:%u/device/rescan", major(disk->number), minor(disk->number));

    write_file(file, "");
    return file;
}

/* The kernel may remember the size of before it has grown. */
static void test_a_disk_of_another_size(void **state)
{
    const char *folder =
        in_workplace("sys/dev/block/%u:%u/device", major(disk->number), minor(disk->number));
    struct readiness_request larger = request;
    struct readiness seen;

    (void)state;
    make_folder(folder);
    const char *rescan = kernel_is_asked();
    assert_ok(readiness_look(&request, &seen));
    CLEANUP(freep) char *before = read_text(rescan);
    assert_string_equal(before, "");
    larger.size = 2 * MIB;
    assert_ok(readiness_look(&larger, &seen));
    assert_int_equal(seen.size, MIB);
    CLEANUP(freep) char *after = read_text(rescan);
    assert_string_equal(after, "1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_disk_that_can_be_read, arrive, leave),
        cmocka_unit_test_setup_teardown(test_no_disk, arrive, leave),
        cmocka_unit_test_setup_teardown(test_a_disk_that_cannot_be_read, arrive, leave),
        cmocka_unit_test_setup_teardown(test_a_disk_of_another_size, arrive, leave),
    };

    return cmocka_run_group_tests(tests, setup, workplace_teardown);
}
