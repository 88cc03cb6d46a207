/* The audit finds by the controller's stores what it finds in lists, and lets others go on
 * meanwhile. */
#include "controller/audit/source.h"

#include "lib/rt/loop.h"
#include "lib/rt/wait.h"
#include "provisioner-lib/audit/compare.h"
#include "provisioner-lib/audit/view_source.h"
#include "test/unit/controller/controller_of.h"

/* ---- a scan, as a task ---- */

struct scan {
    const struct cluster_source *source;
    struct findings records, disks, snapshots;
    struct disk_scan of_disks;
    bool ended;
};

static char ids[][100] = {GROUP_SNAPSHOTS "begun", GROUP_SNAPSHOTS "s", GROUP_SNAPSHOTS "stray"};
static char disk_of_all[] = GROUP_DISKS "v";

static void run_scan(struct task *self, void *arg)
{
    struct scan *scan = arg;
    const struct disk_mark own = {.is_there = true, .driver = DRIVER, .cluster = CLUSTER};
    struct cloud_snapshot items[COUNT_OF(ids)];
    const struct snapshot_scan of_snapshots = {.snapshots = {items, COUNT_OF(ids)}};
    const struct snapshot_contents contents = {.state = CONTENTS_READ};

    for (size_t i = 0; i < COUNT_OF(ids); i++)
        items[i] = (struct cloud_snapshot){.id = ids[i], .disk_id = disk_of_all, .mark = own};

    assert_ok(compare_records(self, scan->source, &scan->records));
    assert_ok(compare_disks(self, scan->source, &scan->of_disks, &scan->disks));
    assert_ok(compare_contents(self, scan->source, &contents, &scan->snapshots));
    assert_ok(compare_snapshots(self, scan->source, &of_snapshots, &contents, &scan->snapshots));
    scan->ended = true;
}

static void scan_fini(struct scan *scan)
{
    findings_fini(&scan->records);
    findings_fini(&scan->disks);
    findings_fini(&scan->snapshots);
    disk_scan_fini(&scan->of_disks);
}

/* ---- the same as of lists ---- */

/* Of every kind one or more, and things that are in order. */
/* clang-format off */
static const char cluster[] =
    "{'volumes':[" VOLUME("v", "1") "," VOLUME("w", "1") "," VOLUME("x", "1") "],"
    "'pvs':[" PV("pv", "V") "," PV("pv2", "v") "," IN_TREE_PV("pw", "w") "," PV("orphan", "none") "],"
    "'volume_attachments':[" VOLUME_ATTACHMENT("p", "pv2", "a", "true") "," VOLUME_ATTACHMENT("q", "orphan", "a", "true") ","
    INLINE_VOLUME_ATTACHMENT("r", "w", "b", "true") "],"
    "'snapshots':[" SNAPSHOT("s", "v", SNAPSHOT_CREATED("S", "100")) "," SNAPSHOT("begun", "v", "'state':'Creating'") ","
    SNAPSHOT("lost", "v", SNAPSHOT_CREATED("lost", "100")) "],"
    "'attachments':["
    ATTACHED("v", "a", "Primary", "0") "," ATTACHED("v", "b", "Replica", "0") ","
    ATTACHED("w", "a", "Primary", "1") "," ATTACHED("w", "b", "Replica", "1") ","
    ATTACHED("x", "a", "Primary", "2") "," ATTACHED("x", "b", "Primary", "2") ","
    ATTACHED("x", "c", "Replica", "2") "," ATTACHED("gone", "a", "Replica", "3") "],"
    "'nodes':[" NODE("a", "True", IN_USE("v")) "," NODE("b", "True", IN_USE("w")) "]}";
/* clang-format on */

static const char *const disks[] = {GROUP_DISKS "V", GROUP_DISKS "w", GROUP_DISKS "NONE",
                                    GROUP_DISKS "stray"};

static struct disk_scan disk_scan_of_all(void)
{
    struct disk_scan scan = {0};

    for (size_t i = 0; i < COUNT_OF(disks); i++)
        ARRAY_ADD(scan.disks.items, scan.disks.n) = (struct cloud_disk){
            .id = mem_strdup(disks[i]),
            .max_shares = 2,
            .sku = mem_strdup("Premium_LRS"),
            .mark = {
                .is_there = true, .driver = mem_strdup(DRIVER), .cluster = mem_strdup(CLUSTER)}};
    disk_scan_index(&scan);
    return scan;
}

static void assert_same(const struct findings *found, const struct findings *expected)
{
    assert_int_equal(found->n, expected->n);
    for (size_t i = 0; i < found->n; i++)
        assert_string_equal(found->items[i].key, expected->items[i].key);
}

static void test_as_lists(void **state)
{
    CLEANUP(json_decrefp) json_t *json = json_of(cluster);
    CLEANUP(view_free) struct cluster_view view = view_of(json);
    CLEANUP(controller_fini) struct controller controller = controller_of(&view);
    CLEANUP(view_source_fini) struct view_source of_lists;
    CLEANUP(scan_fini) struct scan expected = {.of_disks = disk_scan_of_all()};
    CLEANUP(scan_fini) struct scan found = {.of_disks = disk_scan_of_all()};
    struct audit_source of_stores;

    (void)state;
    view_source_init(&of_lists, &view);
    audit_source_init(&of_stores, &controller);
    expected.source = &of_lists.source;
    found.source = &of_stores.source;
    run_scan(NULL, &expected);
    run_scan(NULL, &found);
    assert_int_equal(expected.records.n, 6);   /* two of "x", "w" twice, "q" and "gone" */
    assert_int_equal(expected.disks.n, 2);     /* "x" has none, "stray" is of nobody */
    assert_int_equal(expected.snapshots.n, 4); /* "s" and "lost" have no content, and so on */
    assert_same(&found.records, &expected.records);
    assert_same(&found.snapshots, &expected.snapshots);
    assert_same(&found.disks, &expected.disks);
}

/* ---- many ---- */

enum { MANY = 2000 };

static struct kube_object *nth_volume(size_t n)
{
    CLEANUP(freep) char *text = mem_printf("{'metadata':{'name':'v%zu','resourceVersion':'1'}}", n);
    CLEANUP(json_decrefp) json_t *json = json_of(text);
    struct kube_object *object;

    assert_ok(kube_object_decode(&api__az_volume__descriptor, json, &object));
    return object;
}

static struct kube_object *nth_attachment(size_t n)
{
    CLEANUP(freep)
    char *text = mem_printf("{'metadata':{'name':'a%zu','resourceVersion':'1'},'spec':{'volumeName'"
                            ":'v%zu','nodeName':'a'}}",
                            n, n);
    CLEANUP(json_decrefp) json_t *json = json_of(text);
    struct kube_object *object;

    assert_ok(kube_object_decode(&api__az_volume_attachment__descriptor, json, &object));
    return object;
}

static void put(struct store *store, struct kube_object *object)
{
    store_put(store, object);
    kube_object_unref(object);
}

static void drop(struct store *store, struct kube_object *object)
{
    store_remove(store, object);
    kube_object_unref(object);
}

struct meanwhile {
    struct controller *controller;
    const bool *ended;
    size_t turns;
};

/* A volume goes with its attachment whenever the scan lets others go on. */
static void change(struct task *self, void *arg)
{
    struct meanwhile *meanwhile = arg;

    while (!*meanwhile->ended) {
        drop(meanwhile->controller->attachments, nth_attachment(7 * meanwhile->turns));
        drop(meanwhile->controller->volumes, nth_volume(7 * meanwhile->turns++));
        assert_ok(task_sleep(self, 1));
    }
}

static void test_others_go_on_meanwhile(void **state)
{
    static const struct cluster_view none = {.driver_name = DRIVER};
    CLEANUP(controller_fini) struct controller controller = controller_of(&none);
    CLEANUP(scan_fini) struct scan scan = {0};
    struct meanwhile meanwhile = {.controller = &controller, .ended = &scan.ended};
    struct audit_source source;
    struct loop *loop = loop_new_virtual(1);

    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        put(controller.volumes, nth_volume(i));
        put(controller.attachments, nth_attachment(i));
    }
    disk_scan_index(&scan.of_disks);
    audit_source_init(&source, &controller);
    scan.source = &source.source;
    loop_spawn(loop, "scan", run_scan, &scan);
    loop_spawn(loop, "change", change, &meanwhile);
    loop_run(loop);
    assert_true(scan.ended);
    assert_in_range(meanwhile.turns, 8, MANY / 7);
    assert_int_equal(scan.records.n, 0);
    assert_int_equal(scan.disks.n, 0);
    loop_free(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_lists),
        cmocka_unit_test(test_others_go_on_meanwhile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
