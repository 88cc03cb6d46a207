/* What is read of an AzVolumeAttachment, line by line, and what is written of it. */
#include "provisioner-lib/records/attachment.h"

#include "test/unit/object.h"

static struct kube_object *attachment(const char *members)
{
    return object_taken(&api__az_volume_attachment__descriptor,
                        mem_printf("{'metadata':{'name':'a'}%s}", members));
}

/* ---- roles and states ---- */

static const struct {
    const char *members, *state;
    bool wants_primary, is_primary;
} roles[] = {
    {"", "", false, false},
    {",'spec':{},'status':{}", "", false, false},
    {",'spec':{'role':'Primary'}", "", true, false},
    {",'spec':{'role':'Replica'},'status':{'state':'Attached','detail':{'role':'Primary'}}",
     "Attached", false, true},
    {",'spec':{'role':'primary'},'status':{'detail':{'role':'Replica'}}", "", false, false},
};

static void test_roles_and_states(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(roles); i++) {
        CLEANUP(kube_object_unrefp) struct kube_object *object = attachment(roles[i].members);
        const Api__AzVolumeAttachment *a = as_attachment(object);

        assert_int_equal(attachment_wants(a, ROLE_PRIMARY), roles[i].wants_primary);
        assert_int_equal(attachment_is(a, ROLE_PRIMARY), roles[i].is_primary);
        assert_string_equal(attachment_state(a), roles[i].state);
    }
}

/* ---- read-only ---- */

static const struct {
    const char *spec;
    bool read_only;
} accesses[] = {
    {"{'role':'Primary'}", false}, /* as it was written before there was the field */
    {"{'role':'Primary','readOnly':false}", false},
    {"{'role':'Primary','readOnly':true}", true},
    {"{'role':'Replica','readOnly':true}", false},
    {"{'readOnly':true}", false},
};

static void test_how_it_is_published(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(accesses); i++) {
        CLEANUP(freep) char *members = mem_printf(",'spec':%s", accesses[i].spec);
        CLEANUP(kube_object_unrefp) struct kube_object *object = attachment(members);

        assert_int_equal(attachment_is_read_only(as_attachment(object)), accesses[i].read_only);
    }
}

/* A merge patch: null takes the field away. */
static void test_the_access_goes_with_the_publish(void **state)
{
    CLEANUP(json_decrefp) json_t *reading = attachment_role_json(for_publish(true));
    CLEANUP(json_decrefp) json_t *writing = attachment_role_json(for_publish(false));
    CLEANUP(json_decrefp) json_t *replica = attachment_role_json(for_replica());

    (void)state;
    assert_true(json_is_true(json_object_get(json_object_get(reading, "spec"), "readOnly")));
    assert_true(json_is_null(json_object_get(json_object_get(writing, "spec"), "readOnly")));
    assert_true(json_is_null(json_object_get(json_object_get(replica, "spec"), "readOnly")));
}

static void test_a_new_one(void **state)
{
    const struct attachment_purpose purposes[] = {for_replica(), for_publish(false),
                                                  for_publish(true)};
    CLEANUP(kube_object_unrefp)
    struct kube_object *volume =
        object_of(&api__az_volume__descriptor,
                  "{'metadata':{'name':'v'},'status':{'detail':{'volume_id':'/disks/v'}}}");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(purposes); i++) {
        CLEANUP(json_decrefp)
        json_t *json = attachment_json(KUBE_AS(Api__AzVolume, volume), "node-1", purposes[i]);
        CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;

        json_object_set_new(json_object_get(json, "metadata"), "name", json_string("a"));
        assert_ok(kube_object_decode(&api__az_volume_attachment__descriptor, json, &object));
        assert_true(attachment_wants(as_attachment(object), purposes[i].role));
        assert_int_equal(attachment_is_read_only(as_attachment(object)), purposes[i].read_only);
    }
}

static void test_one_that_is_asked_for(void **state)
{
    int64_t until_us = INT64_C(1772366400000000); /* 2026-03-01T12:00:00Z */
    CLEANUP(kube_object_unrefp)
    struct kube_object *volume =
        object_of(&api__az_volume__descriptor,
                  "{'metadata':{'name':'v'},'status':{'detail':{'volume_id':'/disks/v'}}}");
    CLEANUP(json_decrefp)
    json_t *json = attachment_asked_json(KUBE_AS(Api__AzVolume, volume), "node-1", until_us);
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;
    CLEANUP(kube_object_unrefp)
    struct kube_object *other =
        object_of(&api__az_volume_attachment__descriptor,
                  "{'metadata':{'name':'a','annotations':{'disk.csi.azure.com/asked-until':'x'}}}");

    (void)state;
    assert_ok(kube_object_decode(&api__az_volume_attachment__descriptor, json, &object));
    assert_string_equal(object->metadata->name, "v-node-1-attachment");
    assert_true(attachment_wants(as_attachment(object), ROLE_REPLICA));
    assert_true(attachment_is_asked_for(as_attachment(object), until_us - 1));
    assert_false(attachment_is_asked_for(as_attachment(object), until_us));
    assert_false(attachment_is_asked_for(as_attachment(other), 0));
}

/* ---- by what it is found ---- */

static void expect_disk(void *ctx, const char *value)
{
    unsigned *n = ctx;

    ++*n;
    assert_string_equal(value, "/disks/d1");
}

static void test_it_is_found_by_its_disk(void **state)
{
    CLEANUP(kube_object_unrefp)
    struct kube_object *object = attachment(",'spec':{'volume_id':'/Disks/D1'}");
    CLEANUP(kube_object_unrefp) struct kube_object *without = attachment(",'spec':{}");
    CLEANUP(kube_object_unrefp) struct kube_object *empty = attachment("");
    unsigned n = 0;

    (void)state;
    attachment_index_by_disk(object, expect_disk, &n);
    attachment_index_by_disk(without, expect_disk, &n);
    attachment_index_by_disk(empty, expect_disk, &n);
    assert_int_equal(n, 1);
}

/* ---- where the disk is ---- */

static const struct {
    const char *lun, *size;
    int wanted_lun;
    uint64_t wanted_size;
} places[] = {
    {"0", "1073741824", 0, 1073741824},
    {"63", "9223372036854775807", 63, INT64_MAX},
    {"4095", "1", 4095, 1},
    {"4096", "9223372036854775808", NO_LUN, 0},
    {"-1", "-1", NO_LUN, 0},
    {"3x", "4G", NO_LUN, 0},
    {" 3", "", NO_LUN, 0},
    {"", "+5", NO_LUN, 0},
    {"4294967299", "99999999999999999999", NO_LUN, 0}, /* 3, of 32 bits */
};

static void test_where_the_disk_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        CLEANUP(freep)
        char *members = mem_printf(",'status':{'detail':{'role':'Primary','publish_context':"
                                   "{'LUN':'%s','diskSizeBytes':'%s'}}}",
                                   places[i].lun, places[i].size);
        CLEANUP(kube_object_unrefp) struct kube_object *object = attachment(members);

        assert_int_equal(attachment_lun(as_attachment(object)), places[i].wanted_lun);
        assert_int_equal(attachment_disk_size(as_attachment(object)), places[i].wanted_size);
    }
    CLEANUP(kube_object_unrefp) struct kube_object *none = attachment("");
    assert_int_equal(attachment_lun(as_attachment(none)), NO_LUN);
    assert_int_equal(attachment_disk_size(as_attachment(none)), 0);
}

static void test_what_is_written_is_read(void **state)
{
    (void)state;
    for (int lun = NO_LUN; lun < 3; lun++) {
        json_t *detail = attachment_detail_json(ROLE_REPLICA, NULL, lun, 4096);
        CLEANUP(json_decrefp)
        json_t *json =
            json_pack("{s:{s:s}, s:{s:o}}", "metadata", "name", "a", "status", "detail", detail);
        CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;

        assert_ok(kube_object_decode(&api__az_volume_attachment__descriptor, json, &object));
        assert_true(attachment_is(as_attachment(object), ROLE_REPLICA));
        assert_int_equal(attachment_lun(as_attachment(object)), lun);
        assert_int_equal(attachment_disk_size(as_attachment(object)), lun == NO_LUN ? 0 : 4096);
    }
}

/* ---- whether a replica is ready ---- */

#define NOTED(state, role, note)                                                                   \
    ",'spec':{'role':'Replica'},'status':{'state':'" state "','detail':{'role':'" role "'},"       \
    "'annotation':{'disk.csi.azure.com/replica-ready':'" note "'}}"
#define NOTE "false 2026-01-01T00:00:00Z no disk at LUN 3"

static const struct {
    const char *members;
    const char *reason; /* NULL: it is, as far as anybody says */
} replicas[] = {
    {",'spec':{'role':'Replica'},'status':{'state':'Attached','detail':{'role':'Replica'}}", NULL},
    {NOTED("Attached", "Replica", "true 2026-01-01T00:00:00Z"), NULL},
    {NOTED("Attached", "Replica", NOTE), "no disk at LUN 3"},
    {NOTED("Attached", "Replica", "false"), ""},
    {NOTED("Attached", "Replica", "false 2026-01-01T00:00:00Z"), ""},
    {NOTED("Attached", "Replica", ""), NULL},
    {NOTED("Attached", "Replica", "of a later release"), NULL},
    {NOTED("Attached", "Primary", NOTE), NULL},
    {NOTED("Attaching", "Replica", NOTE), NULL},
    {NOTED("Detaching", "Replica", NOTE), NULL},
    {NOTED("AttachmentFailed", "Replica", NOTE), NULL},
};

static void test_whether_a_replica_is_ready(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(replicas); i++) {
        CLEANUP(kube_object_unrefp) struct kube_object *object = attachment(replicas[i].members);
        const char *reason = attachment_unready_reason(as_attachment(object));

        if (!reason != !replicas[i].reason || (reason && strcmp(reason, replicas[i].reason) != 0))
            fail_msg("%s: \"%s\"", replicas[i].members, reason ? reason : "ready");
    }
}

static void test_a_request_to_detach(void **state)
{
    CLEANUP(kube_object_unrefp)
    struct kube_object *object = attachment(",'status':{'state':'Attached'}");
    CLEANUP(json_decrefp) json_t *request = attachment_detach_request_json(as_attachment(object));
    const json_t *status = json_object_get(request, "status");

    (void)state;
    assert_string_equal(json_string_value(json_object_get(status, "state")), "Attached");
    assert_non_null(
        json_object_get(json_object_get(status, "annotation"), ANNOTATION_DETACH_REQUEST));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roles_and_states),
        cmocka_unit_test(test_it_is_found_by_its_disk),
        cmocka_unit_test(test_where_the_disk_is),
        cmocka_unit_test(test_what_is_written_is_read),
        cmocka_unit_test(test_whether_a_replica_is_ready),
        cmocka_unit_test(test_a_request_to_detach),
        cmocka_unit_test(test_how_it_is_published),
        cmocka_unit_test(test_the_access_goes_with_the_publish),
        cmocka_unit_test(test_a_new_one),
        cmocka_unit_test(test_one_that_is_asked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
