/* Which device is the disk of a LUN: sysfs and /dev as different VMs have them, with real devices
 * behind the names. */
#include "provisioner-lib/host/device.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"
#include "test/unit/provisioner-lib/host/disk.h"

#define DATA_CONTROLLER "{f8b3781b-1e82-4818-a1c3-63d806ec15bb}"
#define OS_CONTROLLER "{f8b3781a-1e82-4818-a1c3-63d806ec15bb}"
#define REMOTE_NVME "MSFT NVMe Accelerator v1.0              "
#define LOCAL_NVME "Microsoft NVMe Direct Disk v2           "

enum { N_DISKS = 3 };

struct machine {
    struct device_roots roots;
    struct disk *disks[N_DISKS]; /* devices to hide behind names */
};

static int setup(void **state)
{
    static unsigned count;
    struct machine *machine = mem_alloc(sizeof *machine);

    count++;
    machine->roots.sys = in_workplace("machine-%u/sys", count);
    machine->roots.dev = in_workplace("machine-%u/dev", count);
    make_folder(machine->roots.sys);
    make_folder(machine->roots.dev);
    for (int i = 0; i < N_DISKS; i++)
        machine->disks[i] = disk_new(MIB);
    *state = machine;
    return 0;
}

static int teardown(void **state)
{
    struct machine *machine = *state;

    for (int i = 0; i < N_DISKS; i++)
        disk_free(machine->disks[i]);
    free(machine);
    return 0;
}

/* ---- what a machine is made of ---- */

static void attribute(const char *folder, const char *name, const char *text)
{
    make_folder(folder);
    write_file(below(folder, name), text);
}

/* A disk at an address such as "1:0:0:5", below a controller of the given class (NULL: one that
 * does not tell), behind a name such as "sdc". */
static void add_scsi(struct machine *machine, int disk, const char *address, const char *class,
                     const char *vendor, const char *name)
{
    CLEANUP(freep) char *controller = mem_printf("devices/vmbus-%s", address);
    CLEANUP(freep) char *device = mem_printf("%s/host/target/%s", controller, address);
    CLEANUP(freep) char *block = mem_printf("%s/block/%s", device, name);
    CLEANUP(freep) char *link = mem_printf("bus/scsi/devices/%s", address);

    make_folder(below(machine->roots.sys, block));
    if (class)
        attribute(below(machine->roots.sys, controller), "device_id", class);
    attribute(below(machine->roots.sys, device), "vendor", vendor);
    attribute(below(machine->roots.sys, device), "model", "Virtual Disk    \n");
    make_folder(below(machine->roots.sys, "bus/scsi/devices"));
    assert_int_equal(symlink(below(machine->roots.sys, device), below(machine->roots.sys, link)),
                     0);
    disk_node(machine->disks[disk], below(machine->roots.dev, name));
}

static void add_data_disk(struct machine *machine, int disk, const char *address, const char *name)
{
    add_scsi(machine, disk, address, DATA_CONTROLLER "\n", "Msft    \n", name);
}

static void add_nvme(struct machine *machine, int disk, const char *model, const char *nsid,
                     const char *name)
{
    CLEANUP(freep) char *block = mem_printf("block/%s", name);
    CLEANUP(freep) char *device = mem_printf("block/%s/device", name);

    attribute(below(machine->roots.sys, block), "nsid", nsid);
    attribute(below(machine->roots.sys, device), "model", model);
    disk_node(machine->disks[disk], below(machine->roots.dev, name));
}

static void add_link(struct machine *machine, const char *folder, const char *name,
                     const char *target)
{
    CLEANUP(freep) char *link = mem_printf("%s/%s", folder, name);

    make_folder(below(machine->roots.dev, folder));
    assert_int_equal(symlink(target, below(machine->roots.dev, link)), 0);
}

/* ---- what is found ---- */

static void assert_found(const struct machine *machine, unsigned lun, int disk, const char *name)
{
    struct device device;
    struct stat status;

    assert_ok(device_find(&machine->roots, lun, &device));
    assert_string_equal(device.path, below(machine->roots.dev, name));
    assert_int_equal(device.number, machine->disks[disk]->number);
    assert_int_equal(fstat(device.fd, &status), 0);
    assert_int_equal(status.st_rdev, machine->disks[disk]->number);
    device_close(&device);
    assert_int_equal(device.fd, -1);
}

static void assert_not_found(const struct machine *machine, unsigned lun)
{
    CLEANUP(freep) char *message = mem_printf("no disk at LUN %u", lun);
    struct device device;

    assert_fails(device_find(&machine->roots, lun, &device), ERR_NOT_FOUND, message);
}

static void test_nothing(void **state)
{
    struct machine *machine = *state;

    assert_not_found(machine, 0);
    machine->roots = (struct device_roots){"/no/such/sys", "/no/such/dev"};
    assert_not_found(machine, 0);
}

static void test_scsi(void **state)
{
    struct machine *machine = *state;

    add_scsi(machine, 0, "0:0:0:0", OS_CONTROLLER "\n", "Msft    \n", "sda");
    add_data_disk(machine, 1, "1:0:0:0", "sdb");
    add_data_disk(machine, 2, "1:0:0:12", "sdc");
    assert_found(machine, 0, 1, "sdb");
    assert_found(machine, 12, 2, "sdc");
    assert_not_found(machine, 1);
    assert_not_found(machine, 2);
}

static void test_scsi_of_others_is_passed_by(void **state)
{
    struct machine *machine = *state;

    add_scsi(machine, 0, "0:0:0:5", OS_CONTROLLER "\n", "Msft    \n", "sda");
    add_scsi(machine, 1, "2:0:0:5", DATA_CONTROLLER "\n", "QEMU    \n", "sdb");
    add_scsi(machine, 2, "3:0:0:5", "{00000000-0001-8899-0000-000000000000}\n", "Msft    \n",
             "sdc");
    make_folder(below(machine->roots.sys, "bus/scsi/devices/host1"));
    make_folder(below(machine->roots.sys, "bus/scsi/devices/1:0:0:5:6"));
    assert_not_found(machine, 5);
}

/* Machines whose controllers have no class: the links of udev's rules tell. */
static void test_scsi_system_disks_by_link(void **state)
{
    static const char *const links[][2] = {{"disk/azure", "root"},
                                           {"disk/azure", "root-part1"},
                                           {"disk/azure", "os"},
                                           {"disk/azure", "resource"},
                                           {"disk/azure/scsi0", "lun0"}};
    struct machine *machine = *state;

    add_scsi(machine, 0, "0:0:0:3", NULL, "Msft    \n", "sda");
    disk_node(machine->disks[0], below(machine->roots.dev, "sda1"));
    assert_found(machine, 3, 0, "sda");
    for (size_t i = 0; i < COUNT_OF(links); i++) {
        bool partition = strstr(links[i][1], "part");
        CLEANUP(freep) char *link = mem_printf("%s/%s", links[i][0], links[i][1]);

        add_link(machine, links[i][0], links[i][1],
                 below(machine->roots.dev, partition ? "sda1" : "sda"));
        assert_not_found(machine, 3);
        assert_int_equal(unlink(below(machine->roots.dev, link)), 0);
    }
    add_link(machine, "disk/azure", "root", "/no/such/device");
    add_link(machine, "disk/azure", "resource", below(machine->roots.dev, "sdaa"));
    assert_found(machine, 3, 0, "sda");
}

static void test_nvme(void **state)
{
    struct machine *machine = *state;

    add_nvme(machine, 0, REMOTE_NVME "\n", "1\n", "nvme0n1"); /* the operating system */
    add_nvme(machine, 1, REMOTE_NVME "\n", "6\n", "nvme0n2"); /* the name says nothing */
    add_nvme(machine, 2, LOCAL_NVME "\n", "2\n", "nvme1n1");
    assert_found(machine, 4, 1, "nvme0n2");
    assert_not_found(machine, 0);
    assert_not_found(machine, 1);
    assert_not_found(machine, 2);
}

static void test_links(void **state)
{
    struct machine *machine = *state;

    disk_node(machine->disks[0], below(machine->roots.dev, "loop3"));
    disk_node(machine->disks[1], below(machine->roots.dev, "loop4"));
    add_link(machine, "disk/azure/scsi1", "lun7", "../../../loop3");
    add_link(machine, "disk/azure/data/by-lun", "8", "../../../../loop4");
    assert_found(machine, 7, 0, "loop3");
    assert_found(machine, 8, 1, "loop4");
    assert_not_found(machine, 0);
    assert_not_found(machine, 78);
}

/* sysfs knows the device by its number, too. */
static void add_number(struct machine *machine, int disk, const char *folder)
{
    dev_t number = machine->disks[disk]->number;
    CLEANUP(freep) char *link = mem_printf("dev/block/%u:%u", major(number), minor(number));

    make_folder(below(machine->roots.sys, "dev/block"));
    make_folder(below(machine->roots.sys, folder));
    assert_int_equal(symlink(below(machine->roots.sys, folder), below(machine->roots.sys, link)),
                     0);
}

/* Only the link leads there: the disk is not of a kind that is looked for. */
static void test_a_link_to_a_scsi_disk_at_another_lun(void **state)
{
    static const char folder[] = "devices/vmbus-1:0:0:8/host/target/1:0:0:8/block/sdd";
    CLEANUP(freep) char *device = mem_printf("%s/device", folder);
    struct machine *machine = *state;

    add_scsi(machine, 0, "1:0:0:8", DATA_CONTROLLER "\n", "QEMU    \n", "sdd");
    add_number(machine, 0, folder);
    assert_int_equal(symlink("../..", below(machine->roots.sys, device)), 0);
    add_link(machine, "disk/azure/scsi1", "lun7", "../../../sdd");
    add_link(machine, "disk/azure/scsi1", "lun8", "../../../sdd");
    assert_not_found(machine, 7);
    assert_found(machine, 8, 0, "sdd");
}

static void test_a_link_to_an_nvme_disk_at_another_lun(void **state)
{
    struct machine *machine = *state;

    add_nvme(machine, 0, REMOTE_NVME "\n", "10\n", "nvme0n2");
    add_number(machine, 0, "block/nvme0n2");
    add_link(machine, "disk/azure/data/by-lun", "7", "../../../../nvme0n2");
    add_link(machine, "disk/azure/data/by-lun", "8", "../../../../nvme0n2");
    assert_not_found(machine, 7);
    assert_found(machine, 8, 0, "nvme0n2");
}

/* The disk that a link has outlived, and the one that is there. */
static void test_a_link_to_another_lun_contradicts_nobody(void **state)
{
    struct machine *machine = *state;

    add_data_disk(machine, 0, "1:0:0:7", "sdc");
    add_nvme(machine, 1, REMOTE_NVME "\n", "10\n", "nvme0n2");
    add_number(machine, 1, "block/nvme0n2");
    add_link(machine, "disk/azure/data/by-lun", "7", "../../../../nvme0n2");
    assert_found(machine, 7, 0, "sdc");
}

static void test_a_link_to_a_device_without_a_lun(void **state)
{
    struct machine *machine = *state;

    disk_node(machine->disks[0], below(machine->roots.dev, "loop3"));
    add_number(machine, 0, "block/loop3");
    disk_node(machine->disks[1], below(machine->roots.dev, "vda"));
    add_number(machine, 1, "block/vda");
    make_folder(below(machine->roots.sys, "block/vda/device"));
    add_link(machine, "disk/azure/data/by-lun", "7", "../../../../loop3");
    add_link(machine, "disk/azure/data/by-lun", "8", "../../../../vda");
    assert_found(machine, 7, 0, "loop3");
    assert_found(machine, 8, 1, "vda");
}

static void test_all_ways_to_the_same_device(void **state)
{
    struct machine *machine = *state;

    add_data_disk(machine, 0, "1:0:0:7", "sdc");
    add_link(machine, "disk/azure/scsi1", "lun7", "../../../sdc");
    add_link(machine, "disk/azure/data/by-lun", "7", "../../../../sdc");
    assert_found(machine, 7, 0, "sdc");
}

static void test_contradictions(void **state)
{
    struct machine *machine = *state;
    struct device device;

    add_data_disk(machine, 0, "1:0:0:7", "sdc");
    disk_node(machine->disks[1], below(machine->roots.dev, "sdd"));
    add_link(machine, "disk/azure/scsi1", "lun7", "../../../sdd");
    CLEANUP(freep)
    char *message = mem_printf("LUN 7 refers to both %s and %s (by %s)",
                               below(machine->roots.dev, "sdc"), below(machine->roots.dev, "sdd"),
                               below(machine->roots.dev, "disk/azure/scsi1/lun7"));
    assert_fails(device_find(&machine->roots, 7, &device), ERR_PRECONDITION, message);
}

static void test_links_that_lead_nowhere(void **state)
{
    struct machine *machine = *state;

    add_link(machine, "disk/azure/scsi1", "lun7", "../../../sdc"); /* no such node */
    /* A node without a device behind it. */
    assert_int_equal(mknod(below(machine->roots.dev, "sdd"), S_IFBLK | 0600, 0xfff00), 0);
    add_link(machine, "disk/azure/data/by-lun", "7", "../../../../sdd");
    assert_not_found(machine, 7);
}

static void test_not_a_block_device(void **state)
{
    struct machine *machine = *state;
    struct device device;

    write_file(below(machine->roots.dev, "sdc"), "");
    add_link(machine, "disk/azure/scsi1", "lun7", "../../../sdc");
    CLEANUP(freep)
    char *message = mem_printf("%s is not a block device", below(machine->roots.dev, "sdc"));
    assert_fails(device_find(&machine->roots, 7, &device), ERR_INTERNAL, message);
}

static void assert_written(const struct machine *machine, const char *path, const char *text)
{
    CLEANUP(freep) char *found = read_text(below(machine->roots.sys, path));

    assert_string_equal(found, text);
}

static void test_rescans(void **state)
{
    struct machine *machine = *state;
    dev_t number = machine->disks[0]->number;
    CLEANUP(freep)
    char *folder = mem_printf("dev/block/%u:%u/device", major(number), minor(number));
    struct device device = {.number = number, .fd = -1};

    attribute(below(machine->roots.sys, "class/scsi_host/host0"), "scan", "");
    attribute(below(machine->roots.sys, "class/scsi_host/host1"), "scan", "");
    attribute(below(machine->roots.sys, folder), "rescan", "");
    device_rescan_controllers(&machine->roots);
    device_rescan(&machine->roots, &device);

    CLEANUP(freep) char *size = mem_printf("%s/rescan", folder);
    assert_written(machine, "class/scsi_host/host0/scan", "- - -");
    assert_written(machine, "class/scsi_host/host1/scan", "- - -");
    assert_written(machine, size, "1");
}

static void test_nvme_controllers_look_for_disks(void **state)
{
    struct machine *machine = *state;

    attribute(below(machine->roots.sys, "class/nvme/nvme0"), "model", LOCAL_NVME "  \n");
    attribute(below(machine->roots.sys, "class/nvme/nvme0"), "rescan_controller", "");
    attribute(below(machine->roots.sys, "class/nvme/nvme1"), "model", REMOTE_NVME "  \n");
    attribute(below(machine->roots.sys, "class/nvme/nvme1"), "rescan_controller", "");
    device_rescan_controllers(&machine->roots);
    assert_written(machine, "class/nvme/nvme0/rescan_controller", "");
    assert_written(machine, "class/nvme/nvme1/rescan_controller", "1");
}

/* One path to it: it is below its controller. Several: below a subsystem, as its controllers
 * are. */
static void test_nvme_controllers_look_at_a_disk(void **state)
{
    static const char *const controllers[] = {"device", "device/nvme0", "device/nvme1"};
    struct machine *machine = *state;
    dev_t number = machine->disks[0]->number;
    struct device device = {.number = number, .fd = -1};
    CLEANUP(freep) char *block = mem_printf("dev/block/%u:%u", major(number), minor(number));

    make_folder(below(machine->roots.sys, block));
    for (size_t i = 0; i < COUNT_OF(controllers); i++) {
        CLEANUP(freep) char *controller = mem_printf("%s/%s", block, controllers[i]);
        CLEANUP(freep) char *asked = mem_printf("%s/rescan_controller", controller);

        attribute(below(machine->roots.sys, controller), "rescan_controller", "");
        device_rescan(&machine->roots, &device);
        assert_written(machine, asked, "1");
    }
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_nothing),
        TEST(test_scsi),
        TEST(test_scsi_of_others_is_passed_by),
        TEST(test_scsi_system_disks_by_link),
        TEST(test_nvme),
        TEST(test_links),
        TEST(test_a_link_to_a_scsi_disk_at_another_lun),
        TEST(test_a_link_to_an_nvme_disk_at_another_lun),
        TEST(test_a_link_to_another_lun_contradicts_nobody),
        TEST(test_a_link_to_a_device_without_a_lun),
        TEST(test_all_ways_to_the_same_device),
        TEST(test_contradictions),
        TEST(test_links_that_lead_nowhere),
        TEST(test_not_a_block_device),
        TEST(test_rescans),
        TEST(test_nvme_controllers_look_for_disks),
        TEST(test_nvme_controllers_look_at_a_disk),
    };

    return cmocka_run_group_tests(tests, workplace_setup, workplace_teardown);
}
