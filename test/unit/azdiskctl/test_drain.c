/* What a drain changes where it cannot read what it is about: nothing. */
#include "azdiskctl/drain.h"

#include "test/unit/expect.h"
#include "test/unit/lib/kube/script.h"

#define RECORDS "/apis/disk.csi.azure.com/v1beta2/namespaces/objects/azvolumes?limit=500"

static const struct script_step script_steps[] = {
    SCRIPT_ANSWER("GET /apis/apps/v1/deployments?*", 200, "{'metadata':{},'items':[]}"),
    SCRIPT_ANSWER("GET /api/v1/nodes/a", 200, "{'metadata':{'name':'a'},'spec':{}}"),
    SCRIPT_ANSWER("*", 403, /* whatever it is */
                  "{'kind':'Status','status':'Failure','message':'no','reason':'Forbidden',"
                  "'code':403}"),
};

struct draining {
    struct drain_config config;
    struct err *err;
};

static void drain_task(struct task *self, void *arg)
{
    struct draining *draining = arg;
    json_t *document = NULL;

    draining->err = drain_json(self, &draining->config, &document);
    json_decref(document);
    loop_stop(loop_of(self));
}

/* A loop of real time: virtual ones have no signals, which a drain listens to. */
static void test_nothing_is_cordoned_without_the_records(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new();
    CLEANUP(steps_end) struct steps steps;
    struct script script;

    (void)state;
    steps_begin(&steps, loop, stderr);
    script_init(&script, loop, script_steps, COUNT_OF(script_steps));
    struct kube *kube = script_client(&script, NULL);
    struct draining draining = {.config = {.kube = kube,
                                           .query = {.driver_name = "disk.csi.azure.com",
                                                     .object_namespace = "objects",
                                                     .pod_node = "a"},
                                           .timeout_ms = 1000,
                                           .steps = &steps}};
    loop_spawn(loop, "drain", drain_task, &draining);
    loop_run(loop);
    assert_fails(draining.err, ERR_DENIED, "azvolumes: GET " RECORDS ": no (HTTP 403)");
    assert_int_equal(script.next, script.n);
    assert_int_equal(script.unanswered, 0);
    kube_free(kube);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_cordoned_without_the_records)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
