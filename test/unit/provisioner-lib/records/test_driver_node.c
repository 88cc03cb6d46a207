/* When a plug-in was last heard of, and for how long that counts. */
#include "provisioner-lib/records/driver_node.h"

#include "test/unit/object.h"

enum { LIMIT_MS = 2 * 60 * 1000 };

#define NOON INT64_C(1772366400000000) /* 2026-03-01T12:00:00Z */

static const struct {
    const char *heartbeat;
    bool stale;
} rows[] = {
    {"2026-03-01T12:00:00Z", false},
    {"2026-03-01T11:58:00.000001Z", false},
    {"2026-03-01T11:58:00Z", true},
    {"2025-03-01T12:00:00Z", true},
    {"2026-03-01T12:10:00Z", false}, /* a clock ahead of ours */
    {"noon", true},
    {"", true},
};

static void test_heartbeats(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(kube_object_unrefp)
        struct kube_object *object =
            object_taken(&api__az_driver_node__descriptor,
                         mem_printf("{'metadata':{'name':'n'},'status':{'lastHeartbeatTime':'%s'}}",
                                    rows[i].heartbeat));
        int64_t heard_us = driver_node_heard_us(KUBE_AS(Api__AzDriverNode, object));

        if (heartbeat_is_stale(heard_us, NOON, LIMIT_MS) != rows[i].stale)
            fail_msg("\"%s\"", rows[i].heartbeat);
    }
}

static void test_a_plugin_that_has_said_nothing(void **state)
{
    CLEANUP(kube_object_unrefp)
    struct kube_object *object =
        object_of(&api__az_driver_node__descriptor, "{'metadata':{'name':'n'}}");

    (void)state;
    assert_int_equal(driver_node_heard_us(KUBE_AS(Api__AzDriverNode, object)), 0);
    assert_true(heartbeat_is_stale(0, NOON, LIMIT_MS));
}

static void test_boots(void **state)
{
    static const struct {
        const char *status, *boot;
    } boots[] = {{"{'bootId':'boot-1'}", "boot-1"}, {"{'bootId':''}", NULL}, {"{}", NULL}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(boots); i++) {
        CLEANUP(freep)
        char *text = mem_printf("{'metadata':{'name':'n'},'status':%s}", boots[i].status);
        CLEANUP(kube_object_unrefp)
        struct kube_object *object = object_of(&api__az_driver_node__descriptor, text);
        const char *boot = driver_node_boot_id(KUBE_AS(Api__AzDriverNode, object));

        assert_string_equal(boot ? boot : "none", boots[i].boot ? boots[i].boot : "none");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heartbeats),
        cmocka_unit_test(test_a_plugin_that_has_said_nothing),
        cmocka_unit_test(test_boots),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
