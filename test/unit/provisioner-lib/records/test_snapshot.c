/* What is read of an AzSnapshot, line by line. */
#include "provisioner-lib/records/snapshot.h"

#include "test/unit/object.h"

#define STATUS(text) ",'status':{" text "}"
/* Of one in another region. */
#define LOCAL(percent)                                                                             \
    ",'local':{'snapshotId':'/s/1.local','creationTime':'2026-01-01T00:00:00.000000Z',"            \
    "'completionPercent':" percent "}"
#define GOES ",'deletionTimestamp':'2026-01-01T00:00:00Z'"
#define CREATED(text) STATUS("'state':'Created','snapshotId':'/s/1'" text)

static const struct {
    const char *why, *metadata, *members;
    int percent;
    bool pending;
} rows[] = {
    {"nothing has been done yet", "", "", 0, true},
    {"it may exist", "", STATUS("'state':'Creating'"), 0, true},
    {"it does not", "", STATUS("'state':'CreationFailed'"), 0, false},
    {"it exists", "", CREATED(",'completionPercent':0"), 0, true},
    {"part of it", "", CREATED(",'completionPercent':99"), 99, true},
    {"all of it", "", CREATED(",'readyToUse':true,'completionPercent':100"), 100, false},
    {"with instant access", "", CREATED(",'readyToUse':true,'completionPercent':7"), 7, true},
    {"never all of it", "", CREATED(",'completionPercent':7,'error':{'code':'INTERNAL'}"), 7,
     false},
    {"it goes", GOES, CREATED(",'completionPercent':7"), 7, false},
    {"it is somebody's who has made it", ",'annotations':{'" ANNOTATION_PRE_PROVISIONED "':'/s/1'}",
     "", 0, false},
    {"a local one may exist", "", STATUS("'state':'Creating','local':{'snapshotId':'/s/1.local'}"),
     0, true},
    {"part of the local one", "", CREATED(LOCAL("8")), 0, true},
    {"never all of the local one", "", CREATED(",'error':{'code':'INTERNAL'}" LOCAL("8")), 0,
     false},
    {"all of the local one, and no copy", "", STATUS("'state':'Creating'" LOCAL("100")), 0, false},
    {"the same, announced", "", CREATED(LOCAL("100")), 0, false},
    {"part of the copy", "", CREATED(",'completionPercent':7" LOCAL("100")), 7, false},
    {"its record goes, and it is completed", GOES, CREATED(LOCAL("8")), 0, true},
    {"it goes with its record", GOES,
     CREATED(",'annotation':{'" ANNOTATION_DELETE_REQUEST "':'x'}" LOCAL("8")), 0, false},
};

static void test_what_is_pending(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(kube_object_unrefp)
        struct kube_object *object = object_taken(
            &api__az_snapshot__descriptor,
            mem_printf("{'metadata':{'name':'s'%s}%s}", rows[i].metadata, rows[i].members));

        if (snapshot_percent(as_snapshot(object)) != rows[i].percent ||
            snapshot_is_pending(as_snapshot(object)) != rows[i].pending)
            fail_msg("%s: %d %%, pending: %d", rows[i].why, snapshot_percent(as_snapshot(object)),
                     snapshot_is_pending(as_snapshot(object)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_is_pending)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
