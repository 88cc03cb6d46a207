/* What the comparisons of AzSnapshots, VolumeSnapshotContents and snapshots find, and what they
 * take for being in order. */
#include "lib/base/buffer.h"
#include "provisioner-lib/audit/compare.h"
#include "provisioner-lib/audit/view_source.h"
#include "test/unit/cluster_text.h"

#define IN(group, name)                                                                            \
    "/subscriptions/s/resourceGroups/" group "/providers/Microsoft.Compute/snapshots/" name
#define S(name) GROUP_SNAPSHOTS name
#define RECORD(name) SNAPSHOT(name, "d", SNAPSHOT_CREATED(name, "100"))
/* In another region than the disk. */
#define ELSEWHERE(status) SNAPSHOT("a", "d", status)
#define LOCAL "'local':{'snapshotId':'" S("a.local") "'}"
#define ANNOUNCED "'state':'Created','snapshotId':'" S("a") "'"
#define CONTENT(name, id) "{'metadata':{'name':'" name "'},'status':{'snapshotHandle':'" id "'}}"
#define STATIC_CONTENT(name, id)                                                                   \
    "{'metadata':{'name':'" name "'},'spec':{'source':{'snapshotHandle':'" id "'}}}"

static char denied_reason[] = "no right to list";
static char denied_id[] = S("any");
static struct unlisted_snapshots denied = {denied_id, denied_reason};

/* clang-format off */
static const struct {
    const char *what, *snapshots, *contents;
    int state;            /* of the contents */
    const char *snapshot; /* NULL: none */
    enum disk_origin origin;
    bool denied;
    const char *found;
} rows[] = {
    {"nothing", "", "", CONTENTS_READ, NULL, DISK_UNMARKED, false, ""},
    {"all three", RECORD("a"), CONTENT("c", S("A")), CONTENTS_READ, S("a"), DISK_OWN, false, ""},
    {"one that was deleted in Azure", RECORD("a"), CONTENT("c", S("a")), CONTENTS_READ, NULL, DISK_UNMARKED, false,
     "RecordWithoutSnapshot AzSnapshot/a "},
    {"one that may not be listed", RECORD("a"), CONTENT("c", S("a")), CONTENTS_READ, NULL, DISK_UNMARKED, true,
     "SnapshotsNotListed /subscriptions/s/resourceGroups/rg"},
    {"two that may not be listed", RECORD("a") "," RECORD("b"), "", CONTENTS_NOT_DEFINED, NULL, DISK_UNMARKED, true,
     "SnapshotsNotListed /subscriptions/s/resourceGroups/rg"},
    {"a place without any, that may not be listed", "", "", CONTENTS_READ, NULL, DISK_UNMARKED, true, ""},
    {"one that goes",
     "{'metadata':{'name':'a','deletionTimestamp':'2026-01-01T00:00:00Z'},'status':{" SNAPSHOT_CREATED("a", "100") "}}",
     "", CONTENTS_READ, NULL, DISK_UNMARKED, false, ""},
    {"one that is begun", SNAPSHOT("a", "d", "'state':'Creating'"), "", CONTENTS_READ, NULL, DISK_UNMARKED, false, ""},
    {"the same, and it is there", SNAPSHOT("a", "d", "'state':'Creating'"), "", CONTENTS_READ, S("a"), DISK_OWN, false,
     ""},
    {"without a VolumeSnapshotContent", RECORD("a"), CONTENT("c", S("b")), CONTENTS_READ, S("a"), DISK_OWN, false,
     "SnapshotWithoutContent AzSnapshot/a "},
    {"with one that has yet to name it",
     "{'metadata':{'name':'a'},'spec':{'snapshotName':'a','sourceVolumeId':'" GROUP_DISKS "d',"
     "'parameters':{'csi.storage.k8s.io/volumesnapshotcontent/name':'c'}},'status':{" SNAPSHOT_CREATED("a", "1") "}}",
     "{'metadata':{'name':'c'}}", CONTENTS_READ, S("a"), DISK_OWN, false, ""},
    {"where there is no such thing", RECORD("a"), "", CONTENTS_NOT_DEFINED, S("a"), DISK_OWN, false, ""},
    {"where it cannot be known", RECORD("a"), "", CONTENTS_DENIED, S("a"), DISK_OWN, false, ""},
    {"one of nobody", RECORD("a"), CONTENT("c", S("a")), CONTENTS_READ, S("x"), DISK_OWN, false,
     "RecordWithoutSnapshot AzSnapshot/a ; SnapshotWithoutRecord " S("x")},
    {"one of an older driver, which may be this one's", "", "", CONTENTS_READ, S("x"), DISK_OF_OLDER_DRIVER, false,
     "SnapshotWithoutRecord " S("x")},
    {"where there are no VolumeSnapshotContents", "", "", CONTENTS_NOT_DEFINED, S("x"), DISK_OWN, false,
     "SnapshotWithoutRecord " S("x")},
    {"where nobody knows what they name", "", "", CONTENTS_DENIED, S("x"), DISK_OWN, false, ""},
    {"one that only a VolumeSnapshotContent names", "", CONTENT("c", S("X")), CONTENTS_READ, S("x"), DISK_OWN, false, ""},
    {"one that was given", "", STATIC_CONTENT("c", S("x")), CONTENTS_READ, S("x"), DISK_OWN, false, ""},
    {"another cluster's", "", "", CONTENTS_READ, S("x"), DISK_OF_OTHERS, false, ""},
    {"somebody's", "", "", CONTENTS_READ, S("x"), DISK_UNMARKED, false, ""},
    {"one to be copied", ELSEWHERE("'state':'Creating'," LOCAL), "", CONTENTS_READ, S("a.local"), DISK_OWN, false, ""},
    {"one spelled otherwise", ELSEWHERE("'state':'Creating'," LOCAL), "", CONTENTS_READ, S("A.LOCAL"), DISK_OWN, false, ""},
    {"one whose copy is announced", ELSEWHERE(ANNOUNCED "," LOCAL), CONTENT("c", S("a")), CONTENTS_READ, S("a.local"),
     DISK_OWN, false, ""},
    {"one that is being copied", ELSEWHERE(SNAPSHOT_CREATED("a", "7") "," LOCAL), CONTENT("c", S("a")), CONTENTS_READ,
     S("a.local"), DISK_OWN, false, "RecordWithoutSnapshot AzSnapshot/a "},
    {"one that was copied", ELSEWHERE(SNAPSHOT_CREATED("a", "100") ",'local':{}"), CONTENT("c", S("a")), CONTENTS_READ,
     S("a.local"), DISK_OWN, false, "RecordWithoutSnapshot AzSnapshot/a ; SnapshotWithoutRecord " S("a.local")},
    {"one that is elsewhere", ELSEWHERE("'state':'Creating'," LOCAL), "", CONTENTS_READ, IN("other", "a.local"), DISK_OWN,
     false, "SnapshotWithoutRecord " IN("other", "a.local")},
    {"one of nobody beside a place that may not be listed", "", "", CONTENTS_READ, IN("other", "x"), DISK_OWN, true,
     "SnapshotWithoutRecord " IN("other", "x")},
};
/* clang-format on */

static const struct disk_mark marks[] = {
    [DISK_UNMARKED] = {0},
    [DISK_OF_OLDER_DRIVER] = {.is_there = true},
    [DISK_OF_OTHERS] = {.is_there = true, .driver = DRIVER, .cluster = "another"},
    [DISK_OWN] = {.is_there = true, .driver = DRIVER, .cluster = CLUSTER},
};

static void contents_of(const json_t *json, int state, struct snapshot_contents *ret)
{
    const struct object_list list = object_list_of(json, "contents", VOLUME_SNAPSHOT_CONTENTS.type);

    snapshot_contents_of((struct kube_object **)(uintptr_t)list.items, list.n, ret);
    ret->state = state;
}

static void assert_found(const struct findings *found, size_t row)
{
    struct buffer text;

    buffer_init(&text, 1 << 16);
    for (size_t i = 0; i < found->n; i++)
        buffer_printf(&text, "%s%s", i ? "; " : "", found->items[i].key);
    CLEANUP(freep) char *keys = buffer_take(&text);
    if (strcmp(keys, rows[row].found) != 0)
        fail_msg("%s:\nexpected %s\nfound    %s", rows[row].what, rows[row].found, keys);
}

static void test_snapshots(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep)
        char *text =
            mem_printf("{'snapshots':[%s],'contents':[%s]}", rows[i].snapshots, rows[i].contents);
        CLEANUP(json_decrefp) json_t *json = json_of(text);
        CLEANUP(view_free) struct cluster_view view = view_of(json);
        CLEANUP(snapshot_contents_fini) struct snapshot_contents contents;
        CLEANUP(findings_fini) struct findings found = {0};
        CLEANUP(view_source_fini) struct view_source of;
        char disk[] = GROUP_DISKS "d";
        struct cloud_snapshot snapshot = {.id = (char *)(uintptr_t)rows[i].snapshot,
                                          .disk_id = disk,
                                          .mark = marks[rows[i].origin]};
        const struct snapshot_scan scan = {.snapshots = {&snapshot, snapshot.id != NULL},
                                           .unlisted = &denied,
                                           .n_unlisted = rows[i].denied};

        contents_of(json, rows[i].state, &contents);
        view_source_init(&of, &view);
        assert_ok(compare_contents(NULL, &of.source, &contents, &found));
        assert_ok(compare_snapshots(NULL, &of.source, &scan, &contents, &found));
        assert_found(&found, i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_snapshots)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
