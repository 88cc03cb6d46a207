/* Where the audit looks for snapshots, in a cloud that refuses this and that. */
#include "provisioner-lib/audit/snapshot_scan.h"

#include <stdlib.h>
#include <strings.h>

#include "lib/base/list.h"
#include "provisioner-lib/audit/view_source.h"
#include "test/unit/cluster_text.h"

#define IN(group, kind, name)                                                                      \
    "/subscriptions/s/resourceGroups/" group "/providers/Microsoft.Compute/" kind "/" name

/* In each group there are two snapshots. */
struct fake_cloud {
    struct cloud cloud;
    enum err_kind list; /* of group "other" */
    char listed[256];   /* groups */
};

/* Instead of a kind of error. */
#define READABLE ERR_KIND_COUNT

static struct err *disk_id(struct cloud *cloud, const struct cloud_disk_spec *spec, char **ret_id)
{
    (void)cloud;
    *ret_id = mem_printf(GROUP_DISKS "%s", spec->name);
    return NULL;
}

/* In the group of its disk. */
static struct err *snapshot_id(struct cloud *cloud, const struct cloud_snapshot_spec *spec,
                               char **ret_id)
{
    const char *end = strstr(spec->disk_id, "/disks/");

    (void)cloud;
    if (!end)
        return err_new(ERR_INVALID, "%s", spec->disk_id);
    *ret_id =
        mem_printf("%.*s/snapshots/%s", (int)(end - spec->disk_id), spec->disk_id, spec->name);
    return NULL;
}

static struct err *snapshot_list(struct task *self, struct cloud *cloud, const char *id,
                                 struct cloud_snapshots *ret)
{
    struct fake_cloud *fake = CONTAINER_OF(cloud, struct fake_cloud, cloud);
    const char *group = strstr(id, "resourceGroups/") + strlen("resourceGroups/");
    int length = (int)strcspn(group, "/");
    size_t used = strlen(fake->listed);

    (void)self;
    snprintf(fake->listed + used, sizeof fake->listed - used, "%.*s ", length, group);
    if (strncasecmp(group, "other/", 6) == 0 && fake->list != READABLE)
        return err_new(fake->list, "other");
    for (const char *name = "zA"; *name; name++)
        ARRAY_ADD(ret->items, ret->n) = (struct cloud_snapshot){
            .id =
                mem_printf("%.*s/snapshots/%c", (int)(strstr(id, "/snapshots/") - id), id, *name)};
    return NULL;
}

static const struct cloud_ops ops = {
    .disk_id = disk_id, .snapshot_id = snapshot_id, .snapshot_list = snapshot_list};

/* clang-format off */
static const char cluster[] =
    "{'volumes':[" VOLUME("v", "1") ",{'metadata':{'name':'w'},'status':{'detail':{'volume_id':'"
    IN("Other", "disks", "w") "'}}},{'metadata':{'name':'x'},'status':{'detail':{'volume_id':'x'}}}],"
    "'snapshots':[{'metadata':{'name':'s'},'status':{'snapshotId':'" IN("third", "snapshots", "s")
    "'}},{'metadata':{'name':'t'},'status':{'snapshotId':'" IN("THIRD", "snapshots", "t") "'}},"
    "{'metadata':{'name':'u'}}]}";
/* clang-format on */

static const struct {
    enum err_kind list;
    size_t found, unlisted;
    enum err_kind failure;
} rows[] = {
    {READABLE, 6, 0, READABLE},
    {ERR_NOT_FOUND, 4, 0, READABLE},
    {ERR_DENIED, 4, 1, READABLE},
    {ERR_UNAVAILABLE, 0, 0, ERR_UNAVAILABLE},
};

static void expect_scan(const struct snapshot_scan *scan, size_t row)
{
    assert_int_equal(scan->snapshots.n, rows[row].found);
    assert_int_equal(scan->n_unlisted, rows[row].unlisted);
    assert_non_null(snapshot_scan_find(scan, IN("RG", "snapshots", "Z")));
    assert_non_null(snapshot_scan_find(scan, IN("third", "snapshots", "a")));
    assert_null(snapshot_scan_find(scan, IN("rg", "snapshots", "b")));
    assert_int_equal(snapshot_scan_find(scan, IN("other", "snapshots", "a")) != NULL,
                     rows[row].list == READABLE);
    assert_int_equal(snapshot_scan_unlisted(scan, IN("other", "snapshots", "a")) != NULL,
                     rows[row].unlisted);
    assert_null(snapshot_scan_unlisted(scan, IN("rg", "snapshots", "a")));
}

static void test_places(void **state)
{
    CLEANUP(json_decrefp) json_t *json = json_of(cluster);
    CLEANUP(view_free) struct cluster_view view = view_of(json);
    CLEANUP(view_source_fini) struct view_source of;

    (void)state;
    view_source_init(&of, &view);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fake_cloud fake = {.cloud = {&ops}, .list = rows[i].list};
        CLEANUP(snapshot_scan_fini) struct snapshot_scan scan = {0};
        CLEANUP(err_freep)
        struct err *err = scan_snapshots(NULL, &fake.cloud, &of.source, &scan);

        assert_int_equal(err ? err_kind(err) : READABLE, rows[i].failure);
        if (err)
            continue;
        assert_string_equal(fake.listed, "rg Other third ");
        expect_scan(&scan, i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_places)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
