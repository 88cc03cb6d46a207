/* What is said of a volume, fact by fact. */
#include "provisioner-lib/host/trouble.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

#define AGAIN                                                                                      \
    "delete the pods on this node that use the volume, so that it is unmounted and mounted again"
#define LOG "the kernel's log says more; "

static const struct volume_facts filesystem = {
    .device = "/dev/sdc",
    .lun = 3,
    .disk_now = "/dev/sdc",
    .size = 4096,
    .disk_state = "running",
    .type = "ext4",
    .options = "rw,errors=remount-ro",
    .for_writing = true,
};

static void expect(struct volume_facts facts, const char *wanted)
{
    CLEANUP(freep) char *trouble = trouble_describe(&facts);

    if (wanted)
        assert_string_equal(trouble, wanted);
    else
        assert_null(trouble);
}

#define CHANGED(...)                                                                               \
    ({                                                                                             \
        struct volume_facts f = filesystem;                                                        \
        __VA_ARGS__;                                                                               \
        f;                                                                                         \
    })

static void test_nothing_is_wrong(void **state)
{
    (void)state;
    expect(filesystem, NULL);
    expect(CHANGED(f.disk_state = NULL), NULL);
    expect(CHANGED(f.disk_state = "live"), NULL);
    expect(CHANGED(f.for_writing = false, f.options = "ro"), NULL); /* as it was wished */
    expect(CHANGED(f.type = NULL, f.options = NULL), NULL);
    expect(CHANGED(f.options = "rw,errors=remount-ro,root=1"), NULL);
}

static void test_the_disk(void **state)
{
    (void)state;
    expect(CHANGED(f.disk_now = NULL),
           "the disk is gone: /dev/sdc is in use, but no disk is at LUN 3 any more; " AGAIN);
    expect(CHANGED(f.disk_now = "/dev/sdd", f.replaced = true),
           "the disk is gone: /dev/sdc is in use, but the disk at LUN 3 is /dev/sdd now; " AGAIN);
    expect(CHANGED(f.size = 0), "the disk is gone: the size of /dev/sdc is 0; " AGAIN);
    expect(CHANGED(f.disk_state = "offline"),
           "the kernel does not use /dev/sdc any more: its state is \"offline\"; " LOG AGAIN);
    expect(CHANGED(f.type = NULL, f.size = 0),
           "the disk is gone: the size of /dev/sdc is 0; " AGAIN);
    /* What is the matter with the disk is said first, as the file system suffers from that. */
    expect(CHANGED(f.size = 0, f.failure = 5),
           "the disk is gone: the size of /dev/sdc is 0; " AGAIN);
    expect(CHANGED(f.disk_state = "offline", f.disk_now = NULL),
           "the kernel does not use /dev/sdc any more: its state is \"offline\"; " LOG AGAIN);
}

static void test_the_file_system(void **state)
{
    static const char read_only[] = "the ext4 file system of /dev/sdc was mounted for writing and "
                                    "has become read-only, with 2 errors on record; " LOG AGAIN;

    (void)state;
    expect(CHANGED(f.failure = 5),
           "the ext4 file system of /dev/sdc is not usable: Input/output error; " LOG AGAIN);
    expect(CHANGED(f.options = "rw,shutdown", f.errors = 1),
           "the ext4 file system of /dev/sdc has been shut down; " LOG AGAIN);
    expect(CHANGED(f.options = "ro,errors=remount-ro", f.errors = 2), read_only);
    expect(CHANGED(f.options = "rw,emergency_ro", f.errors = 2), read_only);
    expect(CHANGED(f.errors = 2), "the kernel has recorded 2 errors in the ext4 file system of "
                                  "/dev/sdc; " LOG AGAIN ", which has it checked");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_wrong),
        cmocka_unit_test(test_the_disk),
        cmocka_unit_test(test_the_file_system),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
