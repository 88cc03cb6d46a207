/* Whether a disk is still what its record says. */
#include "controller/attachment/disk_look.h"

#include "lib/api/azdisk.pb-c.h"
#include "test/unit/object.h"

#define RECORD(notes)                                                                              \
    "{'metadata':{'name':'v'},'spec':{'parameters':{'skuName':'Premium_LRS'}},'status':{"          \
    "'detail':{'volume_id':'/d','capacity_bytes':4294967296},'annotation':{" notes "}}}"
#define SEEN "'" ANNOTATION_DISK_SKU "':'Premium_LRS','" ANNOTATION_DISK_MAX_SHARES "':'1'"

#define ID ",'" ANNOTATION_DISK_UNIQUE_ID "':'1'"

static char one[] = "1", other[] = "2";
static char premium[] = "Premium_LRS", premium_upper[] = "PREMIUM_LRS", v2[] = "PremiumV2_LRS";

static const struct {
    const char *record;
    struct cloud_disk disk;
    bool differs;
} rows[] = {
    {RECORD(SEEN), {.sku = premium, .max_shares = 1, .size_bytes = 4 * GIB}, false},
    {RECORD(SEEN), {.sku = premium_upper, .max_shares = 1, .size_bytes = 4 * GIB}, false},
    {RECORD(SEEN), {.sku = v2, .max_shares = 1, .size_bytes = 4 * GIB}, true},
    {RECORD(SEEN), {.sku = premium, .max_shares = 2, .size_bytes = 4 * GIB}, true},
    {RECORD(SEEN), {.sku = premium, .max_shares = 1, .size_bytes = 5 * GIB}, true},
    {RECORD(SEEN), {.sku = premium, .max_shares = 1, .size_bytes = 0}, false}, /* not said */
    {RECORD(""), {.sku = premium, .max_shares = 1, .size_bytes = 4 * GIB}, false},
    {RECORD(SEEN ID), {.sku = premium, .max_shares = 1, .unique_id = one}, false},
    {RECORD(SEEN ID), {.sku = premium, .max_shares = 1, .unique_id = other}, true},
    {RECORD(""), {.sku = v2, .max_shares = 1, .size_bytes = 4 * GIB}, true},
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(kube_object_unrefp)
        struct kube_object *object =
            object_taken(&api__az_volume__descriptor, mem_strdup(rows[i].record));

        if (disk_differs(as_volume(object), &rows[i].disk) != rows[i].differs)
            fail_msg("row %zu", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
