/* CreateVolume and CreateSnapshot after a creation that failed for good, and that the leader was
 * about to forget: what they write on what is left of it. */
#include "provisioner-lib/records/names.h"
#include "test/unit/controller/csi/csi_call.h"

#define TAKEN "{'kind':'Status','reason':'AlreadyExists','message':'taken'}"
/* The leader has written that it is to be deleted, and then it was not. */
#define FAILED                                                                                     \
    "'status':{'state':'CreationFailed','error':{'code':'INTERNAL','message':'failed'},"           \
    "'annotation':{'" ANNOTATION_FORGET_AFTER "':'2026-01-01T00:00:00Z',"                          \
    "'" ANNOTATION_DELETE_REQUEST "':'creation-failed'}}"
#define BEGUN_ANEW                                                                                 \
    "{'status':{'state':'Pending','error':null,'annotation':{'" ANNOTATION_FORGET_AFTER            \
    "':null,'" ANNOTATION_DELETE_REQUEST "':null}},'metadata':{'resourceVersion':'2'}}"

/* The id of what a call has made, by this script. */
static char *play(const char *cluster, const struct script_step *steps, size_t n, task_fn *task)
{
    struct csi_call call = {0};

    csi_play(&call, cluster, steps, n, task);
    assert_ok(call.err);
    return call.id;
}

#define VOLUME_OF(version, status) "{" META(version) ",'spec':{'volumeName':'x'}," status "}"

static void test_volume(void **state)
{
    static const char was[] = VOLUME_OF("1", FAILED);
    static const struct script_step steps[] = {
        SCRIPT_ANSWER("POST " RECORDS "azvolumes *", 409, TAKEN),
        SCRIPT_ANSWER("GET " RECORDS "azvolumes/x", 200, was),
        SCRIPT_ANSWER("PATCH " RECORDS "azvolumes/x *", 200, VOLUME_OF("2", FAILED)),
        SCRIPT_ANSWER("PATCH " RECORDS "azvolumes/x/status " BEGUN_ANEW, 200,
                      VOLUME_OF("3",
                                "'status':{'state':'Created','detail':{'volume_id':'" GROUP_DISKS
                                "x','accessible_topology':[{'segments':{}}]}}")),
    };
    CLEANUP(freep) char *cluster = mem_printf("{'volumes':[%s]}", was);

    (void)state;
    CLEANUP(freep) char *id = play(cluster, steps, COUNT_OF(steps), create_volume);
    assert_string_equal(id, GROUP_DISKS "x");
}

/* Its StorageClass was made anew meanwhile. */
static void test_another_volume_of_the_name(void **state)
{
    static const struct {
        const char *has; /* create_volume() asks for none */
        enum err_kind kind;
    } rows[] = {
        {"'status':{'state':'Creating'}", ERR_BUSY},
        {"'status':{'state':'Pending'}", ERR_BUSY},
        {"'status':{'state':'Created','detail':{'volume_id':'" GROUP_DISKS "x'}}", ERR_EXISTS},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep)
        char *was = mem_printf("{" META("1") ",'spec':{'volumeName':'x',"
                                             "'parameters':{'skuName':'Standard_LRS'}},%s}",
                               rows[i].has);
        const struct script_step steps[] = {
            SCRIPT_ANSWER("GET " RECORDS "azvolumes/x", 200, was),
        };
        CLEANUP(freep) char *cluster = mem_printf("{'volumes':[%s]}", was);
        struct csi_call call = {0};

        csi_play(&call, cluster, steps, COUNT_OF(steps), create_volume);
        assert_int_equal(err_kind(call.err), rows[i].kind);
        assert_non_null(strstr(err_message(call.err), "StorageClass has been made anew"));
        err_free(call.err);
        free(call.id);
    }
}

#define SNAPSHOT_OF(version, status)                                                               \
    "{" META(version) ",'spec':{'snapshotName':'x','sourceVolumeId':'" GROUP_DISKS "v'}," status "}"

static void test_snapshot(void **state)
{
    static const char was[] = SNAPSHOT_OF("1", FAILED);
    static const struct script_step steps[] = {
        SCRIPT_ANSWER("POST " RECORDS "azsnapshots *", 409, TAKEN),
        SCRIPT_ANSWER("GET " RECORDS "azsnapshots/x", 200, was),
        SCRIPT_ANSWER("PATCH " RECORDS "azsnapshots/x *", 200, SNAPSHOT_OF("2", FAILED)),
        SCRIPT_ANSWER(
            "PATCH " RECORDS "azsnapshots/x/status " BEGUN_ANEW, 200,
            SNAPSHOT_OF("3", "'status':{'state':'Created','snapshotId':'" GROUP_SNAPSHOTS "x'}")),
    };
    CLEANUP(freep) char *cluster = mem_printf("{'snapshots':[%s]}", was);

    (void)state;
    CLEANUP(freep) char *id = play(cluster, steps, COUNT_OF(steps), create_snapshot);
    assert_string_equal(id, GROUP_SNAPSHOTS "x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_volume),
        cmocka_unit_test(test_another_volume_of_the_name),
        cmocka_unit_test(test_snapshot),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
