/* Which AzVolume a disk has, or gets. */
#include "controller/cache/volume_name.h"

#include "test/unit/controller/controller_of.h"

#define OTHER_DISKS "/subscriptions/s/resourceGroups/other/providers/Microsoft.Compute/disks/"
#define HASHED "v.c41f35b7b90310c7"

#define RECORD(name, disk)                                                                         \
    "{'metadata':{'name':'" name "'},'spec':{'volumeName':'v'},"                                   \
    "'status':{'detail':{'volume_id':'" disk "'}}}"
#define TO_BE(name, more) "{'metadata':{'name':'" name "'},'spec':{'volumeName':'v'" more "}}"
#define MADE_FOR_CLAIM(name, disk)                                                                 \
    "{'metadata':{'name':'" name "','annotations':{'pv.kubernetes.io/provisioned-by':'" DRIVER     \
    "'}},'spec':{'csi':{'driver':'" DRIVER "','volumeHandle':'" disk "'}}}"
#define LEFT(volume, disk)                                                                         \
    "{'metadata':{'name':'left'},'spec':{'volumeName':'" volume "','volume_id':'" disk "'}}"

/* clang-format off */
static const struct {
    const char *what, *cluster, *here, *there; /* names for the disk in either group */
} rows[] = {
    {"nothing is on record", "{}", "v", "v"},
    {"this one is", "{'volumes':[" RECORD("v", GROUP_DISKS "v") "]}", "v", HASHED},
    {"spelled otherwise", "{'volumes':[" RECORD("v", GROUP_DISKS "V") "]}", "v", HASHED},
    {"both are", "{'volumes':[" RECORD("v", GROUP_DISKS "v") "," RECORD(HASHED, OTHER_DISKS "v") "]}", "v", HASHED},
    {"the other one is left", "{'volumes':[" RECORD(HASHED, OTHER_DISKS "v") "]}", "v", HASHED},
    {"the other one was written, and nothing is known of it", "{'volumes':[" TO_BE(HASHED, "") "]}", "v", HASHED},
    {"somebody else has named it", "{'volumes':[" RECORD("My.v", OTHER_DISKS "v") "]}", "v", "My.v"},
    {"this one is to be made", "{'volumes':[" TO_BE("v", "") "]}", "v", HASHED},
    {"the other one is to be made",
     "{'volumes':[" TO_BE("v", ",'parameters':{'resourceGroup':'other'}") "]}", "*", "v"},
    {"one is to be made, nobody knows where",
     "{'volumes':[" TO_BE("v", ",'parameters':{'skuName':'none'}") "]}", "v", "v"},
    {"the record has lost its disk, and a PersistentVolume names it",
     "{'volumes':[" TO_BE("v", "") "],'pvs':[" MADE_FOR_CLAIM("p", OTHER_DISKS "v") "]}", "*", "v"},
    {"the record is lost, an attachment is left",
     "{'attachments':[" LEFT("v", OTHER_DISKS "v") "]}", "*", "v"},
    {"that of the other one is lost",
     "{'attachments':[" LEFT(HASHED, OTHER_DISKS "v") "]}", "v", HASHED},
};
/* clang-format on */

/* "*": the name with the hash of whatever id. */
static void assert_name(const struct controller *controller, const char *disk, const char *expected,
                        const char *what)
{
    CLEANUP(freep) char *name = NULL;

    assert_ok(volume_name_of_disk(controller, disk, &name));
    if (strcmp(expected, "*") == 0 ? strncmp(name, "v.", 2) != 0 || strcmp(name, HASHED) == 0
                                   : strcmp(name, expected) != 0)
        fail_msg("%s: %s has %s, not %s", what, disk, name, expected);
}

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(json_decrefp) json_t *json = json_of(rows[i].cluster);
        CLEANUP(view_free) struct cluster_view view = view_of(json);
        CLEANUP(controller_fini) struct controller controller = controller_of(&view);

        assert_name(&controller, GROUP_DISKS "v", rows[i].here, rows[i].what);
        assert_name(&controller, OTHER_DISKS "v", rows[i].there, rows[i].what);
    }
}

/* People and Azure's own tools spell ids as they like. */
static void test_ids_in_capitals(void **state)
{
    static const char *const clusters[] = {
        "{'volumes':[" RECORD("v", GROUP_DISKS "v") "]}",
        "{'volumes':[" RECORD("v", GROUP_DISKS "v") "," RECORD(HASHED, OTHER_DISKS "v") "]}",
        "{'attachments':[" LEFT("v", GROUP_DISKS "v") "]}",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(clusters); i++) {
        CLEANUP(json_decrefp) json_t *json = json_of(clusters[i]);
        CLEANUP(view_free) struct cluster_view view = view_of(json);
        CLEANUP(controller_fini) struct controller controller = controller_of(&view);

        assert_name(&controller,
                    "/SUBSCRIPTIONS/S/RESOURCEGROUPS/OTHER/PROVIDERS/MICROSOFT.COMPUTE/DISKS/V",
                    HASHED, clusters[i]);
        assert_name(&controller,
                    "/SUBSCRIPTIONS/S/RESOURCEGROUPS/RG/PROVIDERS/MICROSOFT.COMPUTE/DISKS/V", "v",
                    clusters[i]);
    }
}

static void test_what_is_no_disk(void **state)
{
    CLEANUP(json_decrefp) json_t *json = json_of("{}");
    CLEANUP(view_free) struct cluster_view view = view_of(json);
    CLEANUP(controller_fini) struct controller controller = controller_of(&view);
    CLEANUP(freep) char *name = NULL;
    Api__PersistentVolumeSpec none = API__PERSISTENT_VOLUME_SPEC__INIT;

    (void)state;
    assert_fails(volume_name_of_disk(&controller, "v", &name), ERR_INVALID,
                 "volume id \"v\" is not the id of a managed disk");
    assert_null(volume_name_of_pv(&controller, &none));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_ids_in_capitals),
        cmocka_unit_test(test_what_is_no_disk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
