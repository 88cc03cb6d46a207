/* Which disks without an AzVolume are deleted. */
#include "controller/volume/adoption.h"

#include "controller/cache/indexes.h"
#include "test/unit/cluster_text.h"

static const struct {
    enum adoption_pv pv;
    enum disk_origin origin;
    bool is_deletable;
} rows[] = {
    {ADOPTION_NO_PV, DISK_UNMARKED, false},
    {ADOPTION_NO_PV, DISK_OF_OLDER_DRIVER, false},
    {ADOPTION_NO_PV, DISK_OF_OTHERS, false},
    {ADOPTION_NO_PV, DISK_OWN, true},
    {ADOPTION_PV_PROVISIONED, DISK_UNMARKED, true}, /* in-tree: its tag is another one */
    {ADOPTION_PV_PROVISIONED, DISK_OF_OLDER_DRIVER, true},
    {ADOPTION_PV_PROVISIONED, DISK_OF_OTHERS, true}, /* moved here, with its PersistentVolume */
    {ADOPTION_PV_PROVISIONED, DISK_OWN, true},
    {ADOPTION_PV_BY_HAND, DISK_UNMARKED, false},
    {ADOPTION_PV_BY_HAND, DISK_OF_OLDER_DRIVER, false},
    {ADOPTION_PV_BY_HAND, DISK_OF_OTHERS, false},
    {ADOPTION_PV_BY_HAND, DISK_OWN, false},
};

static void test_deletable(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (adoption_is_deletable(rows[i].pv, rows[i].origin) != rows[i].is_deletable)
            fail_msg("row %zu", i);
}

/* ---- what the PersistentVolume says ---- */

#define ELSEWHERE "/subscriptions/s/resourceGroups/other/providers/Microsoft.Compute/disks/"
#define CSI_OF(driver, handle) "'csi':{'driver':'" driver "','volumeHandle':'" handle "'}"
#define IN_TREE_OF(handle) "'azureDisk':{'diskName':'v','diskURI':'" handle "'}"
#define PV_OF(name, by, source)                                                                    \
    "{'metadata':{'name':'" name "','annotations':{'pv.kubernetes.io/provisioned-by':'" by         \
    "'}},'spec':{" source "}}"

static const struct {
    const char *what, *pvs;
    enum adoption_pv says;
} said[] = {
    {"none", "", ADOPTION_NO_PV},
    {"provisioned", PV_OF("p", DRIVER, CSI_OF(DRIVER, GROUP_DISKS "V")), ADOPTION_PV_PROVISIONED},
    {"by hand", PV_OF("p", "", CSI_OF(DRIVER, GROUP_DISKS "v")), ADOPTION_PV_BY_HAND},
    {"another provisioner's", PV_OF("p", "x", CSI_OF(DRIVER, GROUP_DISKS "v")),
     ADOPTION_PV_BY_HAND},
    {"another driver's", PV_OF("p", DRIVER, CSI_OF("x", GROUP_DISKS "v")), ADOPTION_NO_PV},
    {"in-tree", PV_OF("p", "kubernetes.io/azure-disk", IN_TREE_OF(GROUP_DISKS "v")),
     ADOPTION_PV_PROVISIONED},
    {"in-tree by hand", PV_OF("p", "", IN_TREE_OF(GROUP_DISKS "v")), ADOPTION_PV_BY_HAND},
    {"in-tree's word for a CSI volume",
     PV_OF("p", "kubernetes.io/azure-disk", CSI_OF(DRIVER, GROUP_DISKS "v")), ADOPTION_PV_BY_HAND},
    {"of a disk of that name elsewhere", PV_OF("p", DRIVER, CSI_OF(DRIVER, ELSEWHERE "v")),
     ADOPTION_NO_PV},
    {"of both",
     PV_OF("p", DRIVER, CSI_OF(DRIVER, ELSEWHERE "v")) "," PV_OF("q", "",
                                                                 CSI_OF(DRIVER, GROUP_DISKS "v")),
     ADOPTION_PV_BY_HAND},
};

static void test_pv(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(said); i++) {
        CLEANUP(freep) char *text = mem_printf("{'pvs':[%s]}", said[i].pvs);
        CLEANUP(json_decrefp) json_t *json = json_of(text);
        CLEANUP(view_free) struct cluster_view view = view_of(json);
        struct controller controller = {
            .settings = {.driver_name = DRIVER},
            .volumes = store_new(&AZ_VOLUMES),
            .attachments = store_new(&AZ_VOLUME_ATTACHMENTS),
            .snapshots = store_new(&AZ_SNAPSHOTS),
            .pods = store_new(&PODS),
            .persistent_volumes = store_new(&PERSISTENT_VOLUMES),
            .volume_attachments = store_new(&VOLUME_ATTACHMENTS),
        };

        indexes_add(&controller);
        for (size_t k = 0; k < view.persistent_volumes.n; k++)
            store_put(controller.persistent_volumes, view.persistent_volumes.items[k]);
        enum adoption_pv says = adoption_pv_of(&controller, GROUP_DISKS "v");
        if (says != said[i].says)
            fail_msg("%s: %d", said[i].what, (int)says);
        store_free(controller.volumes);
        store_free(controller.attachments);
        store_free(controller.snapshots);
        store_free(controller.pods);
        store_free(controller.persistent_volumes);
        store_free(controller.volume_attachments);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deletable),
        cmocka_unit_test(test_pv),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
