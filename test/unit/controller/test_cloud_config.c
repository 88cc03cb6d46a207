/* What the program does for its secrets before it has any. */
#include "controller/cloud_config.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "test/unit/expect.h"

static void test_the_kernel_writes_no_core(void **state)
{
    (void)state;
    assert_int_equal(prctl(PR_GET_DUMPABLE), 0);
}

static void test_what_openssl_moves_and_frees(void **state)
{
    char *text = OPENSSL_strdup("content");

    (void)state;
    text = OPENSSL_realloc(text, 100000);
    assert_string_equal(text, "content");
    text = OPENSSL_realloc(text, 4);
    assert_memory_equal(text, "cont", 4);
    assert_null(OPENSSL_realloc(text, 0));
    OPENSSL_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_kernel_writes_no_core),
        cmocka_unit_test(test_what_openssl_moves_and_frees),
    };

    cloud_config_guard_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
