/* Which cluster it is if nobody says so: that of the person's own kubeconfig, if there is one. */
#include "azdiskctl/flags.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

/* Of a home that is empty but for the kubeconfig, if there is one. free() it. */
static char *chosen(bool has_kubeconfig)
{
    char home[] = "/tmp/azdiskctl-flags-XXXXXX", program[] = "azdiskctl", map[] = "map";
    char *const argv[] = {program, map};
    struct flags flags = {0};

    assert_non_null(mkdtemp(home));
    CLEANUP(freep) char *folder = mem_printf("%s/.kube", home);
    CLEANUP(freep) char *path = mem_printf("%s/config", folder);
    if (has_kubeconfig) {
        assert_int_equal(mkdir(folder, 0700), 0);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        assert_int_equal(fclose(file), 0);
    }
    setenv("HOME", home, 1);
    assert_ok(flags_read(COUNT_OF(argv), argv, &flags));
    (void)unlink(path);
    (void)rmdir(folder);
    assert_int_equal(rmdir(home), 0);
    size_t length = strlen(home);
    return mem_strdup(strncmp(flags.kubeconfig, home, length) == 0 ? flags.kubeconfig + length
                                                                   : flags.kubeconfig);
}

static void test_which_kubeconfig(void **state)
{
    (void)state;
    unsetenv("KUBECONFIG");
    for (int in_a_pod = 0; in_a_pod < 2; in_a_pod++) {
        if (in_a_pod)
            setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
        CLEANUP(freep) char *without = chosen(false), *with = chosen(true);

        assert_string_equal(without, "");
        assert_string_equal(with, "/.kube/config");
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_which_kubeconfig)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
