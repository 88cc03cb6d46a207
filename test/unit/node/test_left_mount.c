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

static const struct {
    enum err_kind why;
    bool is_final;
} refusals[] = {
    {ERR_INVALID, true},   {ERR_NOT_FOUND, true},    {ERR_PRECONDITION, true}, {ERR_INTERNAL, true},
    {ERR_EXISTS, true},    {ERR_OUT_OF_RANGE, true}, {ERR_BUSY, false},        {ERR_TIMEOUT, false},
    {ERR_CANCELED, false}, {ERR_UNAVAILABLE, false}, {ERR_EXHAUSTED, false},
};

static void test_after_which_refusals_kubelet_unstages_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refusals); i++)
        if (left_mount_is_final(refusals[i].why) != refusals[i].is_final)
            fail_msg("%s", err_kind_reason(refusals[i].why));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_staged_and_nothing_else),
        cmocka_unit_test(test_after_which_refusals_kubelet_unstages_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
