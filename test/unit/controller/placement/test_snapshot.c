/* From the cache to the pick: each test is a small cluster and a pod at the gate. */
#include "controller/placement/snapshot.h"

#include "controller/placement/reservations.h"
#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "test/unit/controller/placement/gated_world.h"
#include "test/unit/expect.h"

/* "Nominated a", or why nothing is picked. */
static void expect_pick(struct gated_world *world, const struct kube_object *pod, const char *asked,
                        const char *expected)
{
    CLEANUP(placement_work_fini) struct placement_work work = {0};

    placement_work_gather(&world->c, KUBE_AS(Api__Pod, pod), asked, &work);
    struct pick pick = pick_node(work.nodes, work.n_nodes, (unsigned)work.n_volumes);
    CLEANUP(freep)
    char *got = pick.result == PICK_NODE ? mem_printf("Nominated %s", work.nodes[pick.node].name)
                                         : mem_strdup(pick_result_word(pick.result));
    assert_string_equal(got, expected);
}

static void three_nodes(struct gated_world *world)
{
    gated_world_open(world);
    gated_world_node(world, "a", 4, "");
    gated_world_node(world, "b", 4, "");
    gated_world_node(world, "c", 4, "");
    gated_world_volume(world, "one", 1);
    gated_world_volume(world, "two", 1);
    gated_world_volume(world, "many", 5);
}

static void test_volumes(void **state)
{
    struct gated_world world;

    (void)state;
    three_nodes(&world);
    expect_pick(&world, gated_world_pod(&world, "p", "", NULL), NULL, "NoVolume");
    expect_pick(&world, gated_world_pod(&world, "p", "absent", NULL), NULL, "NoVolume");
    expect_pick(&world, gated_world_pod(&world, "p", "one", NULL), NULL, "NoReplica");
    gated_world_attachment(&world, "many", "c", ROLE_PRIMARY, STATE_ATTACHED);
    expect_pick(&world, gated_world_pod(&world, "p", "many", NULL), NULL, "NoVolume");
    gated_world_attachment(&world, "one", "a", ROLE_REPLICA, STATE_ATTACHED);
    expect_pick(&world, gated_world_pod(&world, "p", "many one", NULL), NULL, "Nominated a");
    /* Named twice, a claim is still one disk. */
    gated_world_attachment(&world, "two", "b", ROLE_REPLICA, STATE_ATTACHED);
    expect_pick(&world, gated_world_pod(&world, "p", "two two one", NULL), NULL, "Nominated a");
    gated_world_attachment(&world, "one", "b", ROLE_REPLICA, STATE_ATTACHED);
    expect_pick(&world, gated_world_pod(&world, "p", "one two", NULL), NULL, "Nominated b");
    expect_pick(&world, gated_world_pod(&world, "p", "one", NULL), "b", "Nominated b");
    expect_pick(&world, gated_world_pod(&world, "p", "one two", NULL), "a", "Nominated b");
    gated_world_close(&world);
}

static void test_states(void **state)
{
    struct gated_world world;

    (void)state;
    three_nodes(&world);
    gated_world_attachment(&world, "one", "a", ROLE_REPLICA, STATE_ATTACHING);
    struct kube_object *pod = gated_world_pod(&world, "p", "one", NULL);
    expect_pick(&world, pod, NULL, "Nominated a");
    gated_world_attachment(&world, "one", "b", ROLE_REPLICA, STATE_ATTACHED);
    expect_pick(&world, pod, NULL, "Nominated b");
    gated_world_attachment(&world, "one", "b", ROLE_REPLICA, "Detaching");
    expect_pick(&world, pod, NULL, "Nominated a");
    gated_world_attachment(&world, "one", "a", ROLE_REPLICA, "Detaching");
    expect_pick(&world, pod, NULL, "NoReplica");
    gated_world_close(&world);
}

static void test_nodes(void **state)
{
    struct gated_world world;

    (void)state;
    three_nodes(&world);
    gated_world_attachment(&world, "one", "a", ROLE_REPLICA, STATE_ATTACHED);
    struct kube_object *pod = gated_world_pod(&world, "p", "one", NULL);
    gated_world_node_ready(&world, "a", "False");
    expect_pick(&world, pod, NULL, "NodesNotReady");
    gated_world_node(&world, "a", 4, "'unschedulable':true");
    expect_pick(&world, pod, NULL, "NodesRefused");
    gated_world_node(&world, "a", 4, "'taints':[{'key':'x','effect':'NoSchedule'}]");
    expect_pick(&world, pod, NULL, "NodesRefused");
    gated_world_node(&world, "a", 4, "");
    expect_pick(&world, pod, NULL, "Nominated a");
    loop_skip(world.c.loop, 3 * 60 * 1000); /* no plug-in has been heard of since */
    expect_pick(&world, pod, NULL, "NodesNotReady");
    gated_world_attachment(&world, "one", "nobody", ROLE_REPLICA, STATE_ATTACHED);
    expect_pick(&world, pod, NULL, "NodesNotReady");
    gated_world_close(&world);
}

static void test_places(void **state)
{
    struct gated_world world;

    (void)state;
    three_nodes(&world);
    gated_world_node(&world, "a", 1, "");
    gated_world_attachment(&world, "one", "a", ROLE_REPLICA, STATE_ATTACHED);
    struct kube_object *pod = gated_world_pod(&world, "p", "one", NULL);
    expect_pick(&world, pod, NULL, "Nominated a");
    gated_world_attachment(&world, "two", "a", ROLE_REPLICA, STATE_ATTACHED);
    expect_pick(&world, pod, NULL, "Nominated a"); /* a replica gives way */
    gated_world_attachment(&world, "two", "a", ROLE_PRIMARY, STATE_ATTACHED);
    expect_pick(&world, pod, NULL, "NodesFull");
    expect_pick(&world, gated_world_pod(&world, "q", "two", NULL), NULL, "Nominated a");
    gated_world_close(&world);
}

/* ---- two pods at once ---- */

static void reserve(struct gated_world *world, const char *pod, const char *node,
                    const char *volume)
{
    CLEANUP(freep) char *copy = mem_strdup(volume);
    char *const volumes[] = {copy};

    reservations_make(&world->c, pod, node, volumes, 1);
}

static void one_place(struct gated_world *world)
{
    three_nodes(world);
    gated_world_node(world, "a", 1, "");
    gated_world_attachment(world, "one", "a", ROLE_REPLICA, STATE_ATTACHED);
    gated_world_attachment(world, "two", "a", ROLE_REPLICA, STATE_ATTACHED);
    gated_world_pod(world, "p", "one", NULL);
    gated_world_pod(world, "q", "two", NULL);
    reserve(world, "shop/p", "a", "one");
}

static struct kube_object *pod_of(const struct gated_world *world, const char *key)
{
    return store_get(world->c.pods, key);
}

static void test_the_last_place(void **state)
{
    struct gated_world world;

    (void)state;
    one_place(&world);
    expect_pick(&world, pod_of(&world, "shop/p"), NULL, "Nominated a");
    expect_pick(&world, pod_of(&world, "shop/q"), NULL, "NodesFull");
    gated_world_pod(&world, "p", "one", "a"); /* it has come, but its primary is not on record */
    expect_pick(&world, pod_of(&world, "shop/q"), NULL, "NodesFull");
    gated_world_attachment(&world, "one", "a", ROLE_PRIMARY, STATE_ATTACHED);
    assert_int_equal(reservations_count(&world.c, "a", NULL, 0), 0); /* it is not counted twice */
    expect_pick(&world, pod_of(&world, "shop/q"), NULL, "NodesFull");
    gated_world_close(&world);
}

static void test_a_reservation_ends(void **state)
{
    struct gated_world world;

    (void)state;
    one_place(&world);
    gated_world_pod(&world, "p", "one", "b"); /* the scheduler knows better */
    expect_pick(&world, pod_of(&world, "shop/q"), NULL, "Nominated a");
    gated_world_close(&world);

    one_place(&world);
    gated_world_remove_pod(&world, "p");
    expect_pick(&world, pod_of(&world, "shop/q"), NULL, "Nominated a");
    gated_world_close(&world);

    one_place(&world);
    reserve(&world, "shop/p", "b", "one"); /* it is proposed for another node */
    expect_pick(&world, pod_of(&world, "shop/q"), NULL, "Nominated a");
    assert_int_equal(reservations_count(&world.c, "b", NULL, 0), 1);
    reservations_end(&world.c, "shop/p");
    assert_int_equal(reservations_count(&world.c, "b", NULL, 0), 0);
    gated_world_close(&world);

    one_place(&world);
    loop_skip(world.c.loop, RESERVATION_MS - 1);
    assert_int_equal(reservations_count(&world.c, "a", NULL, 0), 1);
    loop_skip(world.c.loop, 1);
    assert_int_equal(reservations_count(&world.c, "a", NULL, 0), 0);
    gated_world_close(&world);
}

/* The oldest make room: memory has a bound. */
static void test_many_reservations(void **state)
{
    struct gated_world world;

    (void)state;
    one_place(&world);
    for (unsigned i = 0; i < 5000; i++) {
        CLEANUP(freep) char *name = mem_printf("other-%u", i);
        CLEANUP(freep) char *key = mem_printf("shop/%s", name);

        gated_world_pod(&world, name, "", NULL);
        reserve(&world, key, "b", "elsewhere");
    }
    assert_int_equal(reservations_count(&world.c, "a", NULL, 0), 0);
    assert_int_equal(reservations_count(&world.c, "b", NULL, 0), 4096);
    gated_world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_volumes),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_the_last_place),
        cmocka_unit_test(test_a_reservation_ends),
        cmocka_unit_test(test_many_reservations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
