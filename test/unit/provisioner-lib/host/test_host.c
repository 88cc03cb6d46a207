/* The steps of staging as tasks: what they wait for, and what they find. */
#include "provisioner-lib/host/host.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>

#include "lib/base/alloc.h"
#include "lib/rt/wait.h"
#include "provisioner-lib/host/hotplug.h"
#include "test/unit/expect.h"
#include "test/unit/provisioner-lib/host/quiet_network.h"
#include "test/unit/provisioner-lib/host/scene.h"

/* For a host that no event of the kernel reaches: other programs make devices, too. */
static int setup_without_news(void **state)
{
    int own = quiet_network_enter();

    scene_setup(state);
    quiet_network_leave(own);
    return 0;
}

/* ---- another task beside the scene ---- */

struct finder {
    struct scene *scene;
    unsigned lun;
    struct device device;
    struct err *err;
    bool ended;
};

static void finds(struct task *self, void *arg)
{
    struct finder *finder = arg;

    finder->err =
        host_find(self, finder->scene->host, finder->lun, in(finder->scene, LONG), &finder->device);
    finder->ended = true;
}

static void start(struct finder *finder, struct scene *scene, unsigned lun)
{
    *finder = (struct finder){.scene = scene, .lun = lun, .device = DEVICE_NONE};
    loop_spawn(scene->loop, "finder", finds, finder);
}

/* ---- find ---- */

static void find_waits_for_a_link(struct task *self, struct scene *scene)
{
    CLEANUP(disk_freep) struct disk *disk = disk_new(MIB);
    struct finder finder;

    start(&finder, scene, 3);
    assert_ok(task_sleep(self, 1100)); /* some looks in vain */
    assert_false(finder.ended);
    link_lun(scene, 3, disk->path);
    await(self, &finder.ended);
    assert_ok(finder.err);
    assert_string_equal(finder.device.path, disk->path);
    device_close(&finder.device);
}

static void test_find_waits_for_a_link(void **state)
{
    play(*state, find_waits_for_a_link);
}

/* Until a file says so. */
static void await_text(struct task *self, const char *path, const char *wanted)
{
    for (;;) {
        CLEANUP(freep) char *text = read_text(path);

        if (strcmp(text, wanted) == 0)
            return;
        assert_ok(task_sleep(self, 1));
    }
}

/* Nothing tells of a change in this sysfs. */
static void find_looks_without_news(struct task *self, struct scene *scene)
{
    CLEANUP(disk_freep) struct disk *disk = disk_new(MIB);
    struct finder finder;

    disk_node(disk, below(scene->roots.dev, "nvme0n2"));
    make_folder(below(scene->roots.sys, "block/nvme0n2/device"));
    write_file(below(scene->roots.sys, "block/nvme0n2/device/model"), "MSFT NVMe Accelerator v1.0");
    make_folder(below(scene->roots.sys, "class/scsi_host/host0"));
    write_file(below(scene->roots.sys, "class/scsi_host/host0/scan"), "");
    write_file(below(scene->roots.sys, "nsid"), "5");
    start(&finder, scene, 3);
    await_text(self, below(scene->roots.sys, "class/scsi_host/host0/scan"), "- - -");
    assert_false(finder.ended);
    assert_int_equal(
        rename(below(scene->roots.sys, "nsid"), below(scene->roots.sys, "block/nvme0n2/nsid")), 0);
    await(self, &finder.ended);
    assert_ok(finder.err);
    device_close(&finder.device);
}

static void test_find_looks_without_news(void **state)
{
    play(*state, find_looks_without_news);
}

static void find_gives_up(struct task *self, struct scene *scene)
{
    struct device device;

    assert_fails(host_find(self, scene->host, 3, in(scene, 50), &device), ERR_TIMEOUT,
                 "no disk at LUN 3 yet");
    assert_fails(host_find(self, scene->host, 3, in(scene, 0), &device), ERR_TIMEOUT,
                 "no disk at LUN 3 yet");
}

static void test_find_gives_up(void **state)
{
    play(*state, find_gives_up);
}

/* A disk at one LUN hangs, as it is opened; the others do not. (A FIFO without a writer.) */
static void a_disk_that_hangs(struct task *self, struct scene *scene)
{
    CLEANUP(disk_freep) struct disk *disk = disk_new(MIB);
    const char *fifo = below(scene->roots.dev, "hangs");
    struct finder hanging, other;

    assert_int_equal(mkfifo(fifo, 0600), 0);
    link_lun(scene, 1, fifo);
    link_lun(scene, 2, disk->path);
    start(&hanging, scene, 1);
    start(&other, scene, 2);
    await(self, &other.ended);
    assert_ok(other.err);
    device_close(&other.device);
    assert_false(hanging.ended);
    assert_int_equal(host_busy_workers(scene->host), 1);

    int writer = open(fifo, O_WRONLY);
    await(self, &hanging.ended);
    CLEANUP(freep) char *message = mem_printf("%s is not a block device", fifo);
    assert_fails(hanging.err, ERR_INTERNAL, message);
    close(writer);
}

static void test_a_disk_that_hangs(void **state)
{
    play(*state, a_disk_that_hangs);
}

/* Every folder on the way to the links may be made later than the watch begins. */
static void news_of_links(struct task *self, struct scene *scene)
{
    static const char *const steps[] = {"disk",
                                        "disk/azure",
                                        "disk/azure/data",
                                        "disk/azure/data/by-lun",
                                        "disk/azure/data/by-lun/3",
                                        "disk/azure/scsi1",
                                        "disk/azure/scsi1/lun3"};
    struct hotplug *hotplug = hotplug_new(scene->loop, scene->roots.dev);

    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        unsigned seen = hotplug_count(hotplug);

        assert_int_equal(mkdir(below(scene->roots.dev, steps[i]), 0700), 0);
        assert_ok(hotplug_wait(self, hotplug, seen, in(scene, LONG)));
    }
    hotplug_close(self, hotplug);
}

static void test_news_of_links(void **state)
{
    play(*state, news_of_links);
}

/* The kernel's own events, of which no link tells. */
static void news_from_the_kernel(struct task *self, struct scene *scene)
{
    CLEANUP(disk_freep) struct disk *disk = disk_new(MIB);
    struct hotplug *hotplug = hotplug_new(scene->loop, scene->roots.dev);
    CLEANUP(freep) char *uevent = mem_printf("/sys/block/%s/uevent", disk->path + strlen("/dev/"));

    assert_ok(task_sleep(self, 1)); /* those of making the device come first */
    unsigned seen = hotplug_count(hotplug);
    write_file(uevent, "change");
    assert_ok(hotplug_wait(self, hotplug, seen, in(scene, LONG)));
    hotplug_close(self, hotplug);
}

static void test_news_from_the_kernel(void **state)
{
    play(*state, news_from_the_kernel);
}

/* ---- prove, format, check, mount ---- */

static void a_new_volume(struct task *self, struct scene *scene)
{
    CLEANUP(disk_freep) struct disk *disk = disk_new(SMALLEST_EXT4);
    struct disk_expectation expected = expect(disk);
    const struct filesystem *ext4 = filesystem_find("ext4");
    const char *staging = in_workplace("staging-%s", disk->path + strlen("/dev/"));
    struct mount_request request = {.target = staging, .type = "ext4"};
    struct disk_verdict verdict;
    struct device device;

    find(self, scene, disk, &device);
    request.device = device.path;
    assert_ok(host_prove(self, scene->host, &device, &device, &expected, &verdict));
    assert_true(verdict.format);
    assert_ok(host_format(self, scene->host, &device, ext4, expected.uuid, &scene->permit,
                          in(scene, LONG)));
    assert_ok(host_prove(self, scene->host, &device, &device, &expected, &verdict));
    assert_false(verdict.format);
    assert_true(verdict.record_due);
    assert_ok(host_check(self, scene->host, &device, ext4, &scene->permit, in(scene, LONG)));
    assert_ok(host_check_unused(self, scene->host, 3));
    assert_ok(host_mount(self, scene->host, &device, &request));

    /* All of it again, now that it is mounted. */
    assert_ok(host_prove(self, scene->host, &device, &device, &expected, &verdict));
    assert_ok(host_check(self, scene->host, &device, ext4, &scene->permit, in(scene, LONG)));
    assert_ok(host_mount(self, scene->host, &device, &request));
    CLEANUP(freep) char *in_use = mem_printf("%s: the device is in use", disk->path);
    assert_fails(host_check_unused(self, scene->host, 3), ERR_PRECONDITION, in_use);
    assert_ok(host_unstage(self, scene->host, staging));
    assert_ok(host_check_unused(self, scene->host, 3));
    assert_ok(host_check_unused(self, scene->host, 4)); /* no such disk */
    device_close(&device);
}

static void test_a_new_volume(void **state)
{
    play(*state, a_new_volume);
}

/* What was read before another node wrote to the disk. (Through the file below the device.) */
static void proof_reads_the_disk_not_the_cache(struct task *self, struct scene *scene)
{
    CLEANUP(disk_freep) struct disk *disk = disk_new(SMALLEST_EXT4);
    struct disk_expectation expected = expect(disk);
    struct disk_verdict verdict;
    struct device device;
    char byte;

    find(self, scene, disk, &device);
    assert_int_equal(pread(disk->fd, &byte, 1, 0), 1);
    assert_int_equal(pwrite(disk->image, "somebody's data", 15, 0), 15);
    struct err *err = host_prove(self, scene->host, &device, &device, &expected, &verdict);
    assert_non_null(err);
    assert_int_equal(err_kind(err), ERR_PRECONDITION);
    assert_non_null(strstr(err_message(err), "data without a signature"));
    err_free(err);
    device_close(&device);
}

static void test_proof_reads_the_disk_not_the_cache(void **state)
{
    play(*state, proof_reads_the_disk_not_the_cache);
}

/* A mount that lives on where we do not see it: a process that has kept an older view. */
static void a_mount_elsewhere(struct task *self, struct scene *scene)
{
    CLEANUP(disk_freep) struct disk *disk = disk_new(SMALLEST_EXT4);
    const char *staging = in_workplace("elsewhere");
    struct mount_request request = {.device = disk->path, .target = staging, .type = "ext4"};
    struct device device;
    int ends[2];
    char byte;

    RUN("mkfs.ext4", "-q", disk->path);
    find(self, scene, disk, &device);
    assert_ok(host_mount(self, scene->host, &device, &request));
    assert_int_equal(pipe(ends), 0);
    pid_t other = fork();
    if (other == 0) {
        (void)!unshare(CLONE_NEWNS);
        (void)!write(ends[1], "x", 1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ends[0], &byte, 1), 1);
    assert_ok(host_unstage(self, scene->host, staging));
    CLEANUP(freep) char *in_use = mem_printf("%s: the device is in use", disk->path);
    assert_fails(host_check_unused(self, scene->host, 3), ERR_PRECONDITION, in_use);
    kill(other, SIGKILL);
    assert_int_equal(waitpid(other, NULL, 0), other);
    assert_ok(host_check_unused(self, scene->host, 3));
    close(ends[0]);
    close(ends[1]);
    device_close(&device);
}

static void test_a_mount_elsewhere(void **state)
{
    play(*state, a_mount_elsewhere);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENE(test_find_waits_for_a_link),
        cmocka_unit_test_setup_teardown(test_find_looks_without_news, setup_without_news,
                                        scene_teardown),
        SCENE(test_find_gives_up),
        SCENE(test_a_disk_that_hangs),
        SCENE(test_news_of_links),
        SCENE(test_news_from_the_kernel),
        SCENE(test_a_new_volume),
        SCENE(test_proof_reads_the_disk_not_the_cache),
        SCENE(test_a_mount_elsewhere),
    };

    return cmocka_run_group_tests(tests, workplace_setup, workplace_teardown);
}
