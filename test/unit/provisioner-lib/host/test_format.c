/* Making and checking file systems: whatever moment mkfs is killed at, the next attempt is allowed
 * to begin anew, and ends well. */
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "lib/base/alloc.h"
#include "lib/rt/loop.h"
#include "provisioner-lib/host/filesystem.h"
#include "provisioner-lib/host/format_mark.h"
#include "provisioner-lib/host/mount.h"
#include "provisioner-lib/host/probe.h"
#include "test/unit/expect.h"
#include "test/unit/provisioner-lib/host/disk.h"

#define OWN "617a646b-6e85-804c-ba1a-e367f410918d"

static struct err *decide(const struct disk *disk, const char *type, struct disk_verdict *ret)
{
    struct disk_expectation expected = {.size = disk->size, .type = type, .uuid = OWN};
    struct disk_observation found;

    assert_ok(probe_device(disk->fd, &found));
    return proof_decide(&expected, &found, ret);
}

/* ---- killing mkfs ---- */

static bool is_write(long number)
{
    return number == SYS_pwrite64 || number == SYS_write || number == SYS_fallocate ||
           number == SYS_fsync || number == SYS_pwritev;
}

static bool is_at_write(pid_t thread)
{
    struct __ptrace_syscall_info info;

    return ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) > 0 &&
           info.op == PTRACE_SYSCALL_INFO_ENTRY && is_write(info.entry.nr);
}

/* The next thread of a traced program that has stopped; 0 if the program is gone. */
static pid_t wait_for_stop(pid_t program, int *ret_status)
{
    for (;;) {
        pid_t thread = waitpid(-1, ret_status, __WALL);

        assert_true(thread > 0);
        if (WIFSTOPPED(*ret_status))
            return thread;
        if (thread == program)
            return 0;
    }
}

/* Runs the command up to its n-th write, at which it is killed. False if it ended before. */
static bool kill_at_write(const char *const argv[], unsigned n)
{
    pid_t program = fork(), thread;
    unsigned writes = 0;
    int status;

    if (program == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execvp(argv[0], (char **)(uintptr_t)argv);
        _exit(127);
    }
    thread = wait_for_stop(program, &status);
    ptrace(PTRACE_SETOPTIONS, program, NULL,
           PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
    while (thread) {
        bool call = WSTOPSIG(status) == (SIGTRAP | 0x80);
        int signal = call || WSTOPSIG(status) == SIGTRAP || WSTOPSIG(status) == SIGSTOP
                         ? 0
                         : WSTOPSIG(status);

        if (call && is_at_write(thread) && ++writes == n)
            kill(program, SIGKILL);
        ptrace(PTRACE_SYSCALL, thread, NULL, signal);
        thread = wait_for_stop(program, &status);
    }
    if (WIFEXITED(status))
        assert_int_equal(WEXITSTATUS(status), 0);
    return WIFSIGNALED(status);
}

static void assert_mountable(const struct disk *disk, const char *type)
{
    const char *target = in_workplace("mountable");
    struct mount_request request = {.device = disk->path, .target = target, .type = type};

    make_folder(target);
    assert_ok(mount_filesystem(&request));
    assert_ok(mount_remove(target));
}

/* Or at every so many writes, where most of them are of a journal that is all zeros. */
static void kill_at_writes(const char *name, uint64_t size, unsigned step)
{
    const struct filesystem *type = filesystem_find(name);
    CLEANUP(disk_freep) struct disk *disk = disk_new(size);
    CLEANUP(freep) char *uuid = mem_printf("%s%s", type->uuid_prefix, OWN);
    const char *argv[12] = {NULL};
    struct disk_verdict verdict;
    unsigned n = 0;

    while (type->make[n]) {
        argv[n] = type->make[n];
        n++;
    }
    argv[n] = uuid;
    argv[n + 1] = disk->path;

    n = 1;
    do {
        assert_ok(decide(disk, name, &verdict));
        assert_true(verdict.format);
        assert_ok(format_mark_set(disk->path, OWN));
        n += step;
    } while (kill_at_write(argv, n - step));
    print_message("%s: killed %u times, at one of %u writes each\n", name, (n - 1) / step, n);
    assert_true(n > 20 * step);

    /* It has ended well, but so far nobody has said so. */
    assert_ok(decide(disk, name, &verdict));
    assert_true(verdict.format);
    assert_ok(format_mark_clear(disk->path, OWN));
    assert_ok(decide(disk, name, &verdict));
    assert_false(verdict.format);
    assert_true(verdict.record_due);
    assert_mountable(disk, name);
}

static void test_ext4_killed_at_every_write(void **state)
{
    (void)state;
    kill_at_writes("ext4", SMALLEST_EXT4, 1);
}

static void test_ext2_and_ext3_killed_at_writes(void **state)
{
    (void)state;
    kill_at_writes("ext3", SMALLEST_EXT4, 13);
    kill_at_writes("ext2", SMALLEST_EXT4, 1);
}

static void test_xfs_killed_at_every_write(void **state)
{
    (void)state;
    kill_at_writes("xfs", SMALLEST_XFS, 1);
}

/* ---- as a task ---- */

struct run {
    const struct filesystem *type;
    const char *device;
    bool check;
    struct err *err;
};

static void runs(struct task *self, void *arg)
{
    struct run *run = arg;

    run->err = run->check ? filesystem_check(self, run->type, run->device, NULL)
                          : filesystem_make(self, run->type, run->device, OWN, NULL);
}

static struct err *run_alone(const char *type, const char *device, bool check)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new();
    struct run run = {.type = filesystem_find(type), .device = device, .check = check};

    loop_spawn(loop, "caller", runs, &run);
    loop_run(loop);
    return run.err;
}

static void test_make_and_check(void **state)
{
    static const struct {
        const char *type;
        uint64_t size;
    } rows[] = {{"ext4", SMALLEST_EXT4},
                {"ext3", SMALLEST_EXT4},
                {"ext2", SMALLEST_EXT4},
                {"xfs", SMALLEST_XFS}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(disk_freep) struct disk *disk = disk_new(rows[i].size);
        struct disk_observation found;

        assert_ok(run_alone(rows[i].type, disk->path, false));
        assert_ok(probe_device(disk->fd, &found));
        assert_int_equal(found.content, DISK_FILESYSTEM);
        assert_string_equal(found.type, rows[i].type);
        assert_string_equal(found.uuid, OWN);
        assert_ok(run_alone(rows[i].type, disk->path, true));
        assert_mountable(disk, rows[i].type);
    }
}

/* Damage that can be repaired without asking, and damage that cannot. */
static void test_check_of_a_damaged_file_system(void **state)
{
    CLEANUP(disk_freep) struct disk *disk = disk_new(SMALLEST_EXT4);

    (void)state;
    assert_ok(run_alone("ext4", disk->path, false));
    RUN("debugfs", "-w", "-R", "ssv state 2", disk->path); /* has errors: look at everything */
    RUN("debugfs", "-w", "-R", "ssv free_blocks_count 1", disk->path);
    assert_ok(run_alone("ext4", disk->path, true));
    assert_mountable(disk, "ext4");

    RUN("debugfs", "-w", "-R", "ssv state 2", disk->path);
    for (uint64_t at = 256 * 1024; at < 8 * MIB; at += 512)
        disk_write(disk, at, "garbage garbage garbage garbage");
    struct err *err = run_alone("ext4", disk->path, true);
    assert_non_null(err);
    assert_int_equal(err_kind(err), ERR_INTERNAL);
    assert_non_null(strstr(err_message(err), "e2fsck ended with status 4: "));
    assert_non_null(strstr(err_message(err), "UNEXPECTED INCONSISTENCY"));
    err_free(err);
}

static void test_make_where_it_cannot_be(void **state)
{
    CLEANUP(disk_freep) struct disk *disk = disk_new(16 * MIB);

    (void)state;
    struct err *err = run_alone("xfs", disk->path, false); /* too small for it */
    assert_non_null(err);
    assert_int_equal(err_kind(err), ERR_INTERNAL);
    assert_non_null(strstr(err_message(err), "mkfs.xfs ended with status 1: "));
    err_free(err);
}

/* mkfs's own look, after ours. */
static void test_xfs_is_not_made_over_anything(void **state)
{
    CLEANUP(disk_freep) struct disk *disk = disk_new(SMALLEST_XFS);

    (void)state;
    RUN("mkfs.ext4", "-q", disk->path);
    uint64_t before = disk_checksum(disk);
    struct err *err = run_alone("xfs", disk->path, false);
    assert_non_null(err);
    assert_non_null(strstr(err_message(err), "appears to contain an existing filesystem"));
    err_free(err);
    assert_int_equal(disk_checksum(disk), before);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(filesystem_find("ext4")->name, "ext4");
    assert_string_equal(filesystem_find("xfs")->mount_option, "nouuid");
    assert_null(filesystem_find("btrfs"));
    assert_null(filesystem_find(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ext4_killed_at_every_write),
        cmocka_unit_test(test_ext2_and_ext3_killed_at_writes),
        cmocka_unit_test(test_xfs_killed_at_every_write),
        cmocka_unit_test(test_make_and_check),
        cmocka_unit_test(test_check_of_a_damaged_file_system),
        cmocka_unit_test(test_make_where_it_cannot_be),
        cmocka_unit_test(test_xfs_is_not_made_over_anything),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, workplace_setup, workplace_teardown);
}
