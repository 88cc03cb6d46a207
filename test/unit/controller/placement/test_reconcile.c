/* What is asked of the API server for a pod at the gate, and what its answers mean. */
#include "controller/placement/reconcile.h"

#include "controller/placement/reservations.h"
#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "test/unit/controller/placement/gated_world.h"
#include "test/unit/expect.h"
#include "test/unit/lib/kube/script.h"

#define POD "/api/v1/namespaces/shop/pods/p"
#define UNGATE(index) "PATCH " POD " [*'remove','path':'/spec/schedulingGates/" index "'}]"
#define POD_OF(uid, gates)                                                                         \
    "{'metadata':{'name':'p','namespace':'shop','uid':'" uid "'},"                                 \
    "'spec':{'schedulingGates':[" gates "]}}"
#define GATE "{'name':'disk.csi.azure.com/placement'}"

enum { SUCCESS = -1 };

struct reconciling {
    struct controller *controller;
    int kind; /* of the error; SUCCESS if there is none */
};

static void run(struct task *self, void *arg)
{
    struct reconciling *reconciling = arg;
    CLEANUP(err_freep)
    struct err *err = reconcile_placement(self, reconciling->controller, "shop/p");

    reconciling->kind = err ? (int)err_kind(err) : SUCCESS;
}

/* Of pod "p", with an API server that is asked for exactly this. */
static int reconcile(struct gated_world *world, const struct script_step *steps, size_t n)
{
    struct reconciling reconciling = {.controller = &world->c};
    struct task_group group;
    struct script script;

    group_init(&group, world->c.loop);
    script_init(&script, world->c.loop, steps, n);
    world->leading.placement_kube = script_client(&script, NULL);
    world->leading.queues[PLACEMENT_QUEUE] =
        workqueue_new(&group, &(struct workqueue_config){.name = "placement"});
    loop_spawn(world->c.loop, "reconcile", run, &reconciling);
    loop_advance(world->c.loop, 100); /* an answer takes a moment */
    assert_int_equal(script.next, n);
    assert_int_equal(script.unanswered, 0);
    workqueue_free(world->leading.queues[PLACEMENT_QUEUE]);
    kube_free(world->leading.placement_kube);
    return reconciling.kind;
}

/* A policy's answer is that of a patch that does not apply any more. */
static void test_a_removal_that_is_refused(void **state)
{
    static const struct {
        int status;
        const char *now;
        enum err_kind kind;
    } rows[] = {
        {200, POD_OF("p", GATE), ERR_DENIED},
        {200, POD_OF("p", ""), ERR_CONFLICT},
        {200, POD_OF("another", GATE), ERR_CONFLICT},
        {404, "{'kind':'Status','reason':'NotFound'}", ERR_CONFLICT},
        {500, "{'kind':'Status'}", ERR_CONFLICT},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct script_step steps[] = {
            SCRIPT_ANSWER(UNGATE("0"), 422, "{'kind':'Status','reason':'Invalid'}"),
            SCRIPT_ANSWER("GET " POD, rows[i].status, rows[i].now),
        };
        struct gated_world world;

        gated_world_open(&world);
        gated_world_pod(&world, "p", "", NULL);
        assert_int_equal(reconcile(&world, steps, COUNT_OF(steps)), rows[i].kind);
        gated_world_close(&world);
    }
}

/* Its place would be reserved for nobody. */
static void test_a_pod_that_others_hold(void **state)
{
    const struct script_step steps[] = {SCRIPT_ANSWER(UNGATE("1"), 200, "{}")};
    struct gated_world world;

    (void)state;
    gated_world_open(&world);
    gated_world_node(&world, "a", 4, "");
    gated_world_volume(&world, "one", 1);
    gated_world_attachment(&world, "one", "a", ROLE_REPLICA, STATE_ATTACHED);
    gated_world_held_pod(&world, "p", "one");
    assert_int_equal(reconcile(&world, steps, COUNT_OF(steps)), SUCCESS);
    assert_int_equal(reservations_count(&world.c, "a", NULL, 0), 0);
    gated_world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_removal_that_is_refused),
        cmocka_unit_test(test_a_pod_that_others_hold),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
