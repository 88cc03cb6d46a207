/* In which order snapshots of a disk are copied, and which of them Azure counts as the disk's. */
#include "controller/snapshot/turn.h"

#include "lib/base/alloc.h"
#include "provisioner-lib/records/snapshot.h"
#include "test/unit/controller/controller_of.h"

#define DISK_A GROUP_DISKS "a"
#define OF_DISK(name, disk, status)                                                                \
    "{'metadata':{'name':'" name "'},'spec':{'snapshotName':'" name "','sourceVolumeId':'" disk    \
    "'},'status':{" status "}}"
#define LOCAL(time) "'local':{'snapshotId':'x','creationTime':'2026-01-01T00:00:" time "Z'}"
/* The one that is asked about. */
#define OWN OF_DISK("m", DISK_A, "'state':'Creating'," LOCAL("30.500000"))

static const struct {
    const char *what, *other;
    bool waits;
} rows[] = {
    {"an earlier one is copied", OF_DISK("z", DISK_A, "'state':'Created'," LOCAL("30.400000")),
     true},
    {"spelled otherwise",
     OF_DISK("z", "/SUBSCRIPTIONS/s/resourceGroups/rg/providers/Microsoft.Compute/disks/A",
             "'state':'Created'," LOCAL("30.400000")),
     true},
    {"a later one is copied", OF_DISK("a", DISK_A, "'state':'Created'," LOCAL("30.600000")), false},
    {"one of the same moment, by its name",
     OF_DISK("l", DISK_A, "'state':'Created'," LOCAL("30.500000")), true},
    {"one of the same moment, by its name",
     OF_DISK("n", DISK_A, "'state':'Created'," LOCAL("30.500000")), false},
    {"an earlier one of another disk",
     OF_DISK("z", GROUP_DISKS "b", "'state':'Created'," LOCAL("30.400000")), false},
    {"one that may have been taken",
     OF_DISK("z", DISK_A, "'state':'Creating','local':{'snapshotId':'x'}"), true},
    {"one whose creation begins anew",
     OF_DISK("z", DISK_A, "'state':'Pending','local':{'snapshotId':'x'}"), false},
    {"one that cannot be created",
     OF_DISK("z", DISK_A, "'state':'CreationFailed'," LOCAL("30.400000")), false},
    {"one that is complete",
     OF_DISK("z", DISK_A,
             "'state':'Created','snapshotId':'y','readyToUse':true," LOCAL("30.400000")),
     false},
    {"one that cannot be copied",
     OF_DISK("z", DISK_A,
             "'state':'Created','snapshotId':'y','error':{'code':'INTERNAL'}," LOCAL("30.400000")),
     false},
    {"one whose local one is gone",
     OF_DISK("z", DISK_A, "'state':'Created','local':{'creationTime':'2026-01-01T00:00:30Z'}"),
     false},
    {"one in the region of the disk", OF_DISK("z", DISK_A, "'state':'Creating'"), false},
};

static struct kube_object *put(const struct controller *controller, const char *text)
{
    CLEANUP(json_decrefp) json_t *json = json_of(text);
    struct kube_object *object;

    assert_ok(kube_object_decode(&api__az_snapshot__descriptor, json, &object));
    store_put(controller->snapshots, object);
    return object;
}

static void test_turns(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cluster_view view = {0};
        struct controller controller = controller_of(&view);
        CLEANUP(kube_object_unrefp) struct kube_object *own = put(&controller, OWN);
        CLEANUP(kube_object_unrefp) struct kube_object *other = put(&controller, rows[i].other);

        if (snapshot_waits_for_turn(&controller, own) != rows[i].waits)
            fail_msg("%s: it %s", rows[i].what, rows[i].waits ? "does not wait" : "waits");
        controller_fini(&controller);
    }
}

static const struct {
    const char *what, *status;
    bool counts;
} counted[] = {
    {"in the region of the disk", "'snapshotId':'x','readyToUse':true", true},
    {"not there yet", "'state':'Creating'", false},
    {"the local one", LOCAL("00"), true},
    {"the local one, not taken yet", "'local':{'snapshotId':'x'}", false},
    {"a copy, whose local one is gone",
     "'snapshotId':'x','readyToUse':true,'local':{'creationTime':'2026-01-01T00:00:30Z'}", false},
};

static void test_what_counts_as_the_disks(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(counted); i++) {
        CLEANUP(freep)
        char *text = mem_printf("{'metadata':{'name':'s'},'status':{%s}}", counted[i].status);
        CLEANUP(json_decrefp) json_t *json = json_of(text);
        CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;

        assert_ok(kube_object_decode(&api__az_snapshot__descriptor, json, &object));
        if (snapshot_is_of_disk(as_snapshot(object)) != counted[i].counts)
            fail_msg("%s: %d expected", counted[i].what, counted[i].counts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_what_counts_as_the_disks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
