#include "test/unit/provisioner-lib/host/quiet_network.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

/* A process in namespaces of its own, which says on `ready` that it is. */
static pid_t start_owner(int ready)
{
    pid_t owner = fork();

    if (owner != 0)
        return owner;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) || write(ready, "x", 1) != 1)
        _exit(1);
    for (;;)
        pause();
}

int quiet_network_enter(void)
{
    int own = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC), ends[2];
    char byte;

    assert_true(own >= 0);
    assert_int_equal(pipe(ends), 0);
    pid_t owner = start_owner(ends[1]);
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    close(ends[0]);

    CLEANUP(freep) char *path = mem_printf("/proc/%d/ns/net", (int)owner);
    int quiet = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(setns(quiet, CLONE_NEWNET), 0);
    close(quiet);
    kill(owner, SIGKILL);
    assert_int_equal(waitpid(owner, NULL, 0), owner);
    return own;
}

void quiet_network_leave(int own)
{
    assert_int_equal(setns(own, CLONE_NEWNET), 0);
    close(own);
}
