/* Paths as rows; then what may stand in the way at one. */
#include "lib/rpc/endpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/base/alloc.h"

#define TEN "0123456789"
#define FIFTY TEN TEN TEN TEN TEN

static const struct {
    const char *endpoint, *path;
} rows[] = {
    {"unix:///csi/csi.sock", "/csi/csi.sock"},
    {"unix:/csi/csi.sock", "/csi/csi.sock"},
    {"/csi/csi.sock", "/csi/csi.sock"},
    {"/" FIFTY FIFTY "123456", "/" FIFTY FIFTY "123456"},
    {"/" FIFTY FIFTY "1234567", NULL}, /* 108 bytes */
    {"unix://csi/csi.sock", NULL},
    {"csi.sock", NULL},
    {"tcp://127.0.0.1:10000", NULL},
    {"unix:///csi/", NULL},
    {"unix:", NULL},
    {"/", NULL},
    {"", NULL},
};

static void test_paths(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *path = NULL;
        CLEANUP(err_freep) struct err *err = endpoint_path(rows[i].endpoint, &path);

        if (err) {
            assert_null(rows[i].path);
            assert_int_equal(err_kind(err), ERR_INVALID);
            assert_non_null(strstr(err_message(err), rows[i].endpoint));
        } else if (!rows[i].path || strcmp(path, rows[i].path) != 0) {
            fail_msg("%s: got %s", rows[i].endpoint, path);
        }
    }
}

static int setup_folder(void **state)
{
    char *folder = mem_strdup("/tmp/endpoint-XXXXXX");

    *state = folder;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    CLEANUP(freep) char *folder = *state;

    return rmdir(folder);
}

/* A socket at `path`; whether somebody listens on it. */
static int make_socket(const char *path, bool listens)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    if (listens)
        assert_int_equal(listen(fd, 0), 0);
    return fd;
}

static void expect_reason(const char *path, const char *reason)
{
    CLEANUP(err_freep) struct err *err = endpoint_check(path);

    assert_non_null(err);
    assert_int_equal(err_kind(err), ERR_UNAVAILABLE);
    if (!strstr(err_message(err), reason) || !strstr(err_message(err), path))
        fail_msg("expected \"%s\", got \"%s\"", reason, err_message(err));
}

static void expect_free(const char *path)
{
    CLEANUP(err_freep) struct err *err = endpoint_check(path);

    if (err)
        fail_msg("%s", err_message(err));
}

static void test_free_path(void **state)
{
    CLEANUP(freep) char *path = mem_printf("%s/s", (char *)*state);

    expect_free(path);
}

static void test_socket_left_behind(void **state)
{
    CLEANUP(freep) char *path = mem_printf("%s/s", (char *)*state);

    close(make_socket(path, true));
    expect_free(path);
    unlink(path);
}

static void test_socket_in_use(void **state)
{
    CLEANUP(freep) char *path = mem_printf("%s/s", (char *)*state);
    int server = make_socket(path, true);

    expect_reason(path, "another process is listening on it");
    /* That filled its queue; a listener that has no time is one all the same. */
    expect_reason(path, "another process is listening on it");
    expect_reason(path, "another process is listening on it");
    close(server);
    unlink(path);
}

static void test_file_in_the_way(void **state)
{
    CLEANUP(freep) char *path = mem_printf("%s/s", (char *)*state);

    close(open(path, O_CREAT | O_WRONLY, 0600));
    expect_reason(path, "exists and is not a socket");
    unlink(path);
}

/* A link to a socket is not a socket: what gRPC would replace is the link. */
static void test_link_in_the_way(void **state)
{
    CLEANUP(freep) char *path = mem_printf("%s/s", (char *)*state);

    assert_int_equal(symlink("elsewhere", path), 0);
    expect_reason(path, "exists and is not a socket");
    unlink(path);
}

static void test_folder_is_missing(void **state)
{
    CLEANUP(freep) char *path = mem_printf("%s/no/s", (char *)*state);

    expect_reason(path, "No such file or directory");
}

static void test_folder_is_a_file(void **state)
{
    CLEANUP(freep) char *file = mem_printf("%s/f", (char *)*state);
    CLEANUP(freep) char *path = mem_printf("%s/s", file);

    close(open(file, O_CREAT | O_WRONLY, 0600));
    expect_reason(path, "is not a directory");
    unlink(file);
}

/* The check is made for the real user; root is let in anywhere. */
static void test_folder_is_not_writable(void **state)
{
    CLEANUP(freep) char *path = mem_printf("%s/s", (char *)*state);
    uid_t uid = getuid();

    assert_int_equal(chmod(*state, 0500), 0);
    if (uid == 0)
        assert_int_equal(setreuid(65534, (uid_t)-1), 0);
    expect_reason(path, "cannot write to directory");
    assert_int_equal(setreuid(uid, (uid_t)-1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),
        cmocka_unit_test_setup_teardown(test_free_path, setup_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_socket_left_behind, setup_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_socket_in_use, setup_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_file_in_the_way, setup_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_link_in_the_way, setup_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_folder_is_missing, setup_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_folder_is_a_file, setup_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_folder_is_not_writable, setup_folder, remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
