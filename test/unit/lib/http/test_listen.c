/* Each row is an address and what is said about it. */
#include "lib/http/listen.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

static void test_addresses(void **state)
{
    static const struct {
        const char *address;
        enum err_kind kind;
        const char *fault;
    } rows[] = {
        {"127.0.0.1:0", 0, NULL},
        {"localhost:0", 0, NULL},
        {":0", 0, NULL},
        {"127.0.0.1", ERR_INVALID, "address \"127.0.0.1\" is not of the form host:port"},
        {"127.0.0.1:", ERR_INVALID, "address \"127.0.0.1:\" is not of the form host:port"},
        {"127.0.0.1:http", ERR_INVALID, "address \"127.0.0.1:http\" is not of the form host:port"},
        {"127.0.0.1:-1", ERR_INVALID, "address \"127.0.0.1:-1\" is not of the form host:port"},
        {"127.0.0.1:1x", ERR_INVALID, "address \"127.0.0.1:1x\" is not of the form host:port"},
        {"", ERR_INVALID, "address \"\" is not of the form host:port"},
        {"127.0.0.1:65536", ERR_INVALID,
         "address \"127.0.0.1:65536\": the port must be at most 65535"},
        {"no host:0", ERR_INVALID, "address \"no host:0\": Name or service not known"},
        {"192.0.2.1:0", ERR_UNAVAILABLE,
         "cannot listen on 192.0.2.1:0: Cannot assign requested address"},
        {"unix://socket", ERR_INVALID,
         "address \"unix://socket\": expected a path of less than 108 bytes"},
        {"unix:///no/such/folder/socket", ERR_UNAVAILABLE,
         "cannot listen on unix:///no/such/folder/socket: No such file or directory"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int fd = -1;
        struct err *err = listen_on(rows[i].address, &fd);

        if (rows[i].fault) {
            assert_fails(err, rows[i].kind, rows[i].fault);
            assert_int_equal(fd, -1);
            continue;
        }
        assert_ok(err);
        assert_int_not_equal(listen_port(fd), 0);
        close(fd);
    }
}

static void test_a_port_in_use_is_named(void **state)
{
    int first, second;

    (void)state;
    assert_ok(listen_on("127.0.0.1:0", &first));
    CLEANUP(freep) char *address = mem_printf("127.0.0.1:%u", listen_port(first));
    CLEANUP(freep)
    char *fault = mem_printf("cannot listen on %s: Address already in use", address);
    assert_fails(listen_on(address, &second), ERR_BUSY, fault);
    close(first);
    assert_ok(listen_on(":0", &first));
    CLEANUP(freep) char *every = mem_printf(":%u", listen_port(first));
    struct err *err = listen_on(every, &second);
    assert_int_equal(err_kind(err), ERR_BUSY);
    err_free(err);
    close(first);
}

/* ---- Unix sockets ---- */

static void test_a_socket_that_was_left_behind_is_replaced(void **state)
{
    char folder[] = "/tmp/test_listen.XXXXXX";
    int fd;

    (void)state;
    assert_non_null(mkdtemp(folder));
    CLEANUP(freep) char *address = mem_printf("unix://%s/socket", folder);
    for (int i = 0; i < 2; i++) {
        assert_ok(listen_on(address, &fd));
        assert_int_equal(listen_port(fd), 0);
        close(fd);
    }
    unlink(address + strlen("unix://"));
    assert_int_equal(mkdir(address + strlen("unix://"), 0700), 0);
    CLEANUP(freep) char *fault = mem_printf("cannot listen on %s: Address already in use", address);
    assert_fails(listen_on(address, &fd), ERR_UNAVAILABLE, fault);
    rmdir(address + strlen("unix://"));
    rmdir(folder);
}

/* As a client of that address family; whether it gets through. */
static bool can_connect(int family, unsigned port)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6,
                              .sin6_port = htons((uint16_t)port),
                              .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = socket(family, SOCK_STREAM, 0);
    int status = family == AF_INET ? connect(fd, (struct sockaddr *)&v4, sizeof v4)
                                   : connect(fd, (struct sockaddr *)&v6, sizeof v6);

    close(fd);
    return status == 0;
}

static bool has_ipv6(void)
{
    int fd;
    struct err *err = listen_on("[::1]:0", &fd);

    if (!err)
        close(fd);
    err_free(err);
    return !err;
}

static void test_no_host_is_every_address(void **state)
{
    int fd;

    (void)state;
    assert_ok(listen_on(":0", &fd));
    assert_true(can_connect(AF_INET, listen_port(fd)));
    if (has_ipv6())
        assert_true(can_connect(AF_INET6, listen_port(fd)));
    close(fd);
}

static void test_one_address_is_no_other(void **state)
{
    int fd;

    (void)state;
    assert_ok(listen_on("127.0.0.1:0", &fd));
    assert_true(can_connect(AF_INET, listen_port(fd)));
    assert_false(can_connect(AF_INET6, listen_port(fd)));
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_a_port_in_use_is_named),
        cmocka_unit_test(test_a_socket_that_was_left_behind_is_replaced),
        cmocka_unit_test(test_no_host_is_every_address),
        cmocka_unit_test(test_one_address_is_no_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
