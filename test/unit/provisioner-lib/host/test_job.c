/* mkfs and fsck on a machine: their turns, what goes on when their caller does not, and how they
 * end when the role goes. */
#include "provisioner-lib/host/job.h"

#include <fcntl.h>
#include <glob.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "lib/base/alloc.h"
#include "lib/rt/wait.h"
#include "provisioner-lib/host/format_mark.h"
#include "test/unit/expect.h"
#include "test/unit/provisioner-lib/host/scene.h"

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

    identity_derive(SCENE_VOLUME, uuid);
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
    assert_ok(host_prove(self, scene->host, &device, &device, &expected, &verdict));
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
    assert_ok(host_prove(self, scene->host, &device, &device, &expected, &verdict));
    assert_true(verdict.format);
    device_close(&device);
}

static void test_formatting_ends_with_the_program(void **state)
{
    play(*state, formatting_ends_with_the_program);
}

/* ---- many journals at once ---- */

enum { N_CUT_OFF = 20 };

/* What staging does with a volume that was in use when its node lost power. */
struct mounter {
    struct scene *scene;
    struct device device;
    const char *staging;
    bool ended;
};

static void mounts(struct task *self, void *arg)
{
    struct mounter *mounter = arg;
    struct host *host = mounter->scene->host;
    struct mount_request request = {
        .device = mounter->device.path, .target = mounter->staging, .type = "ext4"};
    struct filesystem_state state;

    assert_ok(host_read_state(self, host, &mounter->device, filesystem_find("ext4"), &state));
    assert_false(state.needs_check || state.mounted);
    assert_ok(host_mount(self, host, &mounter->device, &request));
    mounter->ended = true;
}

/* The disks are files of a file system that takes no writes for a while: each replay of a journal
 * stays in its mount until then. None waits for another one, and no e2fsck is needed. */
static void many_journals_at_once(struct task *self, struct scene *scene)
{
    CLEANUP(disk_freep) struct disk *below_all = disk_new(2 * N_CUT_OFF * SMALLEST_EXT4);
    const char *folder = in_workplace("below-all");
    struct disk *disks[N_CUT_OFF];
    struct mounter mounters[N_CUT_OFF];
    unsigned most = 0;

    RUN("mkfs.ext4", "-q", below_all->path);
    make_folder(folder);
    RUN("mount", below_all->path, folder);
    for (unsigned i = 0; i < N_CUT_OFF; i++) {
        disks[i] = disk_new_below(folder, SMALLEST_EXT4);
        RUN("mkfs.ext4", "-q", disks[i]->path);
        disk_use_and_cut_off(disks[i], "ext4");
        link_lun(scene, i, disks[i]->path);
        mounters[i] = (struct mounter){.scene = scene, .staging = in_workplace("cut-off-%u", i)};
        assert_ok(host_find(self, scene->host, i, in(scene, LONG), &mounters[i].device));
    }
    int fd = open(folder, O_RDONLY | O_CLOEXEC);
    assert_int_equal(ioctl(fd, FIFREEZE, 0), 0);
    for (unsigned i = 0; i < N_CUT_OFF; i++)
        loop_spawn(scene->loop, "mounter", mounts, &mounters[i]);
    uint64_t deadline = in(scene, LONG);
    while (most < N_CUT_OFF && loop_now(scene->loop) < deadline) {
        unsigned busy = host_busy_workers(scene->host);

        most = busy > most ? busy : most;
        assert_ok(task_sleep(self, 1));
    }
    assert_int_equal(ioctl(fd, FITHAW, 0), 0); /* before anything else is looked at */
    assert_int_equal(most, N_CUT_OFF);
    for (unsigned i = 0; i < N_CUT_OFF; i++) {
        await(self, &mounters[i].ended);
        assert_ok(host_unstage(self, scene->host, mounters[i].staging));
        device_close(&mounters[i].device);
        disk_free(disks[i]);
    }
    close(fd);
    RUN("umount", folder);
}

static void test_many_journals_at_once(void **state)
{
    play(*state, many_journals_at_once);
}

/* ---- a program that takes its time ---- */

/* A program of this name in PATH that is there, as the file `running` says, until the file `go`
 * allows it to end; asked to end by SIGTERM it says so in `asked`. */
static void stubborn_program(const char *path_before, const char *name, const char *running,
                             const char *asked, const char *go)
{
    const char *folder = in_workplace("bin-%s", name), *program = below(folder, name);
    CLEANUP(freep) char *path = mem_printf("%s:%s", folder, path_before);
    CLEANUP(freep)
    char *script = mem_printf("#!/bin/sh\ntouch %s\ntrap 'touch %s' TERM\n"
                              "while [ ! -e %s ]; do sleep 0.01; done\nrm -f %s\nexit 32\n",
                              running, asked, go, running);

    make_folder(folder);
    write_file(program, script);
    assert_int_equal(chmod(program, 0700), 0);
    setenv("PATH", path, 1);
}

/* ---- the memory of checks ---- */

struct checker {
    struct scene *scene;
    struct device device;
    struct err *err;
    bool ended;
};

static void checks(struct task *self, void *arg)
{
    struct checker *checker = arg;

    checker->err = host_check(self, checker->scene->host, &checker->device, filesystem_find("ext4"),
                              &checker->scene->permit, in(checker->scene, LONG));
    checker->ended = true;
}

/* On this disk: other tests check theirs meanwhile. */
static bool runs(const char *program, const char *device)
{
    bool found = false;
    glob_t processes;

    assert_int_equal(glob("/proc/[0-9]*/cmdline", 0, NULL, &processes), 0);
    for (size_t i = 0; i < processes.gl_pathc && !found; i++) {
        FILE *file = fopen(processes.gl_pathv[i], "re"); /* NULL: it has ended */
        char words[512] = "";
        size_t n = file ? fread(words, 1, sizeof words - 1, file) : 0;

        found = strstr(words, program) && memmem(words, n, device, strlen(device));
        if (file)
            fclose(file);
    }
    globfree(&processes);
    return found;
}

/* Each needs 64 MiB and a little. */
static void checks_share_the_memory(struct task *self, struct scene *scene)
{
    enum { N = 4 };
    CLEANUP(restore_path) char *path = mem_strdup(getenv("PATH"));
    const char *running = in_workplace("running-3"), *go = in_workplace("go-3");
    struct disk *disks[N];
    struct checker checkers[N];

    write_file(scene->memory_max, "209715200\n"); /* 200 MiB, of which the plug-in needs 64 */
    stubborn_program(path, "e2fsck", running, in_workplace("asked-3"), go);
    for (unsigned i = 0; i < N; i++) {
        disks[i] = disk_new(SMALLEST_EXT4);
        RUN("mkfs.ext4", "-q", disks[i]->path);
        link_lun(scene, i, disks[i]->path);
        checkers[i] = (struct checker){.scene = scene};
        assert_ok(host_find(self, scene->host, i, in(scene, LONG), &checkers[i].device));
        loop_spawn(scene->loop, "checker", checks, &checkers[i]);
    }
    while (scene->begun < 2)
        assert_ok(task_sleep(self, 1));
    assert_ok(task_sleep(self, 100));
    assert_int_equal(scene->begun, 2);

    write_file(go, "");
    for (unsigned i = 0; i < N; i++) {
        await(self, &checkers[i].ended);
        err_free(checkers[i].err); /* of a program that says nothing and fails */
        device_close(&checkers[i].device);
        disk_free(disks[i]);
    }
    assert_int_equal(scene->begun, N);
}

static void test_checks_share_the_memory(void **state)
{
    play(*state, checks_share_the_memory);
}

static void a_check_that_can_never_fit(struct task *self, struct scene *scene)
{
    static const struct {
        const char *limit, *message;
    } rows[] = {
        {"104857600\n", "e2fsck needs about 65 MiB of memory, but of the container's limit of 100 "
                        "MiB, only 36 MiB are available to it: raise the limit to 129Mi or more "
                        "(linux.resources.azuredisk.limits.memory of the "
                        "chart)"},
        {"33554432\n", "e2fsck needs about 65 MiB of memory, but of the container's limit of 32 "
                       "MiB, only 0 MiB are available to it: raise the limit to 129Mi or more "
                       "(linux.resources.azuredisk.limits.memory of the "
                       "chart)"},
    };
    CLEANUP(disk_freep) struct disk *disk = disk_new(SMALLEST_EXT4);
    const struct filesystem *ext4 = filesystem_find("ext4");
    struct device device;

    RUN("mkfs.ext4", "-q", disk->path);
    find(self, scene, disk, &device);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep) char *message = mem_printf("%s: %s", disk->path, rows[i].message);

        write_file(scene->memory_max, rows[i].limit);
        assert_fails(host_check(self, scene->host, &device, ext4, &scene->permit, in(scene, LONG)),
                     ERR_EXHAUSTED, message);
    }
    assert_int_equal(scene->begun, 0);
    write_file(scene->memory_max, "135266304\n"); /* what it says is enough */
    assert_ok(host_check(self, scene->host, &device, ext4, &scene->permit, in(scene, LONG)));
    device_close(&device);
}

static void test_a_check_that_can_never_fit(void **state)
{
    play(*state, a_check_that_can_never_fit);
}

/* A disk that takes e2fsck some seconds. */
static void e2fsck_ends_when_it_is_asked(struct task *self, struct scene *scene)
{
    CLEANUP(disk_freep) struct disk *disk = disk_new(2 * 1024 * 1024 * MIB);
    struct mount_request request = {
        .device = disk->path, .target = in_workplace("asked"), .type = "ext4"};
    struct checker checker = {.scene = scene};

    RUN("mkfs.ext4", "-q", "-m", "0", "-E", "nodiscard", disk->path);
    find(self, scene, disk, &checker.device);
    loop_spawn(scene->loop, "checker", checks, &checker);
    while (!runs("e2fsck", disk->path))
        assert_ok(task_sleep(self, 1));
    host_stop(scene->host, in(scene, LONG));
    await(self, &checker.ended);
    CLEANUP(freep) char *message = mem_printf("%s: e2fsck: the plug-in is stopping", disk->path);
    assert_fails(checker.err, ERR_UNAVAILABLE, message);
    assert_int_equal(scene->ended, 1);
    assert_ok(host_mount(self, scene->host, &checker.device, &request));
    assert_ok(host_unstage(self, scene->host, request.target));
    device_close(&checker.device);
}

static void test_e2fsck_ends_when_it_is_asked(void **state)
{
    play(*state, e2fsck_ends_when_it_is_asked);
}

/* ---- a role that goes ---- */

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
    CLEANUP(freep) char *in_use = mem_printf("%s: the device is in use", disk->path);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENE(test_formatting_outlasts_its_caller),
        SCENE(test_formatting_ends_with_the_program),
        SCENE(test_many_journals_at_once),
        SCENE(test_checks_share_the_memory),
        SCENE(test_a_check_that_can_never_fit),
        SCENE(test_e2fsck_ends_when_it_is_asked),
        SCENE(test_a_role_that_goes_while_formatting),
        SCENE(test_a_role_that_goes_while_waiting),
        SCENE(test_a_program_that_was_left_behind),
    };

    return cmocka_run_group_tests(tests, workplace_setup, workplace_teardown);
}
