/* What an attachment says, state by state. */
#include "node/attachment.h"

#include "lib/base/alloc.h"
#include "test/unit/object.h"

#define UUID "617a646b-6e85-804c-ba1a-e367f410918d"
#define META "'metadata':{'name':'data-n1-attachment'}"
#define PRIMARY "'spec':{'role':'Primary'}"
#define DETAIL                                                                                     \
    "'detail':{'role':'Primary','publish_context':{'LUN':'3','diskSizeBytes':'1073741824'}}"

static struct err *check(const char *text, struct attachment_place *ret)
{
    CLEANUP(kube_object_unrefp)
    struct kube_object *object = object_of(&api__az_volume_attachment__descriptor, text);

    return attachment_check(KUBE_AS(Api__AzVolumeAttachment, object), ret);
}

static void test_ready(void **state)
{
    struct attachment_place place;

    (void)state;
    assert_ok(check("{" META "," PRIMARY ",'status':{'state':'Attached'," DETAIL "}}", &place));
    assert_int_equal(place.lun, 3);
    assert_int_equal(place.size, 1073741824);
    assert_false(place.has_record);
    assert_false(place.read_only);

    assert_ok(check("{" META ",'spec':{'role':'Primary','readOnly':true},'status':{"
                    "'state':'Attached'," DETAIL "}}",
                    &place));
    assert_true(place.read_only);

    assert_ok(check("{" META "," PRIMARY ",'status':{'state':'Attached'," DETAIL
                    ",'annotation':{'disk.csi.azure.com/filesystem':'xfs " UUID "'}}}",
                    &place));
    assert_true(place.has_record);
    assert_string_equal(place.record.type, "xfs");
    assert_string_equal(place.record.uuid, UUID);
}

/* An error that was overcome stays behind now and then. */
static void test_ready_in_spite_of_an_error(void **state)
{
    struct attachment_place place;

    (void)state;
    assert_ok(check("{" META "," PRIMARY ",'status':{'state':'Attached'," DETAIL
                    ",'error':{'code':'NOT_FOUND','message':'x'}}}",
                    &place));
}

static const struct {
    const char *object;
    enum err_kind kind;
    const char *message;
} not_ready[] = {
    {"{" META "," PRIMARY "}", ERR_BUSY,
     "AzVolumeAttachment data-n1-attachment is in state unknown with role unknown"},
    {"{" META "," PRIMARY ",'status':{'state':'','detail':{'role':'Primary'}}}", ERR_BUSY,
     "AzVolumeAttachment data-n1-attachment is in state unknown with role Primary"},
    {"{" META "," PRIMARY ",'status':{'state':'Attaching'," DETAIL "}}", ERR_BUSY,
     "AzVolumeAttachment data-n1-attachment is in state Attaching with role Primary"},
    {"{" META "," PRIMARY ",'status':{'state':'Attached'}}", ERR_BUSY,
     "AzVolumeAttachment data-n1-attachment is in state Attached with role unknown"},
    {"{" META "," PRIMARY ",'status':{'state':'Attached','detail':{'role':'Replica'}}}", ERR_BUSY,
     "AzVolumeAttachment data-n1-attachment is in state Attached with role Replica"},
    {"{" META ",'spec':{'role':'Replica'},'status':{'state':'Attached'," DETAIL "}}", ERR_BUSY,
     "AzVolumeAttachment data-n1-attachment is in state Attached with role Primary"},
    {"{'metadata':{'name':'a','deletionTimestamp':'2026-01-01T00:00:00Z'}," PRIMARY
     ",'status':{'state':'Attached'," DETAIL "}}",
     ERR_BUSY, "AzVolumeAttachment a is being deleted"},
    {"{" META "," PRIMARY ",'status':{'state':'Detaching'," DETAIL "}}", ERR_BUSY,
     "AzVolumeAttachment data-n1-attachment is in state Detaching with role Primary"},

    /* Failures that the controller goes on with, and others. */
    {"{" META "," PRIMARY ",'status':{'state':'AttachmentFailed','error':{'code':'UNAVAILABLE',"
     "'message':'Azure is away'}}}",
     ERR_BUSY,
     "AzVolumeAttachment data-n1-attachment is in state AttachmentFailed (UNAVAILABLE: Azure "
     "is "
     "away)"},
    {"{" META "," PRIMARY ",'status':{'state':'Attaching','error':{'code':'NOT_FOUND',"
     "'message':'an earlier one'}}}",
     ERR_BUSY,
     "AzVolumeAttachment data-n1-attachment is in state Attaching (NOT_FOUND: an earlier one)"},
    {"{" META "," PRIMARY ",'status':{'state':'AttachmentFailed','error':{'code':'NOT_FOUND',"
     "'message':'no such disk'}}}",
     ERR_NOT_FOUND, "the disk cannot be attached: no such disk"},
    {"{" META "," PRIMARY ",'status':{'state':'AttachmentFailed','error':{'code':"
     "'INVALID_ARGUMENT','message':'cannot be'}}}",
     ERR_INVALID, "the disk cannot be attached: cannot be"},
    {"{" META "," PRIMARY ",'status':{'state':'AttachmentFailed','error':{'code':"
     "'ALREADY_EXISTS'}}}",
     ERR_EXISTS, "the disk cannot be attached: ALREADY_EXISTS"},
    {"{" META "," PRIMARY ",'status':{'state':'AttachmentFailed','error':{'code':"
     "'OUT_OF_RANGE','message':'x'}}}",
     ERR_OUT_OF_RANGE, "the disk cannot be attached: x"},
    {"{" META "," PRIMARY ",'status':{'state':'AttachmentFailed','error':{'code':"
     "'UNIMPLEMENTED','message':'x'}}}",
     ERR_UNIMPLEMENTED, "the disk cannot be attached: x"},

    {"{" META "," PRIMARY ",'status':{'state':'AttachmentFailed','error':{'code':"
     "'PERMISSION_DENIED','message':'x'}}}",
     ERR_DENIED, "the disk cannot be attached: x"},
    {"{" META "," PRIMARY ",'status':{'state':'AttachmentFailed','error':{'code':"
     "'RESOURCE_EXHAUSTED','message':'no slot'}}}",
     ERR_EXHAUSTED, "the disk cannot be attached: no slot"},
    {"{" META "," PRIMARY ",'status':{'state':'AttachmentFailed','error':{'code':"
     "'FAILED_PRECONDITION','message':'x'}}}",
     ERR_PRECONDITION, "the disk cannot be attached: x"},

    /* Ready, but without sense. */
    {"{" META "," PRIMARY ",'status':{'state':'Attached','detail':{'role':'Primary'}}}",
     ERR_INTERNAL, "publish_context of the AzVolumeAttachment has no valid LUN"},
    {"{" META "," PRIMARY ",'status':{'state':'Attached','detail':{'role':'Primary',"
     "'publish_context':{'LUN':'-1','diskSizeBytes':'1'}}}}",
     ERR_INTERNAL, "publish_context of the AzVolumeAttachment has no valid LUN"},
    {"{" META "," PRIMARY ",'status':{'state':'Attached','detail':{'role':'Primary',"
     "'publish_context':{'LUN':'3x','diskSizeBytes':'1'}}}}",
     ERR_INTERNAL, "publish_context of the AzVolumeAttachment has no valid LUN"},
    {"{" META "," PRIMARY ",'status':{'state':'Attached','detail':{'role':'Primary',"
     "'publish_context':{'LUN':'4294967299','diskSizeBytes':'1'}}}}", /* 3, of 32 bits */
     ERR_INTERNAL, "publish_context of the AzVolumeAttachment has no valid LUN"},
    {"{" META "," PRIMARY ",'status':{'state':'Attached','detail':{'role':'Primary',"
     "'publish_context':{'LUN':'3','diskSizeBytes':'99999999999999999999'}}}}",
     ERR_INTERNAL, "publish_context of the AzVolumeAttachment has no valid diskSizeBytes"},
    {"{" META "," PRIMARY ",'status':{'state':'Attached'," DETAIL
     ",'annotation':{'disk.csi.azure.com/filesystem':'ext4'}}}",
     ERR_INVALID, "\"ext4\" is not a file system type followed by a UUID"},
};

static void test_not_ready(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(not_ready); i++) {
        struct attachment_place place;

        assert_fails(check(not_ready[i].object, &place), not_ready[i].kind, not_ready[i].message);
    }
}

static void test_boots(void **state)
{
    static const struct {
        const char *notes;
        bool seen;
    } rows[] = {
        {"{}", true}, /* by a controller that does not say */
        {"{'disk.csi.azure.com/boot-id':'boot-2'}", true},
        {"{'disk.csi.azure.com/boot-id':'boot-1'}", false},
        {"{'disk.csi.azure.com/boot-id':'boot-22'}", false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep)
        char *text = mem_printf("{" META ",'status':{'annotation':%s}}", rows[i].notes);
        CLEANUP(kube_object_unrefp)
        struct kube_object *object = object_of(&api__az_volume_attachment__descriptor, text);
        struct err *err = attachment_check_boot(KUBE_AS(Api__AzVolumeAttachment, object), "boot-2");

        if (rows[i].seen)
            assert_ok(err);
        else
            assert_fails(err, ERR_BUSY,
                         "the machine was started anew, and the controller has not confirmed yet "
                         "that its VM still has the disk of AzVolumeAttachment data-n1-attachment");
    }
}

static void test_places(void **state)
{
    static const struct {
        const char *state;
        bool holds;
    } rows[] = {
        {"", true},         {"Pending", true},   {"Attaching", true}, {"AttachmentFailed", true},
        {"Attached", true}, {"Detaching", true}, {"Detached", false}, {"ForceDetachPending", true}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep)
        char *text = mem_printf("{" META ",'status':{'state':'%s'}}", rows[i].state);
        CLEANUP(kube_object_unrefp)
        struct kube_object *object = object_of(&api__az_volume_attachment__descriptor, text);

        assert_int_equal(attachment_holds_place(KUBE_AS(Api__AzVolumeAttachment, object)),
                         rows[i].holds);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ready),     cmocka_unit_test(test_ready_in_spite_of_an_error),
        cmocka_unit_test(test_not_ready), cmocka_unit_test(test_boots),
        cmocka_unit_test(test_places),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
