/* Which mounts are taken for ones that kubelet has forgotten. */
#include "node/left_mount.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

#define STAGED "/var/lib/kubelet/plugins/kubernetes.io/csi/disk.csi.azure.com/1f/globalmount"

static const struct {
    const char *target, *root, *other; /* NULL: it is mounted nowhere, or nowhere else */
    bool is_staging;
} cases[] = {
    {STAGED, "/", NULL, true},
    {NULL, NULL, NULL, false},
    {STAGED, "/", "/var/lib/kubelet/pods/1/volumes/kubernetes.io~csi/pvc/mount", false},
    {STAGED, "/data", NULL, false}, /* a part of it, as pods have it */
    {"/mnt", "/", NULL, false},
    {"/mnt/not-globalmount", "/", NULL, false},
    {STAGED "/more", "/", NULL, false},
};

static void test_what_was_staged_and_nothing_else(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP(mount_entry_fini)
        struct mount_entry newest = {.target = mem_strdup(cases[i].target),
                                     .root = mem_strdup(cases[i].root)};
        CLEANUP(mount_entry_fini) struct mount_entry other = {.target = mem_strdup(cases[i].other)};

        if (left_mount_is_staging(&newest, &other) != cases[i].is_staging)
            fail_msg("case %zu", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_was_staged_and_nothing_else)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
