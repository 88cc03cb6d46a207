/* The handlers, called as the server calls them. */
#include "lib/rpc/csi_identity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "lib/base/alloc.h"

static const struct csi_capability capabilities[] = {
    CSI_SERVICE(CONTROLLER_SERVICE),
    CSI_SERVICE(VOLUME_ACCESSIBILITY_CONSTRAINTS),
    CSI_EXPANSION(OFFLINE),
};

static bool flag(void *ctx)
{
    return *(bool *)ctx;
}

struct identity_test {
    bool is_ready;
    struct csi_identity identity;
    struct rpc_call call;
};

static int setup(void **state)
{
    struct identity_test *test = mem_alloc(sizeof *test);

    test->identity = (struct csi_identity){
        .driver_name = "disk.example.com",
        .capabilities = capabilities,
        .n_capabilities = COUNT_OF(capabilities),
        .is_ready = flag,
        .ctx = &test->is_ready,
    };
    test->call.ctx = csi_identity_service(&test->identity).ctx;
    test->call.arena = arena_new();
    *state = test;
    return 0;
}

static int teardown(void **state)
{
    struct identity_test *test = *state;

    arena_free(test->call.arena);
    free(test);
    return 0;
}

static void call(struct identity_test *test, const char *name, void *response)
{
    struct rpc_service service = csi_identity_service(&test->identity);

    for (size_t i = 0; i < service.n_methods; i++)
        if (strcmp(service.methods[i].name, name) == 0) {
            assert_null(service.methods[i].handler(NULL, &test->call, NULL, response));
            return;
        }
    fail_msg("%s is not served", name);
}

static void test_every_method_is_served(void **state)
{
    struct identity_test *test = *state;
    struct rpc_service service = csi_identity_service(&test->identity);

    assert_string_equal(service.descriptor->name, "csi.v1.Identity");
    assert_int_equal(service.n_methods, service.descriptor->n_methods);
}

static void test_plugin_info(void **state)
{
    Csi__V1__GetPluginInfoResponse info;

    csi__v1__get_plugin_info_response__init(&info);
    call(*state, "GetPluginInfo", &info);
    assert_string_equal(info.name, "disk.example.com");
    assert_string_equal(info.vendor_version, VERSION);
}

static void test_capabilities(void **state)
{
    Csi__V1__GetPluginCapabilitiesResponse answer;

    csi__v1__get_plugin_capabilities_response__init(&answer);
    call(*state, "GetPluginCapabilities", &answer);
    assert_int_equal(answer.n_capabilities, 3);
    assert_int_equal(answer.capabilities[0]->type_case, CSI__V1__PLUGIN_CAPABILITY__TYPE_SERVICE);
    assert_int_equal(answer.capabilities[0]->service->type,
                     CSI__V1__PLUGIN_CAPABILITY__SERVICE__TYPE__CONTROLLER_SERVICE);
    assert_int_equal(answer.capabilities[1]->service->type,
                     CSI__V1__PLUGIN_CAPABILITY__SERVICE__TYPE__VOLUME_ACCESSIBILITY_CONSTRAINTS);
    assert_int_equal(answer.capabilities[2]->type_case,
                     CSI__V1__PLUGIN_CAPABILITY__TYPE_VOLUME_EXPANSION);
    assert_int_equal(answer.capabilities[2]->volume_expansion->type,
                     CSI__V1__PLUGIN_CAPABILITY__VOLUME_EXPANSION__TYPE__OFFLINE);
}

static void test_probe(void **state)
{
    struct identity_test *test = *state;

    for (int ready = 0; ready < 2; ready++) {
        Csi__V1__ProbeResponse answer;

        csi__v1__probe_response__init(&answer);
        test->is_ready = ready;
        call(test, "Probe", &answer);
        assert_non_null(answer.ready);
        assert_int_equal(answer.ready->value, ready);
    }
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_every_method_is_served),
        TEST(test_plugin_info),
        TEST(test_capabilities),
        TEST(test_probe),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
