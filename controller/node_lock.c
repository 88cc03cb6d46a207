#include "controller/node_lock.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/base/log.h"

enum { RETRY_MS = 1000 };

struct node_lock {
    struct loop *loop;
    struct sockaddr_un address;
    socklen_t length;
    int fd; /* bound: the lock is held; -1: not yet */
    struct timer retry;
};

static bool take(struct node_lock *lock)
{
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd >= 0 && bind(fd, (struct sockaddr *)&lock->address, lock->length) == 0) {
        lock->fd = fd;
        return true;
    }
    if (fd >= 0)
        close(fd);
    return false;
}

static void try_again(void *ctx)
{
    struct node_lock *lock = ctx;

    if (take(lock)) {
        log_info("the other controller in this node's network has exited; this controller's "
                 "sidecars may start");
        return;
    }
    loop_start_timer(lock->loop, &lock->retry, loop_deadline(lock->loop, RETRY_MS), try_again,
                     lock);
}

struct node_lock *node_lock_new(struct loop *loop, const char *name)
{
    struct node_lock *lock = mem_alloc(sizeof *lock);
    char *path = lock->address.sun_path; /* begins with a NUL, which makes it abstract */

    lock->loop = loop;
    lock->fd = -1;
    lock->address.sun_family = AF_UNIX;
    snprintf(path + 1, sizeof lock->address.sun_path - 1, "azdisk-controller/%s", name);
    lock->length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(path + 1));
    if (!take(lock)) {
        log_info("another controller is running in this node's network; this controller's sidecars "
                 "wait for it to exit");
        try_again(lock);
    }
    return lock;
}

void node_lock_free(struct node_lock *lock)
{
    if (!lock)
        return;
    loop_stop_timer(lock->loop, &lock->retry);
    if (lock->fd >= 0)
        close(lock->fd);
    free(lock);
}

bool node_lock_is_held(const struct node_lock *lock)
{
    return lock->fd >= 0;
}
