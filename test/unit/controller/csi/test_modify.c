/* ControllerModifyVolume: which requests it writes, and whether it looks at what came of others. */
#include "controller/csi/service.h"
#include "lib/api/csi.pb-c.h"
#include "test/unit/controller/csi/csi_call.h"

#define IOPS "DiskIOPSReadWrite"
/* `wanted` is asked for, and `has` was the last that the leader saw. */
#define VOLUME_OF(version, wanted, has)                                                            \
    "{" META(version) ",'spec':{'volumeName':'x','parameters':{'skuName':'PremiumV2_LRS'},"        \
                      "'mutableParameters':{'" IOPS "':'" wanted "'}},"                            \
                      "'status':{'state':'Created','detail':{'volume_id':'" GROUP_DISKS "x'}" has  \
                      "}}"
#define HAS(iops) ",'mutableParameters':{'" IOPS "':'" iops "'}"

static void modify(struct task *self, void *arg)
{
    struct csi_call *call = arg;
    Csi__V1__ControllerModifyVolumeRequest__MutableParametersEntry entry, *entries = &entry;
    Csi__V1__ControllerModifyVolumeRequest request;

    csi__v1__controller_modify_volume_request__mutable_parameters_entry__init(&entry);
    entry.key = (char[]){IOPS};
    entry.value = (char[]){"4000"};
    csi__v1__controller_modify_volume_request__init(&request);
    request.volume_id = (char[]){GROUP_DISKS "x"};
    request.mutable_parameters = &entries;
    request.n_mutable_parameters = 1;
    call->err = csi_modify_volume(self, &call->rpc, &request, NULL);
}

static struct err *play(const char *volume, const struct script_step *steps, size_t n)
{
    CLEANUP(freep) char *cluster = mem_printf("{'volumes':[%s]}", volume);
    struct csi_call call = {0};

    csi_play(&call, cluster, steps, n, modify);
    return call.err;
}

/* Azure may have carried out what was asked for meanwhile, unknown to anybody. */
static void test_what_is_taken_back_is_looked_at(void **state)
{
    static const struct script_step steps[] = {
        SCRIPT_ANSWER("PATCH " RECORDS "azvolumes/x/status {'status':{'mutableParameters':null},"
                      "'metadata':{'uid':'u'}}",
                      200, VOLUME_OF("2", "5000", "")),
        SCRIPT_ANSWER("PATCH " RECORDS "azvolumes/x {'spec':{'mutableParameters':{'" IOPS
                      "':'4000'}},'metadata':{'uid':'u'}}",
                      200, VOLUME_OF("3", "4000", "")),
    };

    (void)state;
    struct err *err = play(VOLUME_OF("1", "5000", HAS("4000")), steps, COUNT_OF(steps));
    assert_int_equal(err_kind(err), ERR_TIMEOUT); /* no leader is there */
    err_free(err);
}

static void test_what_the_disk_has_is_not_asked_for(void **state)
{
    (void)state;
    assert_ok(play(VOLUME_OF("1", "4000", HAS("4000")), NULL, 0));
}

static void test_another_wish_is_written(void **state)
{
    static const struct script_step steps[] = {
        SCRIPT_ANSWER("PATCH " RECORDS "azvolumes/x *", 200, VOLUME_OF("2", "4000", HAS("3000"))),
    };

    (void)state;
    struct err *err = play(VOLUME_OF("1", "3000", HAS("3000")), steps, COUNT_OF(steps));
    assert_int_equal(err_kind(err), ERR_TIMEOUT);
    err_free(err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_taken_back_is_looked_at),
        cmocka_unit_test(test_what_the_disk_has_is_not_asked_for),
        cmocka_unit_test(test_another_wish_is_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
