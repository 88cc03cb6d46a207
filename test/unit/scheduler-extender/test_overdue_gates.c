/* Which gates are taken away, when, and how many at a time. Virtual time, from 2026 on. */
#include "scheduler-extender/overdue_gates.h"

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "test/unit/expect.h"
#include "test/unit/scheduler-extender/watched.h"

#define POD_OF(name, uid, version, made, gates)                                                    \
    "{'metadata':{'name':'" name "','namespace':'shop','uid':'" uid                                \
    "','resourceVersion':'" version "','creationTimestamp':'" made                                 \
    "'},'spec':{'schedulingGates':[" gates "]}}"
#define OURS "{'name':'disk.csi.azure.com/placement'}"
#define OTHER "{'name':'disk.csi.azure.com/placement2'}"
#define AT_START "2026-01-01T00:00:00Z"
#define LONG_AGO "2025-12-31T00:00:00Z"
#define GATED(name, version, made) POD_OF(name, name, version, made, OURS)

#define REMOVAL(name, uid, index)                                                                  \
    "/api/v1/namespaces/shop/pods/" name                                                           \
    " [{\"op\":\"test\",\"path\":\"/metadata/uid\",\"value\":\"" uid                               \
    "\"},{\"op\":\"test\",\"path\":\"/spec/schedulingGates/" index                                 \
    "/name\",\"value\":\"disk.csi.azure.com/placement\"},{\"op\":\"remove\",\"path\":"             \
    "\"/spec/schedulingGates/" index "\"}]\n"

struct scene {
    struct watched watched;
    struct overdue_gates *gates;
};

static void begin(struct scene *scene, const char *items)
{
    watched_init(&scene->watched, items);
    scene->gates = overdue_gates_start(scene->watched.loop, &scene->watched.group,
                                       &(struct overdue_gates_config){.kube = scene->watched.kube});
    loop_advance(scene->watched.loop, 1);
}

static void end(struct scene *scene)
{
    struct overdue_gates *gates = scene->gates;

    watched_fini(&scene->watched);
    overdue_gates_free(gates);
}

static void expect_patches(struct scene *scene, const char *patches)
{
    assert_string_equal(scene->watched.patches, patches);
    scene->watched.patches[0] = '\0';
}

static void test_only_overdue_gates_go(void **state)
{
    struct scene scene;

    (void)state;
    begin(&scene, GATED("a", "1", AT_START));
    watched_say(&scene.watched, "ADDED", POD_OF("b", "b", "10", AT_START, OTHER));
    watched_say(&scene.watched, "ADDED", GATED("c", "11", AT_START));
    watched_say(&scene.watched, "MODIFIED", POD_OF("c", "c", "12", AT_START, OTHER));
    watched_say(&scene.watched, "ADDED", GATED("d", "13", AT_START));
    watched_say(&scene.watched, "DELETED", GATED("d", "14", AT_START));
    loop_advance(scene.watched.loop, 4990);
    expect_patches(&scene, "");
    loop_advance(scene.watched.loop, 100);
    expect_patches(&scene, "50 " REMOVAL("a", "a", "0"));
    watched_say(&scene.watched, "MODIFIED", POD_OF("a", "a", "15", AT_START, ""));
    loop_advance(scene.watched.loop, 60 * 1000);
    expect_patches(&scene, "");
    end(&scene);
}

/* One of before a restart goes at once. */
static void test_a_gate_that_was_overdue_before(void **state)
{
    struct scene scene;

    (void)state;
    begin(&scene, GATED("a", "1", LONG_AGO));
    loop_advance(scene.watched.loop, 50);
    expect_patches(&scene, "0 " REMOVAL("a", "a", "0"));
    end(&scene);
}

/* Whatever changes of the pod, its time goes on; that of another pod of its name begins. */
static void test_a_pod_waits_since_it_was_seen(void **state)
{
    struct scene scene;

    (void)state;
    begin(&scene, GATED("a", "1", AT_START));
    loop_advance(scene.watched.loop, 3000);
    watched_say(&scene.watched, "MODIFIED", POD_OF("a", "a", "10", AT_START, OTHER "," OURS));
    loop_advance(scene.watched.loop, 2050);
    expect_patches(&scene, "50 " REMOVAL("a", "a", "1"));
    watched_say(&scene.watched, "MODIFIED",
                POD_OF("a", "another", "11", "2026-01-01T00:00:05Z", OURS));
    loop_advance(scene.watched.loop, 4900);
    expect_patches(&scene, "");
    loop_advance(scene.watched.loop, 200);
    expect_patches(&scene, "100 " REMOVAL("a", "another", "0"));
    end(&scene);
}

/* No more gates are to be added meanwhile; those that are gone already are no failure. */
static void test_what_fails_is_tried_again(void **state)
{
    struct scene scene;

    (void)state;
    begin(&scene, GATED("a", "1", LONG_AGO));
    assert_true(overdue_gates_are_removed(scene.gates));
    scene.watched.patch_status = 403;
    loop_advance(scene.watched.loop, 2050);
    assert_false(overdue_gates_are_removed(scene.gates));
    assert_int_equal(scene.watched.n_patches, 3);
    scene.watched.patch_status = 422;
    loop_advance(scene.watched.loop, 1000);
    assert_true(overdue_gates_are_removed(scene.gates));
    assert_int_equal(scene.watched.n_patches, 4);
    end(&scene);
}

/* A policy answers as if the gate were gone; but it is there. */
static void test_a_patch_that_never_applies_is_refused(void **state)
{
    struct scene scene;

    (void)state;
    begin(&scene, GATED("a", "1", LONG_AGO));
    scene.watched.patch_status = 422;
    loop_advance(scene.watched.loop, 1500);
    assert_int_equal(scene.watched.n_patches, 2);
    assert_true(overdue_gates_are_removed(scene.gates));
    loop_advance(scene.watched.loop, 1000);
    assert_int_equal(scene.watched.n_patches, 3);
    assert_false(overdue_gates_are_removed(scene.gates));
    watched_say(&scene.watched, "MODIFIED", POD_OF("a", "another", "10", LONG_AGO, OURS));
    loop_advance(scene.watched.loop, 50);
    assert_int_equal(scene.watched.n_patches, 4);
    assert_true(overdue_gates_are_removed(scene.gates));
    end(&scene);
}

/* Then nothing is left that would be tried, and show that it works again. */
static void test_somebody_else_removes_what_has_failed(void **state)
{
    struct scene scene;

    (void)state;
    begin(&scene, GATED("a", "1", LONG_AGO));
    scene.watched.patch_status = 403;
    loop_advance(scene.watched.loop, 50);
    watched_say(&scene.watched, "MODIFIED", POD_OF("a", "a", "10", LONG_AGO, ""));
    loop_advance(scene.watched.loop, 55 * 1000);
    assert_false(overdue_gates_are_removed(scene.gates));
    loop_advance(scene.watched.loop, 10 * 1000);
    assert_true(overdue_gates_are_removed(scene.gates));
    assert_int_equal(scene.watched.n_patches, 1);
    end(&scene);
}

static void test_a_few_at_a_time(void **state)
{
    struct buffer items = {.limit = 1 << 20};
    struct scene scene;

    (void)state;
    for (int i = 0; i < 100; i++)
        buffer_printf(&items,
                      "%s{'metadata':{'name':'p%d','namespace':'shop','uid':'u%d',"
                      "'resourceVersion':'1','creationTimestamp':'" LONG_AGO
                      "'},'spec':{'schedulingGates':[" OURS "]}}",
                      i ? "," : "", i, i);
    begin(&scene, items.data);
    loop_advance(scene.watched.loop, 200);
    assert_int_equal(scene.watched.n_patches, 100);
    assert_int_equal(scene.watched.most_under_way, 8);
    end(&scene);
    buffer_fini(&items);
}

struct leaving {
    struct scene *scene;
    bool done;
};

static void leave(struct task *self, void *arg)
{
    struct leaving *leaving = arg;

    overdue_gates_leave(self, leaving->scene->gates);
    leaving->done = true;
}

/* Nothing is left to others, who may end at the same time. */
static void test_who_leaves_takes_all_away(void **state)
{
    struct scene scene;
    struct leaving leaving = {&scene, false};

    (void)state;
    begin(&scene, GATED("a", "1", AT_START));
    loop_spawn(scene.watched.loop, "leave", leave, &leaving);
    loop_advance(scene.watched.loop, 5);
    watched_say(&scene.watched, "ADDED", GATED("b", "10", AT_START));
    expect_patches(&scene, "0 " REMOVAL("a", "a", "0") "0 " REMOVAL("b", "b", "0"));
    watched_say(&scene.watched, "MODIFIED", POD_OF("a", "a", "11", AT_START, ""));
    assert_false(leaving.done);
    watched_say(&scene.watched, "MODIFIED", POD_OF("b", "b", "12", AT_START, ""));
    assert_true(leaving.done);
    end(&scene);
}

static void test_nobody_waits_long_for_who_leaves(void **state)
{
    struct scene scene;
    struct leaving leaving = {&scene, false};

    (void)state;
    begin(&scene, GATED("a", "1", AT_START));
    scene.watched.patch_status = 403;
    loop_spawn(scene.watched.loop, "leave", leave, &leaving);
    loop_advance(scene.watched.loop, 2900);
    assert_false(leaving.done);
    loop_advance(scene.watched.loop, 200);
    assert_true(leaving.done);
    end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_overdue_gates_go),
        cmocka_unit_test(test_a_gate_that_was_overdue_before),
        cmocka_unit_test(test_a_pod_waits_since_it_was_seen),
        cmocka_unit_test(test_what_fails_is_tried_again),
        cmocka_unit_test(test_a_patch_that_never_applies_is_refused),
        cmocka_unit_test(test_somebody_else_removes_what_has_failed),
        cmocka_unit_test(test_a_few_at_a_time),
        cmocka_unit_test(test_who_leaves_takes_all_away),
        cmocka_unit_test(test_nobody_waits_long_for_who_leaves),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
