/* What becomes of a node's row with each change, and with time. */
#include "controller/scheduling/node_info.h"

#include "lib/api/azdisk.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/base/timestamp.h"
#include "lib/json/parse.h"
#include "test/unit/object.h"

enum { LIMIT_MS = 60 * 1000 };

struct world {
    struct loop *loop;
    struct node_infos *table;
    struct kube_object *node; /* as it was put last; NULL: there is none */
};

static int set_up(void **state)
{
    struct world *world = mem_alloc(sizeof *world);

    world->loop = loop_new_virtual(0);
    world->table = node_infos_new(world->loop, "disk.csi.azure.com", LIMIT_MS);
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;

    node_infos_free(world->table);
    kube_object_unref(world->node);
    loop_free(world->loop);
    free(world);
    return 0;
}

/* `ready` NULL: it goes. */
static void set_node(struct world *world, const char *ready)
{
    struct kube_object *before = world->node;

    world->node =
        ready ? object_taken(&api__node__descriptor,
                             mem_printf("{'metadata':{'name':'n','labels':{"
                                        "'topology.disk.csi.azure.com/zone':'eastus-1',"
                                        "'topology.kubernetes.io/zone':'2','agentpool':'blue',"
                                        "'kubernetes.azure.com/scalesetpriority':'spot'}},"
                                        "'status':{'conditions':[{'type':'DiskPressure',"
                                        "'status':'False'},{'type':'Ready','status':'%s'}]}}",
                                        ready))
              : NULL;
    node_infos_node_changed(world->table, before, world->node);
    kube_object_unref(before);
}

/* The AzDriverNode with its last heartbeat. */
static void put_plugin(struct world *world, const char *name, bool ready, int64_t heard_us)
{
    char heard[TIMESTAMP_SIZE];

    timestamp_format_micro(heard_us, heard);
    CLEANUP(kube_object_unrefp)
    struct kube_object *plugin = object_taken(
        &api__az_driver_node__descriptor,
        mem_printf("{'metadata':{'name':'%s','namespace':'d'},'status':{'lastHeartbeatTime':'%s',"
                   "'readyForVolumeAllocation':%s,'slots':{'limit':4}}}",
                   name, heard, ready ? "true" : "false"));
    node_infos_plugin_changed(world->table, NULL, plugin);
}

static void beat(struct world *world, bool ready)
{
    put_plugin(world, "n", ready, loop_wall_us(world->loop));
}

static void beat_elsewhere(struct world *world)
{
    put_plugin(world, "other", true, loop_wall_us(world->loop));
}

/* Time in which another node is heard of. */
static void pass(struct world *world, uint64_t ms)
{
    for (uint64_t step; ms > 0; ms -= step) {
        step = ms < LIMIT_MS / 4 ? ms : LIMIT_MS / 4;
        loop_advance(world->loop, step);
        beat_elsewhere(world);
    }
}

static const struct node_info *row(const struct world *world)
{
    return node_infos_find(world->table, "n");
}

static void assert_health(const struct world *world, bool well, bool lost)
{
    assert_int_equal(node_info_is_ready(world->table, row(world)), well);
    assert_int_equal(node_info_is_unreachable(world->table, row(world)), lost);
}

static void test_labels(void **state)
{
    struct world *world = *state;

    set_node(world, "True");
    assert_string_equal(row(world)->zone, "eastus-1");
    assert_string_equal(row(world)->fault_domain, "2");
    assert_string_equal(row(world)->pool, "blue");
    assert_true(row(world)->spot);
}

static void test_a_moment_costs_nothing(void **state)
{
    struct world *world = *state;

    set_node(world, "True");
    assert_health(world, false, true); /* no plug-in has spoken */
    beat(world, true);
    assert_health(world, true, false);

    set_node(world, "False");
    assert_health(world, false, false);
    loop_advance(world->loop, LIMIT_MS - 1);
    beat(world, true);
    assert_health(world, false, false);
    set_node(world, "True");
    assert_health(world, true, false);

    set_node(world, "False");
    loop_advance(world->loop, LIMIT_MS);
    beat(world, true);
    assert_health(world, false, true);
}

static void test_who_is_given_up_is_lost_at_once(void **state)
{
    struct world *world = *state;

    set_node(world, "True");
    beat(world, true);
    set_node(world, "Unknown");
    assert_health(world, false, true);
    set_node(world, "True");
    assert_health(world, true, false);
    set_node(world, NULL);
    assert_health(world, false, true);
}

static void test_the_plugin_has_a_say(void **state)
{
    struct world *world = *state;

    set_node(world, "True");
    beat(world, false);
    assert_health(world, false, false);
    loop_advance(world->loop, LIMIT_MS);
    beat(world, false);
    assert_health(world, false, true);
    beat(world, true);
    assert_health(world, true, false);
}

/* Each silence is told once. */
static void test_silence(void **state)
{
    struct world *world = *state;

    pass(world, LIMIT_MS); /* as long as a new process listens first */
    set_node(world, "True");
    beat(world, true);
    assert_null(node_infos_newly_unreachable(world->table));
    pass(world, LIMIT_MS - 1);
    assert_health(world, true, false);
    assert_null(node_infos_newly_unreachable(world->table));
    pass(world, 1);
    assert_health(world, false, true);
    assert_ptr_equal(node_infos_newly_unreachable(world->table), row(world));
    assert_null(node_infos_newly_unreachable(world->table));
    beat(world, true);
    assert_null(node_infos_newly_unreachable(world->table));
    pass(world, LIMIT_MS);
    assert_non_null(node_infos_newly_unreachable(world->table));
}

static void assert_lost_after(struct world *world, uint64_t ms)
{
    pass(world, ms - 1);
    assert_health(world, false, false);
    assert_null(node_infos_newly_unreachable(world->table));
    pass(world, 1);
    assert_health(world, false, true);
    assert_non_null(node_infos_newly_unreachable(world->table));
}

/* The API server is away: no node is lost by that, nor by being heard of later than others. */
static void test_nobody_is_heard(void **state)
{
    struct world *world = *state;

    set_node(world, "True");
    beat(world, true);
    pass(world, LIMIT_MS / 4);
    loop_advance(world->loop, 3 * LIMIT_MS);
    assert_health(world, false, false);
    assert_null(node_infos_newly_unreachable(world->table));
    beat_elsewhere(world);
    assert_lost_after(world, LIMIT_MS);

    /* For less than the limit, which the node's silence exceeds all the same. */
    beat(world, true);
    assert_health(world, true, false);
    pass(world, LIMIT_MS / 4);
    loop_advance(world->loop, LIMIT_MS * 7 / 8);
    beat_elsewhere(world);
    assert_health(world, false, false);
    beat(world, true);
    assert_health(world, true, false);
}

/* It cannot know whether there was such a gap before. */
static void test_a_new_process(void **state)
{
    struct world *world = *state;

    loop_advance(world->loop, 3 * LIMIT_MS);
    node_infos_free(world->table);
    world->table = node_infos_new(world->loop, "disk.csi.azure.com", LIMIT_MS);
    put_plugin(world, "n", true, 1);
    beat_elsewhere(world);
    set_node(world, "True");
    assert_lost_after(world, LIMIT_MS);
}

static struct kube_object *attachment(const char *role)
{
    return object_taken(&api__az_volume_attachment__descriptor,
                        mem_printf("{'metadata':{'name':'a','namespace':'d'},"
                                   "'spec':{'nodeName':'n','role':'%s'}}",
                                   role));
}

static void test_slots(void **state)
{
    struct world *world = *state;
    CLEANUP(kube_object_unrefp) struct kube_object *replica = attachment("Replica");
    CLEANUP(kube_object_unrefp) struct kube_object *primary = attachment("Primary");
    struct assumed_attachment assumed = {.volume = "v", .node = "n"};

    set_node(world, "True");
    beat(world, true);
    assert_int_equal(node_info_free_slots(row(world)), 4);
    node_infos_assume(world->table, &assumed);
    assert_int_equal(node_info_free_slots(row(world)), 3);
    assert_ptr_equal(node_infos_next_assumed(world->table, NULL), &assumed);
    assert_null(node_infos_next_assumed(world->table, &assumed));
    node_infos_attachment_changed(world->table, NULL, replica);
    node_infos_forget(world->table, &assumed);
    assert_int_equal(node_info_free_slots(row(world)), 3);
    assert_int_equal(row(world)->primaries, 0);
    node_infos_attachment_changed(world->table, replica, primary);
    assert_int_equal(node_info_free_slots(row(world)), 3);
    assert_int_equal(row(world)->primaries, 1);
    node_infos_attachment_changed(world->table, primary, NULL);
    assert_int_equal(node_info_free_slots(row(world)), 4);
}

static void test_a_row_stays_as_long_as_there_is_anything(void **state)
{
    struct world *world = *state;
    CLEANUP(kube_object_unrefp) struct kube_object *replica = attachment("Replica");

    node_infos_attachment_changed(world->table, NULL, replica);
    assert_health(world, false, true);
    set_node(world, "True");
    set_node(world, NULL);
    assert_int_equal(node_infos_count(world->table), 1);
    node_infos_attachment_changed(world->table, replica, NULL);
    assert_int_equal(node_infos_count(world->table), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_labels, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_moment_costs_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_who_is_given_up_is_lost_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_plugin_has_a_say, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_silence, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nobody_is_heard, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_new_process, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_slots, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_row_stays_as_long_as_there_is_anything, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
