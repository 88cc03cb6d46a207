/* Settings of a device, in a sysfs of the test's own: what is written where, and what is refused.
 */
#include "provisioner-lib/host/device_settings.h"

#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"
#include "test/unit/provisioner-lib/host/disk.h"

struct machine {
    struct device_roots roots;
    struct device device;
    const char *folder; /* the device's */
};

static struct machine machine_new(void)
{
    static unsigned count;
    struct machine m = {
        .roots = {.sys = in_workplace("sys-%u", ++count), .dev = "/dev"},
        .device = {.path = (char *)(uintptr_t) "/dev/sdc", .number = makedev(8, 32), .fd = -1}};

    m.folder = below(m.roots.sys, "dev/block/8:32");
    make_folder(below(m.folder, "queue"));
    return m;
}

static void expect_text(const char *path, const char *wanted)
{
    CLEANUP(freep) char *text = read_text(path);

    assert_string_equal(text, wanted);
}

static void test_settings(void **state)
{
    struct machine m = machine_new();
    const struct device_setting good = {"queue/nr_requests", "11"};
    const struct device_setting missing = {"queue/scheduler", "mq-deadline"};

    (void)state;
    write_file(below(m.folder, "queue/nr_requests"), "");
    assert_ok(device_settings_apply(&m.roots, &m.device, &good, 1));
    expect_text(below(m.folder, "queue/nr_requests"), "11");
    assert_fails(device_settings_apply(&m.roots, &m.device, &missing, 1), ERR_INVALID,
                 "parameter device-setting/queue/scheduler: /dev/sdc has no such setting");
}

/* Of a SCSI disk it is behind a link, the only one that settings of people's own may follow, and to
 * nothing else. */
static void test_the_queue_depth(void **state)
{
    struct machine m = machine_new();
    const char *scsi = below(m.roots.sys, "devices/0:0:0:5");
    const struct device_setting depth = {"device/queue_depth", "64"};
    const struct device_setting linked = {"device/delete", "1"};

    (void)state;
    assert_ok(device_settings_queue_depth(&m.roots, &m.device, 11));
    assert_fails(device_settings_apply(&m.roots, &m.device, &depth, 1), ERR_INVALID,
                 "parameter device-setting/device/queue_depth: /dev/sdc has no such setting");
    make_folder(scsi);
    assert_int_equal(symlink(scsi, below(m.folder, "device")), 0);
    assert_ok(device_settings_queue_depth(&m.roots, &m.device, 11));
    write_file(below(scsi, "queue_depth"), "");
    assert_ok(device_settings_queue_depth(&m.roots, &m.device, 11));
    expect_text(below(scsi, "queue_depth"), "11");
    assert_ok(device_settings_apply(&m.roots, &m.device, &depth, 1));
    expect_text(below(scsi, "queue_depth"), "64");
    write_file(below(scsi, "delete"), "");
    assert_fails(device_settings_apply(&m.roots, &m.device, &linked, 1), ERR_INVALID,
                 "parameter device-setting/device/delete leads out of the folder of /dev/sdc in "
                 "sysfs");
    expect_text(below(scsi, "delete"), "");

    assert_int_equal(unlink(below(scsi, "queue_depth")), 0);
    make_folder(below(scsi, "queue_depth")); /* nothing can be written there */
    assert_fails(device_settings_queue_depth(&m.roots, &m.device, 11), ERR_INVALID,
                 "the kernel refused a queue depth of 11 for /dev/sdc: Is a directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_the_queue_depth),
    };

    return cmocka_run_group_tests(tests, workplace_setup, workplace_teardown);
}
