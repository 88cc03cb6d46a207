/* Which requests are to be answered. */
#include "node/preempt_request.h"

#include "lib/base/alloc.h"
#include "provisioner-lib/records/attachment.h"
#include "test/unit/object.h"

#define KEY "0x0a0a0a0a00000001"
#define TIME "2026-01-01T00:00:00.000000Z"
#define REQUEST "'disk.csi.azure.com/preempt-request':'" KEY " " TIME "'"
#define ANSWER(text) ",'disk.csi.azure.com/preempted':'" text "'"
#define META "'metadata':{'name':'a'}"
#define WANTS(role) "'spec':{'role':'" role "'}"
#define DETAIL(role)                                                                               \
    "'detail':{'role':'" role "','publish_context':{'LUN':'3','diskSizeBytes':'1073741824'}}"
#define STATUS(state, notes, detail)                                                               \
    "'status':{'state':'" state "','annotation':{" notes "}," detail "}"

static const struct {
    const char *object;
    bool expected;
} cases[] = {
    {"{" META "," WANTS("Replica") "," STATUS("Attached", REQUEST, DETAIL("Replica")) "}", true},
    {"{" META "," WANTS("Replica") "," STATUS("Attached", "", DETAIL("Replica")) "}", false},
    {"{" META "}", false},
    /* An answer counts for the very request. */
    {"{" META "," WANTS("Replica") "," STATUS("Attached", REQUEST ANSWER(KEY " " TIME),
                                              DETAIL("Replica")) "}",
     false},
    {"{" META "," WANTS("Replica") "," STATUS(
         "Attached", REQUEST ANSWER(KEY " 2025-01-01T00:00:00.000000Z"), DETAIL("Replica")) "}",
     true},
    /* A primary's node takes the fence when it stages, and one that is to be it, too. */
    {"{" META "," WANTS("Primary") "," STATUS("Attached", REQUEST, DETAIL("Replica")) "}", false},
    {"{" META "," WANTS("Replica") "," STATUS("Attached", REQUEST, DETAIL("Primary")) "}", false},
    /* The disk is not there yet, or goes. */
    {"{" META "," WANTS("Replica") "," STATUS("Attaching", REQUEST, DETAIL("Replica")) "}", false},
    {"{" META "," WANTS("Replica") "," STATUS("Detaching", REQUEST, DETAIL("Replica")) "}", false},
    {"{" META
     "," WANTS("Replica") "," STATUS("Attached", REQUEST, "'detail':{'role':'Replica'}") "}",
     false},
    {"{'metadata':{'name':'a','deletionTimestamp':'2026-01-01T00:00:00Z'}," WANTS(
         "Replica") "," STATUS("Attached", REQUEST, DETAIL("Replica")) "}",
     false},
};

static void test_which_are_answered(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP(kube_object_unrefp)
        struct kube_object *object =
            object_of(&api__az_volume_attachment__descriptor, cases[i].object);
        const char *request = preempt_request_of(as_attachment(object));

        if (request ? !cases[i].expected : cases[i].expected)
            fail_msg("%s", cases[i].object);
        if (request)
            assert_string_equal(request, KEY " " TIME);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_are_answered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
