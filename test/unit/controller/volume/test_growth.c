/* Which disks can grow now, by what is on record of them and of their snapshots. */
#include "controller/volume/growth.h"

#include "lib/base/alloc.h"
#include "provisioner-lib/disk_sku.h"
#include "test/unit/controller/controller_of.h"

#define COPIED(percent) "'state':'Created','snapshotId':'/s','completionPercent':" percent

#define NOW "volume v cannot grow now: Azure is still copying data "
#define TO_DISK(percent) NOW "to its disk, and " percent " % is done; it grows as soon as all is"
#define TO_SNAPSHOT(percent)                                                                       \
    NOW "of its disk to snapshot saved, which would fail, and " percent                            \
        " % is done; it grows as soon as all is"

static const struct {
    const char *sku, *status;  /* more of the AzVolume's */
    const char *other, *saved; /* status of AzSnapshots: of another disk, and of this one */
    const char *what;          /* NULL: nothing is in the way */
} rows[] = {
    {"PremiumV2_LRS", "", COPIED("1"), NULL, NULL},
    {"PremiumV2_LRS", ",'completionPercent':40", "", NULL, TO_DISK("40")},
    {"PremiumV2_LRS", "", COPIED("1"), COPIED("100") ",'readyToUse':true", NULL},
    {"UltraSSD_LRS", "", "", COPIED("12"), TO_SNAPSHOT("12")},
    {"PremiumV2_LRS", "", "", COPIED("12") ",'readyToUse':true", TO_SNAPSHOT("12")},
    {"PremiumV2_LRS", "", "", "'state':'Creating'", TO_SNAPSHOT("0")},
    {"PremiumV2_LRS", "", "", "'state':'CreationFailed'", NULL},
    {"Premium_LRS", "", "", "'state':'Creating'", NULL},
};

/* Of an AzVolume on record with a kind and more of its status, and of two AzSnapshots. */
static const char cluster[] =
    "{'volumes':[{'metadata':{'name':'v'},'spec':{'volumeName':'v','parameters':{'skuName':'%s'},"
    "'capacityRange':{'required_bytes':10737418240}},'status':{'state':'Updating','detail':"
    "{'volume_id':'" GROUP_DISKS "V','capacity_bytes':4294967296}%s}}],'snapshots':[" SNAPSHOT(
        "other", "w", "%s") "%s" SNAPSHOT("saved", "v", "%s") "%s]}";

static void test_row(size_t i)
{
    bool saved = rows[i].saved != NULL;
    CLEANUP(freep)
    char *text = mem_printf(cluster, rows[i].sku, rows[i].status, rows[i].other, ",",
                            saved ? rows[i].saved : "'state':'CreationFailed'", "");
    CLEANUP(json_decrefp) json_t *json = json_of(text);
    const struct cluster_view view = view_of(json);
    struct controller controller = controller_of(&view);
    const struct kube_object *volume = view.volumes.items[0];
    struct volume_snapshot in = {0};

    growth_gather(&controller, as_volume(volume), &in);
    struct err *err = growth_check_possible(&controller, volume, 10);
    assert_true(in.updating && in.size_differs && in.grows_attached);
    assert_int_equal(in.copying, rows[i].what != NULL);
    if (rows[i].what)
        assert_fails(err, ERR_PRECONDITION, rows[i].what);
    else
        assert_ok(err);
    controller_fini(&controller);
    view_free(&view);
}

static void test_what_is_copied_is_waited_for(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        test_row(i);
}

/* ---- when Azure is asked ---- */

/* The record says what the disk was before it was converted. */
static struct err *change_converted(struct task *self, struct cloud *cloud, const char *disk_id,
                                    const struct cloud_disk_change *change)
{
    char sku[] = "PremiumV2_LRS";

    (void)self, (void)cloud, (void)disk_id;
    return change->check(change->ctx, &(struct cloud_disk){.sku = sku});
}

static void test_the_disk_counts_and_not_its_record(void **state)
{
    static const struct cloud_ops ops = {.disk_change = change_converted};
    struct cloud cloud = {&ops};

    (void)state;
    CLEANUP(freep)
    char *text = mem_printf(cluster, "Premium_LRS", "", COPIED("1"), ",", "'state':'Creating'", "");
    CLEANUP(json_decrefp) json_t *json = json_of(text);
    const struct cluster_view view = view_of(json);
    struct controller controller = controller_of(&view);
    controller.cloud = &cloud;
    assert_fails(growth_carry_out(NULL, &controller, view.volumes.items[0]), ERR_BUSY,
                 "snapshot saved of disk " GROUP_DISKS "V has been begun meanwhile");
    controller_fini(&controller);
    view_free(&view);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_copied_is_waited_for),
        cmocka_unit_test(test_the_disk_counts_and_not_its_record),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
