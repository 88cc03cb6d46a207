/* What is read of an AzVolume, line by line. */
#include "provisioner-lib/records/volume.h"

#include "test/unit/object.h"

static struct kube_object *volume(const char *members)
{
    return object_taken(&api__az_volume__descriptor,
                        mem_printf("{'metadata':{'name':'v'}%s}", members));
}

#define PARAMETERS(text) ",'spec':{'parameters':{" text "}}"
#define SEEN(shares) ",'status':{'annotation':{'" ANNOTATION_DISK_MAX_SHARES "':'" shares "'}}"

static const struct {
    const char *members;
    unsigned shares;
} rows[] = {
    {"", 1},
    {PARAMETERS(""), 1},
    {PARAMETERS("'maxShares':'3'"), 3},
    {PARAMETERS("'MAXSHARES':'3'"), 3},
    {PARAMETERS("'maxShares':''"), 1},
    {PARAMETERS("'maxShares':'0'"), 1},
    {PARAMETERS("'maxShares':'many'"), 1},
    {PARAMETERS("'maxShares':'99999'"), 1},
    {PARAMETERS("") SEEN("5"), 5},
    {PARAMETERS("'maxShares':''") SEEN("5"), 5},
    {PARAMETERS("'maxShares':'2'") SEEN("5"), 2},
    {PARAMETERS("'maxShares':'5'") SEEN("2"), 2}, /* lowered by somebody, or of another disk */
    {PARAMETERS("'maxShares':'5'") SEEN("1"), 1},
    {PARAMETERS("'maxShares':'5'") SEEN(""), 5},
    {SEEN("5"), 5},
};

static void test_max_shares(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(kube_object_unrefp) struct kube_object *object = volume(rows[i].members);

        if (volume_max_shares(as_volume(object)) != rows[i].shares)
            fail_msg("%s: %u", rows[i].members, volume_max_shares(as_volume(object)));
    }
}

#define KNOWN(id) ",'status':{'annotation':{'" ANNOTATION_DISK_UNIQUE_ID "':'" id "'}}"

static void test_another_disk_of_the_name(void **state)
{
    static const struct {
        const char *members, *unique_id;
        bool another;
    } ids[] = {
        {KNOWN("1"), "1", false},  {KNOWN("1"), "2", true}, {KNOWN("1"), "", false},
        {KNOWN("1"), NULL, false}, {KNOWN(""), "2", false}, {"", "2", false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        CLEANUP(kube_object_unrefp) struct kube_object *object = volume(ids[i].members);

        assert_int_equal(volume_disk_is_another(as_volume(object), ids[i].unique_id),
                         ids[i].another);
    }
}

#define FENCING(shares, wish) PARAMETERS("'maxShares':'" shares "','Fencing':'" wish "'")
#define MANY_NODES                                                                                 \
    ",'spec':{'parameters':{'maxShares':'2'},'volumeCapability':[{'access_type':0,'access_mode':"  \
    "5}]}"

static const struct {
    const char *members;
    enum fencing fencing;
} fences[] = {
    {"", FENCING_NONE},
    {PARAMETERS("'maxShares':'2'"), FENCING_PREFERRED},
    {SEEN("2"), FENCING_PREFERRED},
    {FENCING("2", ""), FENCING_PREFERRED},
    {FENCING("2", "preferred"), FENCING_PREFERRED},
    {FENCING("2", "of a later release"), FENCING_PREFERRED},
    {FENCING("2", "Required"), FENCING_REQUIRED},
    {FENCING("2", "none"), FENCING_NONE},
    {FENCING("2", "guest"), FENCING_NONE},
    {FENCING("1", "required"), FENCING_NONE},
    {FENCING("2", "required") SEEN("1"), FENCING_NONE},
    {MANY_NODES, FENCING_NONE},
};

static void test_fencing(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(fences); i++) {
        CLEANUP(kube_object_unrefp) struct kube_object *object = volume(fences[i].members);

        if (volume_fencing(as_volume(object)) != fences[i].fencing)
            fail_msg("%s: %u", fences[i].members, volume_fencing(as_volume(object)));
    }
}

#define REPLICAS(shares, n)                                                                        \
    ",'spec':{'maxMountReplicaCount':" n ",'parameters':{'maxShares':'" shares "'}}"

static const struct {
    const char *members;
    unsigned replicas;
} requests[] = {
    {"", 0},
    {REPLICAS("3", "0"), 0},
    {REPLICAS("3", "1"), 1},
    {REPLICAS("3", "7"), 2},
    {REPLICAS("3", "-1"), 0},
    {REPLICAS("1", "2"), 0},
    {REPLICAS("", "2"), 0},
    {REPLICAS("", "4") SEEN("3"), 2},
};

static void test_replicas_requested(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(requests); i++) {
        CLEANUP(kube_object_unrefp) struct kube_object *object = volume(requests[i].members);

        assert_int_equal(volume_replicas_requested(as_volume(object)), requests[i].replicas);
    }
}

static const struct {
    const char *capabilities;
    bool multi_node;
} modes[] = {
    {"", false},
    {"{'access_mode':1}", false},
    {"{'access_mode':2}", false},
    {"{'access_mode':3}", true},
    {"{'access_mode':4}", true},
    {"{'access_mode':5}", true},
    {"{'access_mode':6}", false},
    {"{'access_mode':7}", false},
    {"{'access_mode':1},{'access_mode':5}", true},
};

#define A_DISK "'detail':{'volume_id':'/d','capacity_bytes':1}"
#define WANTS(text) ",'spec':{'mutableParameters':{" text "}}"
#define HAS(text) ",'status':{" A_DISK ",'mutableParameters':{" text "}}"

static const struct {
    const char *members;
    bool modifying;
} modifications[] = {
    {WANTS("") HAS(""), false},
    {WANTS("'skuName':'a'") HAS(""), true},
    {WANTS("'skuName':'a'") HAS("'skuName':'a'"), false},
    {WANTS("'skuName':'a'") HAS("'skuName':'b'"), true},
    {WANTS("'skuName':'a','diskIOPSReadWrite':'1'") HAS("'skuName':'a'"), true},
    {WANTS("'skuName':'a'") HAS("'skuName':'a','diskIOPSReadWrite':'1'"), false},
    {WANTS("") HAS("'skuName':'a'"), false},
    {WANTS("'skuName':'a'"), false},
    {WANTS("'skuName':'a'") ",'status':{'state':'Creating'}", false},
    {WANTS("'skuName':'a'") ",'status':{" A_DISK ",'modifyError':{'code':'X','message':'y'}}",
     false},
};

static void test_whether_its_disk_is_to_be_modified(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(modifications); i++) {
        CLEANUP(kube_object_unrefp)
        struct kube_object *object = volume(modifications[i].members);

        if (volume_is_modifying(as_volume(object)) != modifications[i].modifying)
            fail_msg("%s", modifications[i].members);
    }
}

static void test_how_many_nodes_use_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        CLEANUP(freep)
        char *members = mem_printf(",'spec':{'volumeCapability':[%s]}", modes[i].capabilities);
        CLEANUP(kube_object_unrefp) struct kube_object *object = volume(members);

        assert_int_equal(volume_is_multi_node(as_volume(object)), modes[i].multi_node);
    }
    CLEANUP(kube_object_unrefp) struct kube_object *none = volume("");
    assert_false(volume_is_multi_node(as_volume(none)));
}

#define ID "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/d"
#define CREATED ",'status':{'detail':{'volume_id':'" ID "'}}"

static const struct {
    const char *text, *recorded;
    bool created;
} disks[] = {
    {"{'metadata':{'name':'v'}}", NULL, false},
    {"{'metadata':{'name':'v'}" CREATED "}", ID, true},
    {"{'metadata':{'name':'v'},'status':{'annotation':{'" ANNOTATION_PRE_PROVISIONED "':'" ID
     "'}}}",
     ID, false},
    /* Upstream's driver says only that there is one. */
    {"{'metadata':{'name':'v'},'status':{'annotation':{'" ANNOTATION_PRE_PROVISIONED "':'true'}}}",
     NULL, false},
    {"{'metadata':{'name':'v','annotations':{'" ANNOTATION_DISK "':'" ID "'}}}", ID, false},
};

static void test_its_disk(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(disks); i++) {
        CLEANUP(kube_object_unrefp)
        struct kube_object *object = object_of(&api__az_volume__descriptor, disks[i].text);
        const char *recorded = volume_recorded_disk(as_volume(object));

        assert_int_equal(volume_is_created(as_volume(object)), disks[i].created);
        assert_string_equal(recorded ? recorded : "", disks[i].recorded ? disks[i].recorded : "");
    }
}

static int percent_of(const char *status)
{
    CLEANUP(freep) char *members = mem_printf(",'status':{%s}", status);
    CLEANUP(kube_object_unrefp) struct kube_object *object = volume(members);

    return volume_percent(as_volume(object));
}

static void test_how_much_has_been_copied_to_its_disk(void **state)
{
    CLEANUP(kube_object_unrefp) struct kube_object *object = volume("");

    (void)state;
    assert_int_equal(volume_percent(as_volume(object)), 100);
    assert_int_equal(percent_of("'state':'Created'"), 100);
    assert_int_equal(percent_of("'completionPercent':0"), 0);
    assert_int_equal(percent_of("'completionPercent':37"), 37);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_max_shares),
        cmocka_unit_test(test_another_disk_of_the_name),
        cmocka_unit_test(test_fencing),
        cmocka_unit_test(test_replicas_requested),
        cmocka_unit_test(test_how_many_nodes_use_it),
        cmocka_unit_test(test_whether_its_disk_is_to_be_modified),
        cmocka_unit_test(test_its_disk),
        cmocka_unit_test(test_how_much_has_been_copied_to_its_disk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
