/* A name server that swallows every question, as when it is gone: who asks waits no longer than he
 * wants to, and nobody else waits at all. */
#include "lib/http/client.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/rt/wait.h"
#include "test/unit/lib/http/on_loop.h"

/* How long the C library waits for an answer, and how long the request does. */
enum { LOOKUP_MS = 20 * 1000, REQUEST_MS = 300 };

static int server = -1;
static char name_server[INET_ADDRSTRLEN];

/* At an address of its own: name servers have one port, and the tests of two checkouts may run at
 * once. */
static void make_server(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(53)};
    unsigned own = (unsigned)getpid();

    snprintf(name_server, sizeof name_server, "127.%u.%u.%u", 64 + (own >> 16 & 63), own >> 8 & 255,
             own & 255);
    server = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_int_equal(inet_pton(AF_INET, name_server, &address.sin_addr), 1);
    assert_int_equal(bind(server, (struct sockaddr *)&address, sizeof address), 0);
}

/* For this process: its mounts are its own. */
static void use_server(void)
{
    char path[] = "/tmp/azuredisk-resolv-XXXXXX";
    int fd = mkstemp(path);

    assert_true(dprintf(fd, "nameserver %s\noptions timeout:20 attempts:1\n", name_server) > 0);
    close(fd);
    assert_int_equal(unshare(CLONE_NEWNS), 0);
    assert_int_equal(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
    assert_int_equal(mount(path, "/etc/resolv.conf", NULL, MS_BIND, NULL), 0);
    unlink(path);
}

static void ask(struct task *self, struct on_loop *env)
{
    CLEANUP(http_response_fini) struct http_response response = {0};
    struct http_request request =
        on_loop_request(env, "GET", "http://nowhere.azuredisk.test/", REQUEST_MS);
    uint64_t began = loop_now(env->loop);
    char question[512];

    CLEANUP(err_freep)
    struct err *err = http_exchange(self, env->transport, &request, &response);
    assert_non_null(err);
    assert_true(recv(server, question, sizeof question, 0) > 0);
    assert_ok(task_sleep(self, 1)); /* the transfer is ended behind the task's back */
    assert_true(loop_now(env->loop) - began < LOOKUP_MS / 2);
}

static void test_a_lookup_that_is_given_up_is_not_waited_for(void **state)
{
    (void)state;
    make_server();
    use_server();
    run_on_loop(NULL, ask, NULL);
    close(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_lookup_that_is_given_up_is_not_waited_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
