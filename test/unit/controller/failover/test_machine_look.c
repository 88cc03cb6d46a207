/* When the cloud is asked whether a machine is off, and for how long its answer counts. */
#include "controller/failover/machine_look.h"

#include <string.h>

#include "lib/api/names.h"
#include "lib/rt/task.h"
#include "provisioner-lib/cloud.h"
#include "test/unit/controller/controller_of.h"

#define MACHINE(name, provider, boot)                                                              \
    "{'metadata':{'name':'" name "'},'spec':{" provider "},'status':{'nodeInfo':{" boot "}}}"
#define PROVIDER "'providerID':'azure://vm'"
#define BOOT(id) "'bootID':'" id "'"

#define A MACHINE("a", PROVIDER, BOOT("1"))
#define OTHER MACHINE("other", "'providerID':'azure://other'", BOOT("9"))
#define ON(machine) ",'annotation':{'" ANNOTATION_VM "':'azure://" machine "'}"
/* A third one, "lost", has a replica, and no Node any more. */
#define CLUSTER_OF_TWO                                                                             \
    "{'nodes':[" A "," OTHER "],'volumes':[" VOLUME("v", "1") "],'attachments':[" ATTACHMENT(      \
        "v", "a", "Primary", "Primary", "Attached", "0",                                           \
        ON("moved/vm")) "," ATTACHMENT("v", "lost", "Replica", "Replica", "Attached", "1",         \
                                       ON("lost")) "]}"

enum { ANSWER_MS = 100, SECOND_MS = 1000 };

/* A cloud that knows what it is to say. */
struct scene {
    struct cloud cloud;
    struct loop *loop;
    struct task_group group;
    struct controller controller;
    json_t *json;
    struct cluster_view view;
    struct machine_looks *looks;
    bool off, gone, fails;
    const char *has_disk; /* a machine; NULL: there is none */
    unsigned questions;
};

static struct err *instance_id(struct cloud *cloud, const char *node, const char *provider_id,
                               char **ret_id)
{
    (void)cloud, (void)node;
    *ret_id = mem_strdup(provider_id);
    return NULL;
}

static struct err *instance_power(struct task *self, struct cloud *cloud, const char *id,
                                  enum cloud_power *ret)
{
    struct scene *scene = CONTAINER_OF(cloud, struct scene, cloud);

    assert_string_equal(id, "azure://vm");
    scene->questions++;
    *ret = scene->gone ? CLOUD_IS_GONE : scene->off ? CLOUD_IS_OFF : CLOUD_MAY_RUN;
    TRY(task_sleep(self, ANSWER_MS));
    return scene->fails ? err_new(ERR_UNAVAILABLE, "no answer") : NULL;
}

static struct err *disk_get(struct task *self, struct cloud *cloud, const char *disk_id,
                            struct cloud_disk *ret)
{
    const struct scene *scene = CONTAINER_OF(cloud, struct scene, cloud);

    (void)self;
    assert_string_equal(disk_id, GROUP_DISKS "v");
    if (!scene->has_disk)
        return err_new(ERR_NOT_FOUND, "no disk");
    *ret = (struct cloud_disk){.n_instances = 1, .instances = mem_alloc(sizeof(char *))};
    ret->instances[0] = mem_strdup(scene->has_disk);
    return NULL;
}

static const struct cloud_ops ops = {
    .instance_id = instance_id, .instance_power = instance_power, .disk_get = disk_get};

static struct scene *scene_new(void)
{
    struct scene *scene = mem_alloc(sizeof *scene);

    *scene = (struct scene){.cloud = {&ops}, .loop = loop_new_virtual(1)};
    scene->json = json_of(CLUSTER_OF_TWO);
    scene->view = view_of(scene->json);
    scene->controller = controller_of(&scene->view);
    scene->controller.loop = scene->loop;
    scene->controller.cloud = &scene->cloud;
    group_init(&scene->group, scene->loop);
    scene->looks = machine_looks_new(&scene->controller, &scene->group);
    return scene;
}

static void scene_free(struct scene *scene)
{
    group_cancel(&scene->group);
    loop_advance(scene->loop, SECOND_MS);
    assert_int_equal(scene->group.n_members, 0);
    machine_looks_free(scene->looks);
    controller_fini(&scene->controller);
    view_free(&scene->view);
    json_decref(scene->json);
    loop_free(scene->loop);
    free(scene);
}

static struct kube_object *node_of(const char *text)
{
    CLEANUP(json_decrefp) json_t *json = json_of(text);
    struct kube_object *node = NULL;

    assert_ok(kube_object_decode(&api__node__descriptor, json, &node));
    return node;
}

static enum machine_look known(const struct scene *scene, const char *text)
{
    CLEANUP(kube_object_unrefp) struct kube_object *node = node_of(text);

    return machine_look_of(scene->looks, node);
}

static void ask(const struct scene *scene, const char *text)
{
    CLEANUP(kube_object_unrefp) struct kube_object *node = node_of(text);

    machine_look_begin(scene->looks, node);
}

#define A_AGAIN MACHINE("a", PROVIDER, BOOT("2"))

static void test_its_boot_has_ended(void **state)
{
    struct scene *scene = scene_new();

    (void)state;
    scene->off = true;
    assert_int_equal(known(scene, A), MACHINE_TO_ASK);
    ask(scene, A);
    assert_int_equal(known(scene, A), MACHINE_ASKED);
    ask(scene, A); /* once is enough */
    loop_advance(scene->loop, ANSWER_MS);
    assert_int_equal(known(scene, A), MACHINE_IS_OFF);
    assert_int_equal(scene->questions, 1);
    /* For good; and another boot of it is another matter. */
    loop_advance(scene->loop, 3600 * SECOND_MS);
    assert_int_equal(known(scene, A), MACHINE_IS_OFF);
    assert_int_equal(known(scene, A_AGAIN), MACHINE_TO_ASK);
    scene_free(scene);
}

/* It has been started anew while the cloud was asked about the boot before. */
static void test_an_answer_is_about_one_boot(void **state)
{
    struct scene *scene = scene_new();

    (void)state;
    scene->off = true;
    ask(scene, A);
    loop_advance(scene->loop, ANSWER_MS / 2);
    scene->off = false;
    ask(scene, A_AGAIN);
    loop_advance(scene->loop, ANSWER_MS / 2);
    assert_int_equal(known(scene, A_AGAIN), MACHINE_ASKED);
    loop_advance(scene->loop, ANSWER_MS / 2);
    assert_int_equal(scene->questions, 2);
    assert_int_equal(known(scene, A_AGAIN), MACHINE_MAY_RUN);
    assert_int_equal(known(scene, A), MACHINE_TO_ASK);
    scene_free(scene);
}

/* It was heard of in between. */
static void test_what_is_forgotten_is_not_answered(void **state)
{
    struct scene *scene = scene_new();

    (void)state;
    scene->off = true;
    ask(scene, A);
    machine_look_forget(scene->looks, "a");
    machine_look_forget(scene->looks, "a");
    loop_advance(scene->loop, ANSWER_MS);
    assert_int_equal(known(scene, A), MACHINE_TO_ASK);
    scene_free(scene);
}

static void test_it_is_asked_less_and_less_often(void **state)
{
    static const unsigned pauses_s[] = {2, 4, 8, 16, 32, 60, 60};

    (void)state;
    for (size_t fails = 0; fails < 2; fails++) {
        struct scene *scene = scene_new();

        scene->fails = scene->off = fails; /* what it says then is no answer */
        for (size_t i = 0; i < COUNT_OF(pauses_s); i++) {
            ask(scene, A);
            loop_advance(scene->loop, ANSWER_MS);
            assert_int_equal(known(scene, A), MACHINE_MAY_RUN);
            loop_advance(scene->loop, (uint64_t)pauses_s[i] * SECOND_MS - 1);
            assert_int_equal(known(scene, A), MACHINE_MAY_RUN);
            ask(scene, A);
            assert_int_equal(scene->questions, i + 1);
            loop_advance(scene->loop, 1);
            assert_int_equal(known(scene, A), MACHINE_TO_ASK);
        }
        scene_free(scene);
    }
}

/* A name is a guess, and that there is no machine of it proves nothing. */
static void test_who_cannot_be_asked(void **state)
{
    static const char *const nodes[] = {MACHINE("a", "", BOOT("1")),
                                        MACHINE("a", "'providerID':''", BOOT("1")),
                                        MACHINE("a", PROVIDER, "")};
    struct scene *scene = scene_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(nodes); i++) {
        assert_int_equal(known(scene, nodes[i]), MACHINE_IS_UNKNOWN);
        ask(scene, nodes[i]);
        loop_advance(scene->loop, SECOND_MS);
        assert_int_equal(known(scene, nodes[i]), MACHINE_IS_UNKNOWN);
    }
    assert_int_equal(scene->questions, 0);
    scene_free(scene);
}

/* There is no machine of that id: it was deleted, or has another one by now. */
static void test_a_machine_that_is_gone(void **state)
{
    static const struct {
        const char *has_disk;
        enum machine_look known;
    } rows[] = {
        {"azure://VM", MACHINE_IS_OFF}, /* Azure tells of deleted ones for a while */
        {"azure://other", MACHINE_IS_OFF},
        {"azure://LOST", MACHINE_IS_OFF},
        {NULL, MACHINE_IS_OFF},
        {"azure://moved/vm", MACHINE_MAY_RUN},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct scene *scene = scene_new();

        scene->gone = true;
        scene->has_disk = rows[i].has_disk;
        ask(scene, A);
        loop_advance(scene->loop, ANSWER_MS);
        assert_int_equal(known(scene, A), rows[i].known);
        scene_free(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_its_boot_has_ended),
        cmocka_unit_test(test_an_answer_is_about_one_boot),
        cmocka_unit_test(test_what_is_forgotten_is_not_answered),
        cmocka_unit_test(test_it_is_asked_less_and_less_often),
        cmocka_unit_test(test_a_machine_that_is_gone),
        cmocka_unit_test(test_who_cannot_be_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
