#include "test/azsim/imds_listeners.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/rt/group.h"
#include "test/azsim/model/vm.h"

enum { LOOK_EVERY_MS = 300, BACKLOG = 32, IMDS_PORT = 80 };

struct listener {
    struct arm_imds imds; /* what its handler works on; vm is its own copy */
    dev_t device;         /* of the namespace: which one it listens in */
    ino_t inode;
    struct http_server *server;
    UT_hash_handle hh;
    char name[]; /* of the VM */
};

struct imds_listeners {
    struct arm *arm;
    struct listener *by_vm;
    struct task_group tasks;
    bool looked; /* at least once at every VM */
    struct waiters waiters;
};

/* ---- a socket in another namespace ---- */

struct opening {
    const char *namespace;
    int fd;
    struct err *err;
};

static int listen_here(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(IMDS_PORT)};
    int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -1;
    inet_pton(AF_INET, "169.254.169.254", &address.sin_addr);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &on, sizeof on); /* the address may come later */
    if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

/* On a thread of its own, which ends in the namespace that it entered. */
static void *open_in_namespace(void *arg)
{
    struct opening *opening = arg;
    int namespace = open(opening->namespace, O_RDONLY | O_CLOEXEC);

    if (namespace < 0 || setns(namespace, CLONE_NEWNET) < 0)
        opening->err = err_new(ERR_UNAVAILABLE, "%s: %s", opening->namespace, strerror(errno));
    if (namespace >= 0)
        close(namespace);
    if (opening->err)
        return NULL;
    opening->fd = listen_here();
    if (opening->fd < 0)
        opening->err = err_new(ERR_UNAVAILABLE, "169.254.169.254:80 in %s: %s", opening->namespace,
                               strerror(errno));
    return NULL;
}

static struct err *open_socket(const char *namespace, int *ret_fd)
{
    struct opening opening = {.namespace = namespace, .fd = -1};
    pthread_t thread;

    if (pthread_create(&thread, NULL, open_in_namespace, &opening) != 0)
        return err_new(ERR_UNAVAILABLE, "no thread for %s", namespace);
    pthread_join(thread, NULL);
    *ret_fd = opening.fd;
    return opening.err;
}

/* ---- one listener ---- */

static const struct http_route routes[] = {{NULL, "*", arm_imds_handle}};

static struct err *start(struct imds_listeners *listeners, const struct vm *vm,
                         const struct stat *namespace)
{
    size_t name_size = strlen(vm->spec.name) + 1;
    struct listener *listener = mem_alloc(sizeof *listener + name_size);
    int fd = -1;

    memcpy(listener->name, vm->spec.name, name_size);
    listener->imds = (struct arm_imds){listeners->arm, listener->name};
    listener->device = namespace->st_dev;
    listener->inode = namespace->st_ino;
    struct err *err = open_socket(vm->spec.network_namespace, &fd);
    if (!err) {
        const struct http_server_config config = {.listen_fd = fd,
                                                  .routes = routes,
                                                  .n_routes = COUNT_OF(routes),
                                                  .ctx = &listener->imds};
        err = http_server_new(arm_model(listeners->arm)->loop, &config, &listener->server);
    }
    if (err) {
        free(listener);
        return err;
    }
    HASH_ADD_STR(listeners->by_vm, name, listener);
    log_info("VM %s has its metadata service in %s", vm->spec.name, vm->spec.network_namespace);
    return NULL;
}

static void stop(struct task *self, struct imds_listeners *listeners, struct listener *listener)
{
    HASH_DEL(listeners->by_vm, listener);
    http_server_close(self, listener->server);
    free(listener);
}

/* ---- watching ---- */

static void look_at(struct task *self, struct imds_listeners *listeners, const struct vm *vm)
{
    struct listener *listener;
    struct stat namespace;

    HASH_FIND_STR(listeners->by_vm, vm->spec.name, listener);
    bool there = stat(vm->spec.network_namespace, &namespace) == 0;
    bool same = listener && there && listener->device == namespace.st_dev &&
                listener->inode == namespace.st_ino;

    if (same || (!listener && !there))
        return;
    if (listener) {
        log_info("VM %s: the namespace %s is gone", vm->spec.name, vm->spec.network_namespace);
        stop(self, listeners, listener); /* it yields: the next look sees what is new */
        return;
    }
    struct err *err = start(listeners, vm, &namespace);
    if (err) /* a namespace that is being made is a file that is none yet */
        log_debug("VM %s: %s", vm->spec.name, err_message(err));
    err_free(err);
}

static void look(struct task *self, struct imds_listeners *listeners)
{
    struct model *model = arm_model(listeners->arm);
    CLEANUP(json_decrefp) json_t *names = json_array();
    size_t i;
    json_t *name;

    HASH_FOREACH(model->vms, vm) {
        if (vm->spec.network_namespace)
            json_array_append_new(names, json_string(vm->spec.name));
    }
    json_array_foreach(names, i, name) {
        const struct vm *vm = vm_find_by_name(model, json_string_value(name));

        if (vm)
            look_at(self, listeners, vm);
    }
    HASH_FOREACH(listeners->by_vm, listener) {
        if (!vm_find_by_name(model, listener->name)) {
            stop(self, listeners, listener);
            return; /* it yielded: the list may be another */
        }
    }
}

static void watch(struct task *self, void *arg)
{
    struct imds_listeners *listeners = arg;

    while (!task_is_cancelled(self)) {
        look(self, listeners);
        listeners->looked = true;
        waiters_wake(&listeners->waiters);
        err_free(task_sleep(self, LOOK_EVERY_MS));
    }
    HASH_FOREACH(listeners->by_vm, listener) {
        stop(self, listeners, listener);
    }
}

struct imds_listeners *imds_listeners_new(struct arm *arm)
{
    struct imds_listeners *listeners = mem_alloc(sizeof *listeners);

    listeners->arm = arm;
    group_init(&listeners->tasks, arm_model(arm)->loop);
    waiters_init(&listeners->waiters);
    group_spawn(&listeners->tasks, "metadata services", watch, listeners);
    return listeners;
}

unsigned imds_listeners_count(const struct imds_listeners *listeners)
{
    return HASH_COUNT(listeners->by_vm);
}

void imds_listeners_settle(struct task *self, struct imds_listeners *listeners)
{
    while (!listeners->looked)
        wait_uninterruptible(self, &listeners->waiters);
}

void imds_listeners_close(struct task *self, struct imds_listeners *listeners)
{
    group_close(self, &listeners->tasks);
    free(listeners);
}
