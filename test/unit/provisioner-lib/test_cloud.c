/* Whether a snapshot that has the name of the one that is to be made is that one. */
#include "provisioner-lib/cloud.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

#define DISK "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/disks/a"

static const struct disk_creator own = {"disk.csi.azure.com", "3f0a8c1e"};

static const struct {
    const char *what, *disk_id;
    const char
        *copied_to; /* the region of one that is a copy; NULL: it is with its disk, in eastus */
    const char *location; /* NULL: that of the disk */
    bool is_to_be_copied;
    const char *error; /* NULL: it is the same */
} rows[] = {
    {"the same", DISK, NULL, NULL, false, NULL},
    {"the same, spelled otherwise",
     "/SUBSCRIPTIONS/s/resourceGroups/RG/providers/Microsoft.Compute/disks/A", NULL, NULL, false,
     NULL},
    {"of another disk", DISK "b", NULL, NULL, false, "is of disk " DISK "b, not of"},
    {"the region of the disk is asked for", DISK, NULL, "East US", false, NULL},
    {"another one is asked for", DISK, NULL, "westus", true, "in eastus"},
    {"a copy is asked for where the disk is", DISK, NULL, "eastus", true, "in eastus"},
    {"the same copy", DISK, "westus", "West US", true, NULL},
    {"a copy in a third region", DISK, "westeurope", "westus", true, "in westeurope"},
    {"a copy, and none is asked for", DISK, "westus", NULL, false, "in westus"},
};

static struct err *check(size_t row, const char *cluster)
{
    struct cloud_snapshot seen = {
        .id = mem_strdup("/snapshots/s"),
        .disk_id = mem_strdup(rows[row].disk_id),
        .region = mem_strdup(rows[row].copied_to ? rows[row].copied_to : "eastus"),
        .is_copy = rows[row].copied_to,
        .mark = disk_mark_copy(&(struct disk_mark){true, own.driver, cluster, NULL}),
    };
    struct snapshot_parameters parameters = {.location = mem_strdup(rows[row].location)};
    struct err *err = cloud_snapshot_check_same(
        &seen, &(struct cloud_snapshot_spec){
                   .name = "s",
                   .disk_id = DISK,
                   .parameters = &parameters,
                   .creator = own,
                   .source_id = rows[row].is_to_be_copied ? "/snapshots/s.local" : NULL,
               });

    cloud_snapshot_fini(&seen);
    snapshot_parameters_fini(&parameters);
    return err;
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(err_freep) struct err *err = check(i, own.cluster);
        CLEANUP(err_freep) struct err *others = check(i, "another");

        if (!err != !rows[i].error || (err && !strstr(err_message(err), rows[i].error)))
            fail_msg("%s: %s", rows[i].what, err ? err_message(err) : "the same");
        if (err)
            assert_int_equal(err_kind(err), ERR_EXISTS);
        assert_true(others && err_kind(others) == ERR_EXISTS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
