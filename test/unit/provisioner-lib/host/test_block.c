/* Claims of real devices, beside programs that are being started. */
#include "provisioner-lib/host/block.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/rt/thread_pool.h"
#include "test/unit/expect.h"
#include "test/unit/provisioner-lib/host/disk.h"

enum { A_MOMENT_MS = 50 };

/* What a worker of ours does while another thread starts a program: that has a copy of all
 * descriptors, for a moment. */
static pid_t start_slowly(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        thread_pool_pause(A_MOMENT_MS);
        _exit(0);
    }
    assert_true(pid > 0);
    return pid;
}

static void finish(pid_t pid)
{
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_another_claim_is_waited_for(void **state)
{
    CLEANUP(disk_freep) struct disk *disk = disk_new(MIB);
    struct block_claim second = BLOCK_CLAIM_NONE;
    int first = open(disk->path, O_RDWR | O_EXCL | O_CLOEXEC);

    (void)state;
    assert_true(first >= 0);
    pid_t pid = start_slowly();
    close(first);
    assert_int_equal(open(disk->path, O_RDONLY | O_EXCL | O_CLOEXEC), -1);
    assert_int_equal(errno, EBUSY);
    assert_ok(block_claim(disk->path, &second));
    block_claim_end(&second);
    finish(pid);
}

static void test_nobody_has_it_after_a_claim(void **state)
{
    CLEANUP(disk_freep) struct disk *disk = disk_new(MIB);
    struct block_claim claim = BLOCK_CLAIM_NONE;

    (void)state;
    assert_ok(block_claim(disk->path, &claim));
    pid_t pid = start_slowly();
    block_claim_end(&claim);
    CLEANUP(closep) int next = open(disk->path, O_RDWR | O_EXCL | O_CLOEXEC);
    assert_true(next >= 0);
    assert_int_equal(claim.fd, -1);
    block_claim_end(&claim); /* once is enough */
    finish(pid);
}

static void test_who_stays_is_no_moment(void **state)
{
    CLEANUP(disk_freep) struct disk *disk = disk_new(MIB);
    struct block_claim claim = BLOCK_CLAIM_NONE;
    CLEANUP(closep) int other = open(disk->path, O_RDWR | O_EXCL | O_CLOEXEC);

    (void)state;
    CLEANUP(freep) char *in_use = mem_printf("%s: the device is in use", disk->path);
    assert_fails(block_claim(disk->path, &claim), ERR_PRECONDITION, in_use);
    assert_int_equal(claim.fd, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_another_claim_is_waited_for),
        cmocka_unit_test(test_nobody_has_it_after_a_claim),
        cmocka_unit_test(test_who_stays_is_no_moment),
    };

    return cmocka_run_group_tests(tests, workplace_setup, workplace_teardown);
}
