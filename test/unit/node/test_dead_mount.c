/* What is taken for a mount whose device is gone. */
#include "node/dead_mount.h"

#include <sys/sysmacros.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

static const struct {
    unsigned major;
    const char *root;
    bool kernel_has_it, dead;
} cases[] = {
    {8, "/", true, false},
    {8, "/", false, true},
    {259, "/", false, true},
    {0, "/", false, false}, /* of a file system without a device: none of the driver's */
    /* The node of a raw volume, in a file system that has no device. */
    {0, "/sdc", false, false},
    {0, "/sdc//deleted", false, true},
    {0, "/sdc//deleted/no", false, false},
    {0, "/c", false, false},
};

static void test_what_is_dead(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char *root = mem_strdup(cases[i].root);
        const struct mount_entry staged = {.device = makedev(cases[i].major, 32), .root = root};

        if (dead_mount_is(&staged, cases[i].kernel_has_it) != cases[i].dead)
            fail_msg("%u %s", cases[i].major, root);
        free(root);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_is_dead)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
