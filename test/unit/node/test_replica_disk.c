/* Which disks are kept from others, state by state. */
#include "node/replica_disk.h"

#include "lib/base/alloc.h"
#include "provisioner-lib/records/attachment.h"
#include "test/unit/object.h"

#define META "'metadata':{'name':'data-n1-attachment'}"
#define REPLICA "'spec':{'role':'Replica'}"
#define DETAIL                                                                                     \
    "'detail':{'role':'Replica','publish_context':{'LUN':'3','diskSizeBytes':'1073741824'}}"
#define JOB "'annotation':{'disk.csi.azure.com/running-job':'e2fsck 2026-01-01T00:00:00Z boot'}"

static const struct {
    const char *object;
    int lun;
} cases[] = {
    {"{" META "," REPLICA ",'status':{'state':'Attached'," DETAIL "}}", 3},
    {"{" META "," REPLICA ",'status':{'state':'Attaching'," DETAIL "}}", 3},
    /* It may be on its way to another place, or somebody's who is. */
    {"{" META "}", NO_LUN},
    {"{" META "," REPLICA "}", NO_LUN},
    {"{" META "," REPLICA ",'status':{'state':'Attached','detail':{'role':'Replica'}}}", NO_LUN},
    {"{" META "," REPLICA ",'status':{'state':'Detaching'," DETAIL "}}", NO_LUN},
    {"{" META "," REPLICA ",'status':{'state':'Detached'," DETAIL "}}", NO_LUN},
    {"{" META "," REPLICA ",'status':{'state':'AttachmentFailed'," DETAIL "}}", NO_LUN},
    {"{'metadata':{'name':'a','deletionTimestamp':'2026-01-01T00:00:00Z'}," REPLICA
     ",'status':{'state':'Attached'," DETAIL "}}",
     NO_LUN},
    /* A primary's, and one that is to be one, or was one until now. */
    {"{" META ",'spec':{'role':'Primary'},'status':{'state':'Attached'," DETAIL "}}", NO_LUN},
    {"{" META "," REPLICA ",'status':{'state':'Attached','detail':{'role':'Primary',"
     "'publish_context':{'LUN':'3','diskSizeBytes':'1073741824'}}}}",
     NO_LUN},
    /* Whether the program has ended is seen by claiming the disk. */
    {"{" META "," REPLICA ",'status':{'state':'Attached'," JOB "," DETAIL "}}", NO_LUN},
};

static void test_which_are_held(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP(kube_object_unrefp)
        struct kube_object *object =
            object_of(&api__az_volume_attachment__descriptor, cases[i].object);

        if (replica_disk_lun(as_attachment(object)) != cases[i].lun)
            fail_msg("%s", cases[i].object);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_which_are_held)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
