/* What a failed creation has left in Azure, and what only an old record calls so. */
#include "controller/volume/failed_creation.h"

#include "controller/controller.h"
#include "lib/base/timestamp.h"
#include "test/unit/object.h"

#define MADE "2026-01-01T00:00:00Z"
#define FAILED(notes)                                                                              \
    "{'metadata':{'name':'v'},'spec':{'volumeName':'v'},'status':{'state':'CreationFailed',"       \
    "'annotation':{" notes "}}}"
#define UNTIL(time) FAILED("'" ANNOTATION_FORGET_AFTER "':'" time "'")

static struct kube_object *volume(const char *record)
{
    return object_taken(&api__az_volume__descriptor, mem_strdup(record));
}

static char vm[] = "/vm";
static char *vms[] = {vm};

static const struct {
    const char *record;
    const char *owned; /* NULL: not told */
    size_t n_vms;
    const char *why;
} rows[] = {
    {UNTIL("2026-01-01T00:10:00Z"), NULL, 0, NULL},
    {UNTIL("2026-01-01T00:10:00Z"), MADE, 0, NULL},
    {UNTIL("2026-01-01T00:10:00Z"), "2026-01-01T00:00:59Z", 0, NULL},
    {UNTIL("2026-01-01T00:10:00Z"), "2026-01-01T00:02:00Z", 0, "a VM has had it"},
    {UNTIL("2026-01-01T00:10:00Z"), NULL, 1, "a VM has it"},
    {UNTIL("2026-01-01T00:09:00Z"), NULL, 0, "it was made later"},
    {FAILED(""), NULL, 0, "it was made later"}, /* nobody knows */
};

static void test_which_disk_is_used(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(kube_object_unrefp) struct kube_object *object = volume(rows[i].record);
        const struct cloud_disk disk = {.made_us = timestamp_noted(MADE),
                                        .owned_us = timestamp_noted(rows[i].owned),
                                        .instances = vms,
                                        .n_instances = rows[i].n_vms};
        const char *why = failed_creation_disk_is_used(as_volume(object), &disk);

        if (!why != !rows[i].why || (why && strcmp(why, rows[i].why) != 0))
            fail_msg("row %zu: %s", i, why ? why : "it is not");
    }
}

static void test_which_is_forgotten(void **state)
{
    static const struct {
        const char *record;
        bool forgotten;
    } requests[] = {
        {FAILED("'" ANNOTATION_DELETE_REQUEST "':'creation-failed'"), true},
        {FAILED("'" ANNOTATION_DELETE_REQUEST "':'cloud-delete-volume'"), false},
        {FAILED(""), false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(requests); i++) {
        CLEANUP(kube_object_unrefp) struct kube_object *object = volume(requests[i].record);

        assert_int_equal(creation_is_forgotten(as_volume(object)), requests[i].forgotten);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_disk_is_used),
        cmocka_unit_test(test_which_is_forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
