#include "lib/base/file.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

static char path[] = "/tmp/test_file.XXXXXX";

static int make(void **state)
{
    int fd = mkstemp(path);

    (void)state;
    if (fd < 0 || write(fd, "a\0bc\n", 5) != 5)
        return -1;
    return close(fd);
}

static int drop(void **state)
{
    (void)state;
    return unlink(path);
}

static void test_reads_every_byte(void **state)
{
    CLEANUP(freep) char *text = NULL;
    size_t length;

    (void)state;
    assert_ok(file_read(path, 5, &text, &length));
    assert_int_equal(length, 5);
    assert_memory_equal(text, "a\0bc\n", 6); /* and a NUL */
}

static void test_an_empty_file_is_empty_text(void **state)
{
    CLEANUP(freep) char *text = NULL;

    (void)state;
    assert_ok(file_read("/dev/null", 0, &text, NULL));
    assert_string_equal(text, "");
}

static void test_faults_name_the_file(void **state)
{
    CLEANUP(freep) char *too_large = mem_printf("%s: larger than 4 bytes", path);
    char *text = NULL;

    (void)state;
    assert_fails(file_read(path, 4, &text, NULL), ERR_EXHAUSTED, too_large);
    assert_fails(file_read("/dev/zero", 100000, &text, NULL), ERR_EXHAUSTED,
                 "/dev/zero: larger than 100000 bytes");
    assert_fails(file_read("/no/such/file", 4, &text, NULL), ERR_NOT_FOUND,
                 "/no/such/file: No such file or directory");
    assert_fails(file_read("/tmp", 4, &text, NULL), ERR_INTERNAL, "/tmp: Is a directory");
    assert_null(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_every_byte),
        cmocka_unit_test(test_an_empty_file_is_empty_text),
        cmocka_unit_test(test_faults_name_the_file),
    };

    return cmocka_run_group_tests(tests, make, drop);
}
