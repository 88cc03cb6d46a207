/* What the audit reads from a cloud that refuses this and that: nothing may look as if it were gone
 * because it could not be read. */
#include "provisioner-lib/audit/scan.h"

#include <stdlib.h>

#include "lib/base/list.h"
#include "provisioner-lib/audit/view_source.h"
#include "test/unit/cluster_text.h"

#define OTHER_DISKS "/subscriptions/s/resourceGroups/other/providers/Microsoft.Compute/disks/"

/* In group "rg", where the driver makes disks, there is v; its owners are node a and VM x. */
struct fake_cloud {
    struct cloud cloud;
    enum err_kind list;       /* of group "rg" */
    enum err_kind list_other; /* of group "other" */
    enum err_kind vm;         /* x */
    unsigned scans;           /* of VMs */
};

/* Instead of a kind of error. */
#define READABLE ERR_KIND_COUNT

static struct err *error_of(enum err_kind kind, const char *what)
{
    return kind == READABLE ? NULL : err_new(kind, "%s", what);
}

static struct err *disk_id(struct cloud *cloud, const struct cloud_disk_spec *spec, char **ret_id)
{
    (void)cloud;
    *ret_id = mem_printf(GROUP_DISKS "%s", spec->name);
    return NULL;
}

static struct err *disk_list(struct task *self, struct cloud *cloud, const char *id,
                             struct cloud_disks *ret)
{
    const struct fake_cloud *fake = CONTAINER_OF(cloud, struct fake_cloud, cloud);
    struct cloud_disk disk = {.mark.is_there = true};

    (void)self;
    if (strstr(id, "/other/"))
        return error_of(fake->list_other, "other");
    TRY(error_of(fake->list, "rg"));
    disk.id = mem_strdup(GROUP_DISKS "v");
    ARRAY_ADD(disk.instances, disk.n_instances) = mem_strdup(GROUP_VMS "A");
    ARRAY_ADD(disk.instances, disk.n_instances) = mem_strdup(GROUP_VMS "x");
    ARRAY_ADD(ret->items, ret->n) = disk;
    return NULL;
}

static struct err *instance_id(struct cloud *cloud, const char *node, const char *provider_id,
                               char **ret_id)
{
    (void)cloud, (void)provider_id;
    *ret_id = mem_printf(GROUP_VMS "%s", node);
    return NULL;
}

static struct err *instance_look(struct task *self, struct cloud *cloud, const char *id,
                                 struct cloud_instance *ret)
{
    struct fake_cloud *fake = CONTAINER_OF(cloud, struct fake_cloud, cloud);

    (void)self;
    fake->scans++;
    TRY(error_of(fake->vm, "x"));
    *ret = cloud_instance_copy(&(struct cloud_instance){.id = id});
    return NULL;
}

static const struct cloud_ops ops = {.disk_id = disk_id,
                                     .disk_list = disk_list,
                                     .instance_id = instance_id,
                                     .instance_look = instance_look};

/* A volume on node a, and one whose disk is in the other group. */
static const char cluster[] = "{'volumes':[" VOLUME(
    "v", "1") ",{'metadata':{'name':'w'},'status':{'detail':{'volume_id':'" OTHER_DISKS
              "w'}}}],'nodes':[" NODE("a", "True", "") "]}";

/* ---- disks ---- */

static const struct {
    const char *what;
    enum err_kind list, list_other, vm;
    const char *found; /* disks, places that may not be listed, foreign VMs */
    enum err_kind failure;
} rows[] = {
    {"all can be read", READABLE, READABLE, READABLE, "1 disks, 0 unlisted, x exists", READABLE},
    {"an owner is gone", READABLE, READABLE, ERR_NOT_FOUND, "1 disks, 0 unlisted, x is gone",
     READABLE},
    {"an owner may not be looked at", READABLE, READABLE, ERR_DENIED,
     "1 disks, 0 unlisted, x exists", READABLE},
    {"an owner cannot be looked at", READABLE, READABLE, ERR_UNAVAILABLE, "", ERR_UNAVAILABLE},
    {"a place may not be listed", READABLE, ERR_DENIED, READABLE, "1 disks, 1 unlisted, x exists",
     READABLE},
    {"a place is gone", READABLE, ERR_NOT_FOUND, READABLE, "1 disks, 0 unlisted, x exists",
     READABLE},
    {"a place cannot be listed", READABLE, ERR_UNAVAILABLE, READABLE, "", ERR_UNAVAILABLE},
    {"nothing may be listed", ERR_DENIED, ERR_DENIED, READABLE, "0 disks, 2 unlisted", READABLE},
    {"the first place cannot be listed", ERR_THROTTLED, READABLE, READABLE, "", ERR_THROTTLED},
};

static void expect_found(const struct disk_scan *scan, const char *expected, const char *what)
{
    const struct foreign_vm *x = scan->n_foreign_vms ? &scan->foreign_vms[0] : NULL;
    CLEANUP(freep)
    char *found = mem_printf("%zu disks, %zu unlisted%s", scan->disks.n, scan->n_unlisted,
                             !x          ? ""
                             : x->exists ? ", x exists"
                                         : ", x is gone");

    assert_in_range(scan->n_foreign_vms, 0, 1);
    if (x)
        assert_string_equal(x->id, GROUP_VMS "x");
    if (strcmp(found, expected) != 0)
        fail_msg("%s: expected %s, found %s", what, expected, found);
}

static void test_disks(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fake_cloud fake = {.cloud = {&ops},
                                  .list = rows[i].list,
                                  .list_other = rows[i].list_other,
                                  .vm = rows[i].vm};
        CLEANUP(json_decrefp) json_t *json = json_of(cluster);
        CLEANUP(view_free) struct cluster_view view = view_of(json);
        CLEANUP(disk_scan_fini) struct disk_scan scan = {0};
        CLEANUP(view_source_fini) struct view_source of;

        view_source_init(&of, &view);
        CLEANUP(err_freep)
        struct err *err = scan_disks(NULL, &fake.cloud, &of.source, &scan);
        assert_int_equal(err ? err_kind(err) : READABLE, rows[i].failure);
        if (!err)
            expect_found(&scan, rows[i].found, rows[i].what);
    }
}

/* ---- a machine ---- */

static void test_a_machine(void **state)
{
    static const struct {
        enum err_kind vm;
        bool found;
        enum err_kind failure;
    } machines[] = {
        {READABLE, true, READABLE},
        {ERR_NOT_FOUND, false, READABLE},
        {ERR_DENIED, false, ERR_DENIED},
        {ERR_UNAVAILABLE, false, ERR_UNAVAILABLE},
    };
    CLEANUP(json_decrefp) json_t *json = json_of(cluster);
    CLEANUP(view_free) struct cluster_view view = view_of(json);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(machines); i++) {
        struct fake_cloud fake = {.cloud = {&ops}, .vm = machines[i].vm};
        CLEANUP(cloud_instance_fini) struct cloud_instance machine = {0};
        bool found = false;
        CLEANUP(err_freep)
        struct err *err = scan_machine(NULL, &fake.cloud, view.nodes.items[0], &machine, &found);

        assert_int_equal(err ? err_kind(err) : READABLE, machines[i].failure);
        assert_int_equal(found, machines[i].found);
        assert_int_equal(fake.scans, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_disks),
        cmocka_unit_test(test_a_machine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
