/* Which calls of external-attacher are to come, row by row, and how long a VM waits for them. */
#include "controller/attachment/attacher_calls.h"

#include "lib/rt/group.h"
#include "lib/rt/wait.h"
#include "test/unit/controller/controller_of.h"

#define DELETED(name, pv)                                                                          \
    "{'metadata':{'name':'" name "','deletionTimestamp':'2026-01-01T00:00:09Z'},"                  \
    "'spec':{'attacher':'" DRIVER "','nodeName':'a','source':{'persistentVolumeName':'" pv "'}},"  \
    "'status':{'attached':true}}"
#define FAILED(name, pv)                                                                           \
    "{'metadata':{'name':'" name "'},'spec':{'attacher':'" DRIVER "','nodeName':'a',"              \
    "'source':{'persistentVolumeName':'" pv "'}},"                                                 \
    "'status':{'attached':false,'attachError':{'message':'m'}}}"
#define OF_OTHERS(name, pv)                                                                        \
    "{'metadata':{'name':'" name "'},'spec':{'attacher':'other','nodeName':'a',"                   \
    "'source':{'persistentVolumeName':'" pv "'}},'status':{'attached':false}}"
#define REPLICATED(name)                                                                           \
    "{'metadata':{'name':'" name "'},'spec':{'volumeName':'" name                                  \
    "','maxMountReplicaCount':1,'parameters':{'maxShares':'2'}},"                                  \
    "'status':{'state':'Created','detail':{'volume_id':'" GROUP_DISKS name "'}}}"
#define NEW(name, pv) VOLUME_ATTACHMENT(name, pv, "a", "false")
#define VOLUMES                                                                                    \
    "'volumes':[" VOLUME("v", "1") "," REPLICATED("r") "],'pvs':[" PV("v", "v") "," PV("r",        \
                                                                                       "r") "],"

/* clang-format off */
static const struct {
    const char *what, *cluster;
    size_t to_come; /* for node a */
} rows[] = {
    {"nothing", "{}", 0},
    {"two new ones", "{" VOLUMES "'volume_attachments':[" NEW("1", "v") "," NEW("2", "r") "]}", 2},
    {"one for another node", "{" VOLUMES "'volume_attachments':[" VOLUME_ATTACHMENT("1", "v", "b", "false") "]}", 0},
    {"one of another driver", "{" VOLUMES "'volume_attachments':[" OF_OTHERS("1", "v") "]}", 0},
    {"one of a volume that nobody knows", "{'volume_attachments':[" NEW("1", "gone") "]}", 0},
    {"one that is done", "{" VOLUMES "'volume_attachments':[" VOLUME_ATTACHMENT("1", "v", "a", "true") "]}", 0},
    {"one that has failed: nobody knows when it is tried again",
     "{" VOLUMES "'volume_attachments':[" FAILED("1", "v") "]}", 0},
    {"one that has come, and has no LUN yet",
     "{" VOLUMES "'volume_attachments':[" NEW("1", "v") "],"
     "'attachments':[" ATTACHMENT("v", "a", "Primary", "", "Pending", "", "") "]}", 1},
    {"one that has come", "{" VOLUMES "'volume_attachments':[" NEW("1", "v") "],"
     "'attachments':[" ATTACHMENT("v", "a", "Primary", "", "Attaching", "3", "") "]}", 0},
    {"where its replica is", "{" VOLUMES "'volume_attachments':[" NEW("1", "r") "],"
     "'attachments':[" ATTACHED("r", "a", "Replica", "3") "]}", 0},
    {"one that is to go", "{" VOLUMES "'volume_attachments':[" DELETED("1", "v") "],"
     "'attachments':[" ATTACHED("v", "a", "Primary", "3") "]}", 1},
    {"one that is to go, and stays as a replica", "{" VOLUMES "'volume_attachments':[" DELETED("1", "r") "],"
     "'attachments':[" ATTACHED("r", "a", "Primary", "3") "]}", 0},
    {"one that has gone", "{" VOLUMES "'volume_attachments':[" DELETED("1", "v") "]}", 0},
};
/* clang-format on */

static void test_which_are_to_come(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        json_t *json = json_of(rows[i].cluster);
        struct cluster_view view = view_of(json);
        struct controller controller = controller_of(&view);
        size_t found = attacher_calls_to_come(&controller, "a");

        if (found != rows[i].to_come)
            fail_msg("%s: %zu are to come", rows[i].what, found);
        controller_fini(&controller);
        view_free(&view);
        json_decref(json);
    }
}

/* ---- how long a VM waits ---- */

struct scene {
    struct loop *loop;
    struct task_group group;
    struct cloud cloud;
    struct leading leading;
    struct controller controller;
    json_t *json;
    struct cluster_view view;
};

static int announced; /* calls that a VM was told of, less those that it no longer waits for */

static void instance_announce(struct cloud *cloud, const char *id, bool coming)
{
    (void)cloud;
    assert_string_equal(id, "/vm");
    announced += coming ? 1 : -1;
}

static const struct cloud_ops ops = {.instance_announce = instance_announce};

/* Two calls are to come, to node a. */
static struct scene *scene_new(void)
{
    struct scene *scene = mem_alloc(sizeof *scene);

    scene->json =
        json_of("{" VOLUMES "'volume_attachments':[" NEW("1", "v") "," NEW("2", "r") "]}");
    scene->view = view_of(scene->json);
    scene->controller = controller_of(&scene->view);
    scene->cloud.ops = &ops;
    scene->loop = loop_new_virtual(1);
    group_init(&scene->group, scene->loop);
    scene->controller.loop = scene->loop;
    scene->controller.cloud = &scene->cloud;
    scene->controller.leading = &scene->leading;
    scene->leading.attacher_calls = attacher_calls_start(&scene->controller, &scene->group);
    announced = 0;
    attacher_calls_expect(&scene->controller, "a", "/vm");
    assert_int_equal(announced, 1);
    return scene;
}

static void close_group(struct task *self, void *arg)
{
    group_close(self, arg);
}

static void scene_free(struct scene *scene)
{
    loop_spawn(scene->loop, "close", close_group, &scene->group);
    loop_advance(scene->loop, 0);
    assert_int_equal(announced, 0);
    attacher_calls_free(scene->leading.attacher_calls);
    controller_fini(&scene->controller);
    view_free(&scene->view);
    json_decref(scene->json);
    loop_free(scene->loop);
    free(scene);
}

static void comes(struct scene *scene, const char *text)
{
    json_t *json = json_of(text);
    struct kube_object *object;

    assert_ok(kube_object_decode(&api__az_volume_attachment__descriptor, json, &object));
    store_put(scene->controller.attachments, object);
    attacher_calls_changed(&scene->controller, "a");
    loop_advance(scene->loop, 0);
    kube_object_unref(object);
    json_decref(json);
}

static void test_until_all_have_come(void **state)
{
    struct scene *scene = scene_new();

    (void)state;
    loop_advance(scene->loop, 900);
    comes(scene, ATTACHMENT("v", "a", "Primary", "", "Attaching", "0", ""));
    loop_advance(scene->loop, 900);
    assert_int_equal(announced, 1);
    attacher_calls_expect(&scene->controller, "a", "/vm"); /* by the next one */
    loop_advance(scene->loop, 0);
    assert_int_equal(announced, 1);
    comes(scene, ATTACHMENT("r", "a", "Primary", "", "Attaching", "1", ""));
    assert_int_equal(announced, 0);
    attacher_calls_expect(&scene->controller, "a", "/vm");
    loop_advance(scene->loop, 0);
    assert_int_equal(announced, 0);
    scene_free(scene);
}

static void test_until_none_has_come_for_a_while(void **state)
{
    struct scene *scene = scene_new();

    (void)state;
    loop_advance(scene->loop, 600);
    attacher_calls_changed(&scene->controller, "a"); /* by something else */
    loop_advance(scene->loop, 399);
    assert_int_equal(announced, 1);
    loop_advance(scene->loop, 1);
    assert_int_equal(announced, 0);
    scene_free(scene);
}

static void test_not_beyond_the_end(void **state)
{
    (void)state;
    scene_free(scene_new());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_are_to_come),
        cmocka_unit_test(test_until_all_have_come),
        cmocka_unit_test(test_until_none_has_come_for_a_while),
        cmocka_unit_test(test_not_beyond_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
