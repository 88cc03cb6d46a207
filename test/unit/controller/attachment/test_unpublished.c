/* Whether a primary on record is unpublished is asked of the API server: kubelet may have the
 * volume in use, or Kubernetes a VolumeAttachment of it, whatever the cache knows. */
#include "controller/attachment/unpublished.h"

#include "lib/kube/cached_client.h"
#include "provisioner-lib/records/names.h"
#include "test/unit/controller/controller_of.h"
#include "test/unit/lib/kube/script.h"

/* clang-format off */
#define GET_NODE "GET /api/v1/nodes/a"
#define GET_PRIMARY "GET /apis/disk.csi.azure.com/v1beta2/namespaces/d/azvolumeattachments/v-a-attachment"
#define LIST "GET /apis/storage.k8s.io/v1/volumeattachments?limit=500"
#define PRIMARY(annotations)                                                                       \
    "{'metadata':{'name':'v-a-attachment','namespace':'d','resourceVersion':'7'},'spec':{'volumeName':'v',"   \
    "'volume_id':'" GROUP_DISKS "v','nodeName':'a','role':'Primary'},"                             \
    "'status':{'annotation':{" annotations "}}}"
#define UNUSED {GET_NODE, 200, .answer = NODE("a", "True", "")}, {GET_PRIMARY, 200, .answer = PRIMARY("")}
#define LISTED(items) {LIST, 200, .answer = "{'metadata':{'resourceVersion':'9'},'items':[" items "]}"}
#define OTHER_DRIVER                                                                               \
    "{'metadata':{'name':'o'},'spec':{'attacher':'other','nodeName':'a','source':"                 \
    "{'persistentVolumeName':'pv'}}}"

enum { STEPS = 4 };
enum { NO, YES, FAILS /* and the kind of the error */ };

static const struct {
    const char *what;
    struct script_step steps[STEPS];
    int answer;
} rows[] = {
    {"nobody has it", {UNUSED, LISTED("")}, YES},
    {"kubelet has it", {{GET_NODE, 200, .answer = NODE("a", "True", IN_USE("v"))}, {GET_PRIMARY, 200, .answer = PRIMARY("")}}, NO},
    {"kubelet of a node that is silent has it",
     {{GET_NODE, 200, .answer = NODE("a", "Unknown", IN_USE("v"))}, {GET_PRIMARY, 200, .answer = PRIMARY("")}}, NO},
    {"fsck runs on it",
     {{GET_NODE, 200, .answer = NODE("a", "True", "")},
      {GET_PRIMARY, 200, .answer = PRIMARY("'" ANNOTATION_RUNNING_JOB "':'fsck'")}}, NO},
    {"its node is gone", {{GET_NODE, 404, .answer = "{'kind':'Status','reason':'NotFound'}"}, {GET_PRIMARY, 200, .answer = PRIMARY("")}}, NO},
    {"its node cannot be read", {{GET_NODE, 403, .answer = "{'kind':'Status'}"}}, FAILS + ERR_UNAVAILABLE},
    {"it is published there", {UNUSED, LISTED(VOLUME_ATTACHMENT("1", "pv", "a", "true"))}, NO},
    {"it is about to be", {UNUSED, LISTED(VOLUME_ATTACHMENT("1", "pv", "a", "false"))}, NO},
    {"it is published elsewhere", {UNUSED, LISTED(VOLUME_ATTACHMENT("1", "pv", "b", "true"))}, YES},
    {"another volume is published there", {UNUSED, LISTED(VOLUME_ATTACHMENT("1", "pw", "a", "true"))}, YES},
    {"another driver has the node's", {UNUSED, LISTED(OTHER_DRIVER)}, YES},
    {"one of whatever volume is published there", {UNUSED, LISTED(VOLUME_ATTACHMENT("1", "unknown", "a", "true"))}, NO},
    {"it is published there, among many",
     {UNUSED, LISTED(VOLUME_ATTACHMENT("1", "pv", "b", "true") "," VOLUME_ATTACHMENT("2", "pv", "a", "true") ","
                     VOLUME_ATTACHMENT("3", "pw", "a", "true"))}, NO},
    {"who has it published cannot be listed", {UNUSED, {LIST, 403, .answer = "{'kind':'Status'}"}}, FAILS + ERR_DENIED},
};

static const char known[] =
    "{'volumes':[" VOLUME("v", "1") "," VOLUME("w", "1") "],'pvs':[" PV("pv", "v") "," PV("pw", "w") "],"
    "'attachments':[" PRIMARY("") "]}";
/* clang-format on */

struct question {
    struct controller controller;
    int answer;
};

static void ask(struct task *self, void *arg)
{
    struct question *q = arg;
    struct kube_object *primary = store_get(q->controller.attachments, "d/v-a-attachment");

    bool is_unpublished = false;
    CLEANUP(err_freep)
    struct err *err = unpublished_read(self, &q->controller, primary, &is_unpublished);

    q->answer = err ? FAILS + (int)err_kind(err) : is_unpublished ? YES : NO;
}

static void test_whether_a_primary_is_unpublished(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
        CLEANUP(json_decrefp) json_t *json = json_of(known);
        CLEANUP(view_free) struct cluster_view view = view_of(json);
        struct question q = {.controller = controller_of(&view)};
        struct script script;
        size_t n = 0;

        while (n < STEPS && rows[i].steps[n].request)
            n++;
        script_init(&script, loop, rows[i].steps, n);
        q.controller.loop = loop;
        q.controller.settings.namespace_ = "d";
        q.controller.kube = q.controller.leader_kube = script_client(&script, NULL);
        loop_spawn(loop, "ask", ask, &q);
        loop_run(loop);
        if (script.next != n || script.unanswered > 0)
            fail_msg("%s: not all was asked, or more", rows[i].what);
        if (q.answer != rows[i].answer)
            fail_msg("%s: %d", rows[i].what, q.answer);
        kube_free(q.controller.kube);
        controller_fini(&q.controller);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whether_a_primary_is_unpublished),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
