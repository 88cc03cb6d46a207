/* ControllerPublishVolume of what is published already: an attempt that has failed is made again,
 * once for each call. */
#include "controller/csi/service.h"
#include "lib/kube/cached_client.h"
#include "test/unit/controller/csi/csi_call.h"

#define OBJECT RECORDS "azvolumeattachments/v-a-attachment"
#define RECORD(version, state, more)                                                               \
    "{'metadata':{'namespace':'d','name':'v-a-attachment','uid':'u','resourceVersion':'" version   \
    "'},'spec':{'volumeName':'v','volume_id':'" GROUP_DISKS "v','nodeName':'a',"                   \
    "'role':'Primary'},'status':{'state':'" state "','detail':{'role':'Primary',"                  \
    "'publish_context':{'LUN':'3'}}" more "}}"
#define FAILED(version, why)                                                                       \
    RECORD(version, "AttachmentFailed", ",'error':{'code':'INVALID_ARGUMENT','message':'" why "'}")
#define ATTACHING(version, more) RECORD(version, "Attaching", more)
#define WORLD(attachment)                                                                          \
    "{'volumes':[{'metadata':{'namespace':'d','name':'v','uid':'u'},'spec':{'volumeName':'v'},"    \
    "'status':{'state':'Created','detail':{'volume_id':'" GROUP_DISKS                              \
    "v'}}}],'pvs':[" PV("v", "v") "],'attachments':[" attachment "]}"

#define NODE_STEP SCRIPT_ANSWER("GET " RECORDS "azdrivernodes/a", 200, "{" META("1") "}")
#define READ_STEP(record) SCRIPT_ANSWER("GET " OBJECT, 200, record)
#define AGAIN_STEP(answer)                                                                         \
    SCRIPT_ANSWER("PATCH " OBJECT "/status {'status':{'state':'Attaching','error':null},"          \
                  "'metadata':{'resourceVersion':'1'}}",                                           \
                  200, answer)

static struct kube_object *outcome; /* that the watch tells of after a while; NULL: nothing */

static void tell(struct task *self, void *arg)
{
    const struct controller *controller = arg;

    assert_ok(task_sleep(self, 1000));
    store_put(controller->attachments, outcome);
}

static void publish(struct task *self, void *arg)
{
    struct csi_call *call = arg;
    struct controller *controller = call->rpc.ctx;
    struct single_writer writer;
    Csi__V1__ControllerPublishVolumeRequest request;
    Csi__V1__ControllerPublishVolumeResponse response;

    csi__v1__controller_publish_volume_request__init(&request);
    request.volume_id = (char[]){GROUP_DISKS "v"};
    request.node_id = (char[]){"a"};
    request.volume_capability = single_writer(&writer);
    csi__v1__controller_publish_volume_response__init(&response);
    controller->settings.publish_wait = PUBLISH_WAIT_ATTACHED;
    semaphore_init(&controller->publishes, 1);
    if (outcome)
        loop_spawn(controller->loop, "watch", tell, controller);
    call->err = csi_publish_volume(self, &call->rpc, &request, &response);
}

static struct err *play(const char *cluster, const char *then, const struct script_step *steps,
                        size_t n)
{
    CLEANUP(json_decrefp) json_t *json = then ? json_of(then) : NULL;
    struct csi_call call = {0};

    outcome = NULL;
    if (json)
        assert_ok(kube_object_decode(&api__az_volume_attachment__descriptor, json, &outcome));
    csi_play(&call, cluster, steps, n, publish);
    kube_object_unref(outcome);
    return call.err;
}

static void test_what_failed_is_tried_again(void **state)
{
    static const struct script_step steps[] = {NODE_STEP, READ_STEP(FAILED("1", "before")),
                                               AGAIN_STEP(ATTACHING("2", ""))};

    (void)state;
    assert_ok(
        play(WORLD(FAILED("1", "before")), RECORD("3", "Attached", ""), steps, COUNT_OF(steps)));
}

static void test_once(void **state)
{
    static const struct script_step steps[] = {NODE_STEP, READ_STEP(FAILED("1", "before")),
                                               AGAIN_STEP(ATTACHING("2", ""))};

    (void)state;
    assert_fails(play(WORLD(FAILED("1", "before")), FAILED("3", "again"), steps, COUNT_OF(steps)),
                 ERR_INVALID, "again");
}

static void test_what_is_under_way_is_left_alone(void **state)
{
    static const char record[] =
        ATTACHING("1", ",'error':{'code':'UNAVAILABLE','message':'not yet'}");
    static const struct script_step steps[] = {NODE_STEP, READ_STEP(record)};
    CLEANUP(freep) char *cluster = mem_printf(WORLD("%s"), record);

    (void)state;
    assert_ok(play(cluster, RECORD("3", "Attached", ""), steps, COUNT_OF(steps)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_failed_is_tried_again),
        cmocka_unit_test(test_once),
        cmocka_unit_test(test_what_is_under_way_is_left_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
