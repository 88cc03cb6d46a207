/* The steps of staging as tasks: what they wait for, and what goes on when their caller does not.
 */
#include "provisioner-lib/host/host.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>

#include "lib/base/alloc.h"
#include "lib/rt/wait.h"
#include "provisioner-lib/host/arrival.h"
#include "provisioner-lib/host/format_mark.h"
#include "provisioner-lib/host/mount_table.h"
#include "test/unit/expect.h"
#include "test/unit/provisioner-lib/host/disk.h"
#include "test/unit/provisioner-lib/host/quiet_network.h"

#define VOLUME "/subscriptions/0/resourceGroups/rg/providers/Microsoft.Compute/disks/data"

static const uint64_t LONG = 60 * 1000; /* milliseconds; nothing here is to take so long */

/* A machine with a loop, and a task that plays one scene on it. */
struct scene {
    struct job_permit permit; /* counts what it is asked; `lost`: why it is none any more */
    const char *lost;
    unsigned begun, ended;
    const char *running; /* a file that is there while the program runs; NULL: none */
    struct loop *loop;
    struct host *host;
    struct device_roots roots;
    void (*play)(struct task *self, struct scene *scene);
    bool played;
};

static struct err *permit_check(void *ctx)
{
    const struct scene *scene = ctx;

    return scene->lost ? err_new(ERR_BUSY, "%s", scene->lost) : NULL;
}

static struct err *permit_begin(struct task *self, void *ctx, const char *program)
{
    struct scene *scene = ctx;

    assert_true(strcmp(program, "mkfs.ext4") == 0 || strcmp(program, "e2fsck") == 0);
    assert_ok(task_sleep(self, 1)); /* as a write to the API server */
    assert_true(!scene->running || access(scene->running, F_OK));
    TRY(permit_check(scene));
    scene->begun++;
    return NULL;
}

static void permit_end(struct task *self, void *ctx, const struct err *unsure)
{
    struct scene *scene = ctx;

    assert_ok(task_sleep(self, 1));
    assert_null(unsure);
    assert_true(!scene->running || access(scene->running, F_OK));
    scene->ended++;
}

static int setup(void **state)
{
    static unsigned count;
    struct scene *scene = mem_alloc(sizeof *scene);

    scene->permit = (struct job_permit){permit_begin, permit_check, permit_end, scene};

    count++;
    scene->roots.sys = in_workplace("host-%u/sys", count);
    scene->roots.dev = in_workplace("host-%u/dev", count);
    make_folder(scene->roots.sys);
    make_folder(scene->roots.dev);
    scene->loop = loop_new();
    scene->host = host_new(scene->loop, &(struct host_config){scene->roots, .max_formats = 1});
    *state = scene;
    return 0;
}

/* For a host that no event of the kernel reaches: other programs make devices, too. */
static int setup_without_news(void **state)
{
    int own = quiet_network_enter();

    setup(state);
    quiet_network_leave(own);
    return 0;
}

static int teardown(void **state)
{
    struct scene *scene = *state;

    loop_free(scene->loop);
    free(scene);
    return 0;
}

static uint64_t in(struct scene *scene, uint64_t ms)
{
    return loop_now(scene->loop) + ms;
}

static void scene_main(struct task *self, void *arg)
{
    struct scene *scene = arg;

    scene->play(self, scene);
    host_stop(scene->host, in(scene, LONG));
    host_close(self, scene->host);
    scene->played = true;
}

static void play(struct scene *scene, void (*fn)(struct task *self, struct scene *scene))
{
    scene->play = fn;
    loop_spawn(scene->loop, "scene", scene_main, scene);
    loop_run(scene->loop);
    assert_true(scene->played);
}

static void link_lun(struct scene *scene, unsigned lun, const char *target)
{
    CLEANUP(freep) char *name = mem_printf("disk/azure/data/by-lun/%u", lun);

    make_folder(below(scene->roots.dev, "disk/azure/data/by-lun"));
    assert_int_equal(symlink(target, below(scene->roots.dev, name)), 0);
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

static void await(struct task *self, const bool *what)
{
    while (!*what)
        assert_ok(task_sleep(self, 1));
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
    struct arrival *arrival = arrival_new(scene->loop, scene->roots.dev);

    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        unsigned seen = arrival_count(arrival);

        assert_int_equal(mkdir(below(scene->roots.dev, steps[i]), 0700), 0);
        assert_ok(arrival_wait(self, arrival, seen, in(scene, LONG)));
    }
    arrival_close(self, arrival);
}

static void test_news_of_links(void **state)
{
    play(*state, news_of_links);
}

/* The kernel's own events, of which no link tells. */
static void news_from_the_kernel(struct task *self, struct scene *scene)
{
    CLEANUP(disk_freep) struct disk *disk = disk_new(MIB);
    struct arrival *arrival = arrival_new(scene->loop, scene->roots.dev);
    CLEANUP(freep) char *uevent = mem_printf("/sys/block/%s/uevent", disk->path + strlen("/dev/"));

    assert_ok(task_sleep(self, 1)); /* those of making the device come first */
    unsigned seen = arrival_count(arrival);
    write_file(uevent, "change");
    assert_ok(arrival_wait(self, arrival, seen, in(scene, LONG)));
    arrival_close(self, arrival);
}

static void test_news_from_the_kernel(void **state)
{
    play(*state, news_from_the_kernel);
}

/* ---- prove, format, check, mount ---- */

static struct disk_expectation expect(const struct disk *disk)
{
    struct disk_expectation expected = {.size = disk->size, .type = "ext4"};

    identity_derive(VOLUME, expected.uuid);
    return expected;
}

static void find(struct task *self, struct scene *scene, const struct disk *disk,
                 struct device *ret)
{
    link_lun(scene, 3, disk->path);
    assert_ok(host_find(self, scene->host, 3, in(scene, LONG), ret));
}

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
    assert_ok(host_prove(self, scene->host, &device, &expected, &verdict));
    assert_true(verdict.format);
    assert_ok(host_format(self, scene->host, &device, ext4, expected.uuid, &scene->permit,
                          in(scene, LONG)));
    assert_ok(host_prove(self, scene->host, &device, &expected, &verdict));
    assert_false(verdict.format);
    assert_true(verdict.record_due);
    assert_ok(host_check(self, scene->host, &device, ext4, &scene->permit, in(scene, LONG)));
    assert_ok(host_check_unused(self, scene->host, 3));
    assert_ok(host_mount(self, scene->host, &device, &request));

    /* All of it again, now that it is mounted. */
    assert_ok(host_prove(self, scene->host, &device, &expected, &verdict));
    assert_ok(host_check(self, scene->host, &device, ext4, &scene->permit, in(scene, LONG)));
    assert_ok(host_mount(self, scene->host, &device, &request));
    CLEANUP(freep) char *in_use = mem_printf("%s: somebody else uses the device", disk->path);
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
    struct err *err = host_prove(self, scene->host, &device, &expected, &verdict);
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

/* ---- formatting that outlasts its caller ---- */

struct formatter {
    struct scene *scene;
    const struct device *device;
    struct task *task;
    struct err *err;
    bool ended;
};

static void formats(struct task *self, void *arg)
{
    struct formatter *formatter = arg;
    char uuid[UUID_SIZE];

    identity_derive(VOLUME, uuid);
    formatter->err =
        host_format(self, formatter->scene->host, formatter->device, filesystem_find("ext4"), uuid,
                    &formatter->scene->permit, in(formatter->scene, LONG));
    formatter->ended = true;
}

static void start_formatter(struct formatter *formatter, struct scene *scene,
                            const struct device *device)
{
    *formatter = (struct formatter){.scene = scene, .device = device};
    formatter->task = loop_spawn(scene->loop, "formatter", formats, formatter);
}

/* A mkfs that says that it has begun, and waits until it may go on. */
static void slow_mkfs(const char *path_before, const char *begun, const char *go)
{
    CLEANUP(freep)
    char *script = mem_printf("#!/bin/sh\ntouch %s\nwhile [ ! -e %s ]; do sleep 0.01; done\n"
                              "exec /usr/sbin/mkfs.ext4 \"$@\"\n",
                              begun, go);
    CLEANUP(freep) char *path = mem_printf("%s:%s", in_workplace("bin"), path_before);

    make_folder(in_workplace("bin"));
    write_file(in_workplace("bin/mkfs.ext4"), script);
    assert_int_equal(chmod(in_workplace("bin/mkfs.ext4"), 0700), 0);
    setenv("PATH", path, 1);
}

static void await_file(struct task *self, const char *path)
{
    while (access(path, F_OK))
        assert_ok(task_sleep(self, 1));
}

static void restore_path(char **before)
{
    setenv("PATH", *before, 1);
    free(*before);
}

static void formatting_outlasts_its_caller(struct task *self, struct scene *scene)
{
    CLEANUP(restore_path) char *path = mem_strdup(getenv("PATH"));
    CLEANUP(disk_freep) struct disk *disk = disk_new(SMALLEST_EXT4);
    const char *begun = in_workplace("begun-1"), *go = in_workplace("go-1");
    struct disk_expectation expected = expect(disk);
    struct disk_verdict verdict;
    struct formatter first, second;
    struct device device;
    char mark[UUID_SIZE];

    slow_mkfs(path, begun, go);
    find(self, scene, disk, &device);
    start_formatter(&first, scene, &device);
    await_file(self, begun);
    assert_ok(format_mark_read(disk->fd, disk->size, mark));
    assert_string_equal(mark, expected.uuid);
    task_cancel(first.task);

    /* One at a time: the second waits for its turn, and gives that up when it is cancelled. */
    start_formatter(&second, scene, &device);
    assert_ok(task_sleep(self, 50));
    assert_false(first.ended || second.ended);
    task_cancel(second.task);
    await(self, &second.ended);
    CLEANUP(freep)
    char *in_vain = mem_printf("%s: waiting to run mkfs.ext4: formatter was cancelled", disk->path);
    assert_fails(second.err, ERR_CANCELED, in_vain);
    assert_int_equal(scene->begun, 1);
    assert_int_equal(scene->ended, 0);

    write_file(go, "");
    await(self, &first.ended);
    assert_ok(first.err);
    assert_int_equal(scene->ended, 1);
    assert_ok(host_prove(self, scene->host, &device, &expected, &verdict));
    assert_false(verdict.format);
    device_close(&device);
}

static void test_formatting_outlasts_its_caller(void **state)
{
    play(*state, formatting_outlasts_its_caller);
}

static void formatting_ends_with_the_program(struct task *self, struct scene *scene)
{
    CLEANUP(restore_path) char *path = mem_strdup(getenv("PATH"));
    CLEANUP(disk_freep) struct disk *disk = disk_new(SMALLEST_EXT4);
    const char *begun = in_workplace("begun-2");
    struct disk_expectation expected = expect(disk);
    struct disk_verdict verdict;
    struct formatter formatter;
    struct device device;

    slow_mkfs(path, begun, in_workplace("never"));
    find(self, scene, disk, &device);
    start_formatter(&formatter, scene, &device);
    await_file(self, begun);
    host_stop(scene->host, in(scene, LONG));
    await(self, &formatter.ended);
    CLEANUP(freep)
    char *message = mem_printf("%s: mkfs.ext4: the plug-in is stopping", disk->path);
    assert_fails(formatter.err, ERR_UNAVAILABLE, message);
    assert_int_equal(scene->ended, 1);

    CLEANUP(freep) char *refused = mem_printf("%s: the plug-in is stopping", disk->path);
    assert_fails(host_format(self, scene->host, &device, filesystem_find("ext4"), expected.uuid,
                             &scene->permit, in(scene, LONG)),
                 ERR_UNAVAILABLE, refused);
    /* The next program may begin anew. */
    assert_ok(host_prove(self, scene->host, &device, &expected, &verdict));
    assert_true(verdict.format);
    device_close(&device);
}

static void test_formatting_ends_with_the_program(void **state)
{
    play(*state, formatting_ends_with_the_program);
}

/* ---- a role that goes ---- */

/* A program of this name in PATH that is there, as the file `running` says, until the file `go`
 * allows it to end; asked to end by SIGTERM it says so in `asked`. */
static void stubborn_program(const char *path_before, const char *name, const char *running,
                             const char *asked, const char *go)
{
    const char *folder = in_workplace("bin-%s", name), *program = below(folder, name);
    CLEANUP(freep) char *path = mem_printf("%s:%s", folder, path_before);
    CLEANUP(freep)
    char *script = mem_printf("#!/bin/sh\ntouch %s\ntrap 'touch %s' TERM\n"
                              "while [ ! -e %s ]; do sleep 0.01; done\nrm %s\nexit 32\n",
                              running, asked, go, running);

    make_folder(folder);
    write_file(program, script);
    assert_int_equal(chmod(program, 0700), 0);
    setenv("PATH", path, 1);
}

/* The program is asked to end, and is on record until it has ended. */
static void a_role_that_goes_while_formatting(struct task *self, struct scene *scene)
{
    CLEANUP(restore_path) char *path = mem_strdup(getenv("PATH"));
    CLEANUP(disk_freep) struct disk *disk = disk_new(SMALLEST_EXT4);
    const char *asked = in_workplace("asked-1"), *go = in_workplace("go-role-1");
    struct formatter formatter;
    struct device device;

    scene->running = in_workplace("running-1");
    stubborn_program(path, "mkfs.ext4", scene->running, asked, go);
    find(self, scene, disk, &device);
    start_formatter(&formatter, scene, &device);
    await_file(self, scene->running);
    assert_int_equal(scene->begun, 1);
    host_reconsider(scene->host); /* nothing has changed for this one */
    assert_ok(task_sleep(self, 50));
    assert_int_equal(access(asked, F_OK), -1);

    scene->lost = "another node is the primary";
    host_reconsider(scene->host);
    await_file(self, asked);
    assert_ok(task_sleep(self, 50));
    assert_false(formatter.ended);
    assert_int_equal(scene->ended, 0);
    write_file(go, "");
    await(self, &formatter.ended);
    CLEANUP(freep)
    char *message = mem_printf("%s: mkfs.ext4: another node is the primary", disk->path);
    assert_fails(formatter.err, ERR_BUSY, message);
    assert_int_equal(scene->ended, 1);
    device_close(&device);
}

static void test_a_role_that_goes_while_formatting(void **state)
{
    play(*state, a_role_that_goes_while_formatting);
}

/* What waits for its turn is ended as well, and what gets its turn too late does not begin. */
static void a_role_that_goes_while_waiting(struct task *self, struct scene *scene)
{
    CLEANUP(restore_path) char *path = mem_strdup(getenv("PATH"));
    CLEANUP(disk_freep) struct disk *disk = disk_new(SMALLEST_EXT4);
    CLEANUP(disk_freep) struct disk *other = disk_new(SMALLEST_EXT4);
    const char *go = in_workplace("go-role-2"), *running = in_workplace("running-2");
    struct formatter first, second, third;
    struct device device, other_device;
    uint64_t blank = disk_checksum(other);

    stubborn_program(path, "mkfs.ext4", running, in_workplace("asked-2"), go);
    find(self, scene, disk, &device);
    link_lun(scene, 4, other->path);
    assert_ok(host_find(self, scene->host, 4, in(scene, LONG), &other_device));
    start_formatter(&first, scene, &device);
    await_file(self, running);
    start_formatter(&second, scene, &other_device);
    assert_ok(task_sleep(self, 10));
    scene->lost = "another node is the primary";
    host_reconsider(scene->host);
    await(self, &second.ended);
    CLEANUP(freep) char *message = mem_printf("%s: another node is the primary", other->path);
    assert_fails(second.err, ERR_BUSY, message);
    assert_false(first.ended);

    start_formatter(&third, scene, &other_device); /* nobody asks, this time */
    write_file(go, "");
    await(self, &third.ended);
    assert_fails(third.err, ERR_BUSY, message);
    assert_int_equal(scene->begun, 1);
    assert_int_equal(disk_checksum(other), blank);
    err_free(first.err);
    device_close(&device);
    device_close(&other_device);
}

static void test_a_role_that_goes_while_waiting(void **state)
{
    play(*state, a_role_that_goes_while_waiting);
}

/* Of a program that a former process left behind. */
static void a_program_that_was_left_behind(struct task *self, struct scene *scene)
{
    CLEANUP(disk_freep) struct disk *disk = disk_new(SMALLEST_EXT4);
    const char *program = "azdk-orphan"; /* that is no other test's */
    const char *script = in_workplace("azdk-orphan"), *staging = in_workplace("idle");
    struct mount_request request = {.device = disk->path, .target = staging, .type = "ext4"};
    unsigned lun = 3, empty = 4;
    struct device device;

    RUN("mkfs.ext4", "-q", disk->path);
    find(self, scene, disk, &device);
    assert_ok(host_check_idle(self, scene->host, &lun, program));
    assert_ok(host_check_idle(self, scene->host, &empty, program));
    assert_ok(host_check_idle(self, scene->host, NULL, program));

    int held = open(disk->path, O_RDWR | O_EXCL | O_CLOEXEC);
    assert_true(held >= 0);
    CLEANUP(freep) char *in_use = mem_printf("%s: somebody else uses the device", disk->path);
    assert_fails(host_check_idle(self, scene->host, &lun, program), ERR_PRECONDITION, in_use);
    close(held);

    write_file(script, "#!/bin/sh\nkill -STOP $$\n");
    assert_int_equal(chmod(script, 0700), 0);
    pid_t orphan = fork();
    if (orphan == 0) {
        execl(script, script, NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(orphan, NULL, WUNTRACED), orphan);
    CLEANUP(freep) char *runs = mem_printf("%s still runs as process %d", program, orphan);
    assert_fails(host_check_idle(self, scene->host, NULL, program), ERR_BUSY, runs);
    assert_fails(host_check_idle(self, scene->host, &lun, program), ERR_BUSY, runs);
    kill(orphan, SIGKILL);
    assert_int_equal(waitpid(orphan, NULL, 0), orphan);

    assert_ok(host_mount(self, scene->host, &device, &request));
    assert_ok(host_check_idle(self, scene->host, &lun, program));
    assert_ok(host_unstage(self, scene->host, staging));
    device_close(&device);
}

static void test_a_program_that_was_left_behind(void **state)
{
    play(*state, a_program_that_was_left_behind);
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
    CLEANUP(freep) char *in_use = mem_printf("%s: somebody else uses the device", disk->path);
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

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_find_waits_for_a_link),
        cmocka_unit_test_setup_teardown(test_find_looks_without_news, setup_without_news, teardown),
        TEST(test_find_gives_up),
        TEST(test_a_disk_that_hangs),
        TEST(test_news_of_links),
        TEST(test_news_from_the_kernel),
        TEST(test_a_new_volume),
        TEST(test_proof_reads_the_disk_not_the_cache),
        TEST(test_formatting_outlasts_its_caller),
        TEST(test_formatting_ends_with_the_program),
        TEST(test_a_role_that_goes_while_formatting),
        TEST(test_a_role_that_goes_while_waiting),
        TEST(test_a_program_that_was_left_behind),
        TEST(test_a_mount_elsewhere),
    };

    return cmocka_run_group_tests(tests, workplace_setup, workplace_teardown);
}
