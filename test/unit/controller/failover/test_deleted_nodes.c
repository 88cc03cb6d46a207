/* Which Nodes are remembered when they are deleted, and for how long. */
#include "controller/failover/deleted_nodes.h"

#include "test/unit/cluster_text.h"
#include "test/unit/controller/controller_of.h"

#define STAND_IN                                                                                   \
    "'spec':{'taints':[{'key':'node.kubernetes.io/out-of-service','value':'azuredisk-deleted-b',"  \
    "'effect':'NoExecute'}]}"

enum { MANY = 70, AS_MANY_AS_ARE_KEPT = 64 };

static struct kube_object *object(const ProtobufCMessageDescriptor *type, const char *text)
{
    CLEANUP(json_decrefp) json_t *json = json_of(text);
    struct kube_object *object = NULL;

    assert_ok(kube_object_decode(type, json, &object));
    return object;
}

static struct kube_object *node(const char *name, const char *uid, const char *more)
{
    CLEANUP(freep)
    char *text =
        mem_printf("{'metadata':{'name':'%s','uid':'%s'}%s%s}", name, uid, *more ? "," : "", more);

    return object(&api__node__descriptor, text);
}

static void goes(struct controller *controller, const char *name, const char *uid, const char *more)
{
    CLEANUP(kube_object_unrefp) struct kube_object *before = node(name, uid, more);

    deleted_nodes_note(controller, before, NULL);
}

static void comes(struct controller *controller, const char *name, const char *uid,
                  const char *more)
{
    CLEANUP(kube_object_unrefp) struct kube_object *after = node(name, uid, more);

    deleted_nodes_note(controller, NULL, after);
}

static const char *uid_of(const struct controller *controller, const char *name)
{
    const struct kube_object *found = deleted_node(controller, name);

    return found ? found->metadata->uid : "none";
}

static void put(struct controller *controller, const char *text)
{
    CLEANUP(kube_object_unrefp)
    struct kube_object *attachment = object(&api__az_volume_attachment__descriptor, text);

    store_put(controller->attachments, attachment);
}

static struct controller a_controller(void)
{
    struct controller controller = controller_of(&(struct cluster_view){0});

    controller.settings.node_grace_period_ms = 1;
    return controller;
}

static void test_who_is_remembered(void **state)
{
    struct controller c = a_controller();

    (void)state;
    put(&c, ATTACHED("data", "primary", "Primary", "0"));
    put(&c, ATTACHED("data", "replica", "Replica", "0"));
    put(&c, ATTACHMENT("more", "demoting", "Replica", "Primary", "Attached", "0", ""));
    for (size_t i = 0; i < 4; i++)
        goes(&c, (const char *const[]){"primary", "replica", "demoting", "empty"}[i], "u", "");
    assert_string_equal(uid_of(&c, "primary"), "u");
    assert_string_equal(uid_of(&c, "demoting"), "u");
    assert_string_equal(uid_of(&c, "replica"), "none");
    assert_string_equal(uid_of(&c, "empty"), "none");
    deleted_nodes_free(&c);
    controller_fini(&c);
}

static void test_until_it_is_back(void **state)
{
    struct controller c = a_controller();

    (void)state;
    put(&c, ATTACHED("data", "n", "Primary", "0"));
    goes(&c, "n", "first", "");
    comes(&c, "n", "stand-in", STAND_IN);
    assert_string_equal(uid_of(&c, "n"), "first");
    goes(&c, "n", "stand-in", STAND_IN);
    assert_string_equal(uid_of(&c, "n"), "first");
    comes(&c, "n", "second", "");
    assert_string_equal(uid_of(&c, "n"), "none");
    goes(&c, "n", "second", "");
    assert_string_equal(uid_of(&c, "n"), "second");
    deleted_nodes_free(&c);
    controller_fini(&c);
}

static void test_how_many(void **state)
{
    struct controller c = a_controller();
    unsigned kept = 0;

    (void)state;
    for (unsigned i = 0; i < MANY; i++) {
        CLEANUP(freep) char *name = mem_printf("n%u", i);
        CLEANUP(freep)
        char *text = mem_printf(ATTACHED("data", "%s", "Primary", "0"), name, name, name);

        put(&c, text);
        goes(&c, name, "u", "");
    }
    for (unsigned i = 0; i < MANY; i++) {
        CLEANUP(freep) char *name = mem_printf("n%u", i);

        kept += deleted_node(&c, name) != NULL;
    }
    assert_int_equal(kept, AS_MANY_AS_ARE_KEPT);
    assert_null(deleted_node(&c, "n0"));
    deleted_nodes_free(&c);
    controller_fini(&c);
}

static void test_not_where_nodes_are_not_failed_over(void **state)
{
    struct controller c = controller_of(&(struct cluster_view){0});

    (void)state;
    put(&c, ATTACHED("data", "n", "Primary", "0"));
    goes(&c, "n", "u", "");
    assert_null(deleted_node(&c, "n"));
    controller_fini(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_is_remembered),
        cmocka_unit_test(test_until_it_is_back),
        cmocka_unit_test(test_how_many),
        cmocka_unit_test(test_not_where_nodes_are_not_failed_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
