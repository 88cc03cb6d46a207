/* What the node says of itself, and the patch that says it. */
#include "node/heartbeat.h"

#include "lib/base/alloc.h"
#include "lib/json/parse.h"
#include "test/unit/object.h"

#define NOW "2026-01-01T00:01:00Z"
#define BEFORE "2026-01-01T00:00:30Z"

struct world {
    struct node node;
};

static void no_index(const struct kube_object *object, void (*emit)(void *ctx, const char *value),
                     void *ctx)
{
    (void)object, (void)emit, (void)ctx;
}

static int setup(void **state)
{
    struct world *world = mem_alloc(sizeof *world);

    world->node.attachments = store_new(&AZ_VOLUME_ATTACHMENTS);
    world->node.attachments_by_volume = store_add_index(world->node.attachments, no_index);
    world->node.driver_nodes = store_new(&AZ_DRIVER_NODES);
    waiters_init(&world->node.changed);
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;

    store_free(world->node.attachments);
    store_free(world->node.driver_nodes);
    free(world);
    return 0;
}

static void put(struct store *store, const ProtobufCMessageDescriptor *type, const char *text)
{
    CLEANUP(kube_object_unrefp) struct kube_object *object = object_of(type, text);

    store_begin_list(store);
    store_put_listed(store, object, 1);
    store_end_list(store, 1);
}

static void list_attachments(struct node *node)
{
    store_begin_list(node->attachments);
    store_end_list(node->attachments, 1);
}

static void list_driver_nodes(struct node *node)
{
    put(node->driver_nodes, &api__az_driver_node__descriptor,
        "{'metadata':{'name':'n1','resourceVersion':'5'},'status':{'slots':{'limit':4}}}");
}

static void expect_heartbeat(const struct node *node, bool ready, const char *message,
                             const char *detail, int free_slots)
{
    CLEANUP(heartbeat_fini) struct heartbeat heartbeat = heartbeat_of(node);

    assert_int_equal(heartbeat.ready, ready);
    assert_string_equal(heartbeat.message, message);
    assert_string_equal(heartbeat.detail, detail);
    assert_int_equal(heartbeat.free_slots, free_slots);
}

static void test_the_life_of_a_node(void **state)
{
    struct node *node = &((struct world *)*state)->node;
    char why[] = "too old";

    expect_heartbeat(node, false, "Driver node initializing.",
                     "the cluster's objects have not been read yet", -1);
    list_driver_nodes(node); /* how many slots are taken is still unknown */
    expect_heartbeat(node, false, "Driver node initializing.",
                     "the cluster's objects have not been read yet", -1);
    list_attachments(node);
    expect_heartbeat(node, false, "Driver node initializing.", "CSI is not served yet", 4);
    node->serving = true;
    expect_heartbeat(node, false, "Driver node initializing.",
                     "kubelet has not registered the plug-in yet", 4);
    node->registration_error = why;
    expect_heartbeat(node, false, "Driver node initializing.",
                     "kubelet could not register the plug-in: too old", 4);
    node->registration_error = NULL;
    node->registered = true;
    expect_heartbeat(node, true, "Driver node healthy.", "volumes can be staged", 4);
    node_stop(node);
    expect_heartbeat(node, false, "Driver node shutting down.", "the plug-in is stopping", 4);
}

static void test_free_slots(void **state)
{
    static const char *const states[] = {"Attached", "Detached", "Attaching",
                                         "Pending",  "Attached", "Attached"};
    static const int left[] = {3, 3, 2, 1, 0, 0};
    struct node *node = &((struct world *)*state)->node;

    list_attachments(node);
    list_driver_nodes(node);
    node->serving = node->registered = true;
    for (size_t i = 0; i < COUNT_OF(states); i++) {
        CLEANUP(freep)
        char *text = mem_printf("{'metadata':{'name':'a%zu','resourceVersion':'1'},"
                                "'status':{'state':'%s'}}",
                                i, states[i]);
        CLEANUP(kube_object_unrefp)
        struct kube_object *object = object_of(&api__az_volume_attachment__descriptor, text);

        store_put(node->attachments, object);
        expect_heartbeat(node, true, "Driver node healthy.", "volumes can be staged", left[i]);
    }
}

static void test_equal(void **state)
{
    const struct heartbeat a = {.ready = true, .detail = (char[]){"x"}, .free_slots = 1};
    struct heartbeat b = a;

    (void)state;
    assert_true(heartbeat_equal(&a, &b));
    b.free_slots = 2;
    assert_false(heartbeat_equal(&a, &b));
    b = a;
    b.ready = false;
    assert_false(heartbeat_equal(&a, &b));
    b = a;
    b.detail = (char[]){"y"};
    assert_false(heartbeat_equal(&a, &b));
}

static void expect_patch(const struct heartbeat *heartbeat, const char *before,
                         const char *expected)
{
    CLEANUP(kube_object_unrefp)
    struct kube_object *object =
        before ? object_of(&api__az_driver_node__descriptor, before) : NULL;
    json_t *patch = heartbeat_patch(heartbeat, NOW, "boot-2",
                                    object ? KUBE_AS(Api__AzDriverNode, object) : NULL);
    json_t *wanted = json_of(expected);

    if (!json_equal(patch, wanted)) {
        CLEANUP(freep) char *text = json_to_text(patch);
        fail_msg("got %s", text);
    }
    json_decref(patch);
    json_decref(wanted);
}

#define CONDITION(status, since, reason)                                                           \
    "'conditions':[{'type':'IsNodePluginReady','status':'" status "','lastHeartbeatTime':'" NOW    \
    "','lastTransitionTime':'" since "','reason':'" reason "','message':'why'}]"

static void test_patch(void **state)
{
    const struct heartbeat ready = {true, "Driver node healthy.", "Healthy", (char[]){"why"}, 3};
    const struct heartbeat starting = {false, "Driver node initializing.", "Initializing",
                                       (char[]){"why"}, -1};
    const char was_ready[] = "{'metadata':{'name':'n1'},'status':{'conditions':["
                             "{'type':'Other','status':'True'},{'type':'IsNodePluginReady',"
                             "'status':'True','lastTransitionTime':'" BEFORE "'}]}}";

    (void)state;
    expect_patch(&starting, NULL,
                 "{'status':{'bootId':'boot-2','lastHeartbeatTime':'" NOW
                 "','readyForVolumeAllocation':false,"
                 "'statusMessage':'Driver node initializing.'," CONDITION("False", NOW,
                                                                          "Initializing") "}}");
    expect_patch(&ready, NULL,
                 "{'status':{'bootId':'boot-2','lastHeartbeatTime':'" NOW
                 "','readyForVolumeAllocation':true,"
                 "'statusMessage':'Driver node healthy.'," CONDITION(
                     "True", NOW, "Healthy") ","
                                             "'slots':{'free':3}}}");
    expect_patch(&ready, was_ready,
                 "{'status':{'bootId':'boot-2','lastHeartbeatTime':'" NOW
                 "','readyForVolumeAllocation':true,"
                 "'statusMessage':'Driver node healthy.'," CONDITION(
                     "True", BEFORE, "Healthy") ","
                                                "'slots':{'free':3}}}");
    expect_patch(&starting, was_ready,
                 "{'status':{'bootId':'boot-2','lastHeartbeatTime':'" NOW
                 "','readyForVolumeAllocation':false,"
                 "'statusMessage':'Driver node initializing.'," CONDITION("False", NOW,
                                                                          "Initializing") "}}");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_life_of_a_node),
        TEST(test_free_slots),
        cmocka_unit_test(test_equal),
        cmocka_unit_test(test_patch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
