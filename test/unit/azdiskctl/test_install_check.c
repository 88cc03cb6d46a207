/* Whether the driver works, as a document and as text. */
#include "azdiskctl/install_check.h"

#include "test/unit/azdiskctl/cluster_of.h"

#define IN_ORDER "'findings':[],'azure':false"
#define LEASE(holder, renewed)                                                                     \
    "{'metadata':{'name':'l'},'spec':{'holderIdentity':'" holder "','renewTime':'" renewed "'}}"
#define LEADS LEASE("pod-1", "2026-01-01T00:59:58.000000Z")
#define COMPARED                                                                                   \
    "0 findings; compared: custom resources, VolumeAttachments, Nodes; not compared: Azure (use "  \
    "--cloud-config)\n"

/* `lease` NULL: there is none. */
static void check(const char *cluster_text, const char *lease_text, const char *check_text,
                  bool found, const char *text)
{
    CLEANUP(cluster_of_free) struct cluster cluster = cluster_of(cluster_text);
    CLEANUP(json_decrefp) json_t *lease_json = lease_text ? json_of(lease_text) : NULL;
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;
    struct buffer out;

    if (lease_json)
        assert_ok(kube_object_decode(&api__lease__descriptor, lease_json, &object));
    const struct install_check_lease lease = {.namespace_ = "ns", .name = "l", .object = object};
    CLEANUP(json_decrefp)
    json_t *document = install_check_document(&cluster, &lease, json_of(check_text));
    buffer_init(&out, 1 << 16);
    install_check_text(document, &out);
    CLEANUP(freep) char *said = buffer_take(&out);
    assert_string_equal(said, text);
    assert_true(install_check_is_clean(document) != found);
}

#define READY                                                                                      \
    "{'nodes':[" NODE("a", "True", "") "," NODE("off", "False", "") "],'driverNodes':[" PLUGIN(    \
        "a", "true", NOW) "," PLUGIN("off", "true",                                                \
                                     "2026-01-01T00:00:00Z") "," PLUGIN("gone", "false", NOW) "]}"
#define SILENT                                                                                     \
    "{'nodes':[" NODE("a", "True", "") "," NODE("b", "True", "") "," NODE(                         \
        "c", "True",                                                                               \
        "") "],'driverNodes':[" PLUGIN("a", "true",                                                \
                                       NOW) "," PLUGIN("b", "true",                                \
                                                       "2026-01-01T00:57:00Z") "," PLUGIN("c",     \
                                                                                          "false", \
                                                                                          NOW) "]" \
                                                                                               "}"

/* A node that is off or gone is not the driver's. */
static void test_a_driver_that_works(void **state)
{
    (void)state;
    check(READY, LEADS, "{" IN_ORDER "}", false,
          "Controller: pod-1 leads\nNode plug-ins: 3 of 3 in order\n" COMPARED);
}

static void test_nobody_leads(void **state)
{
    static const char *const leases[] = {LEASE("", NOW),
                                         LEASE("pod-1", "2026-01-01T00:57:59.000000Z")};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(leases); i++)
        check(READY, leases[i], "{" IN_ORDER "}", true,
              "Controller: none leads, or its Lease is not renewed any more\n"
              "Node plug-ins: 3 of 3 in order\n" COMPARED);
}

/* Rather than a driver that does not run, it is another namespace. */
static void test_there_is_no_lease(void **state)
{
    (void)state;
    check(READY, NULL, "{" IN_ORDER "}", true,
          "Controller: there is no Lease l in namespace ns (see -n, and LEASE)\n"
          "Node plug-ins: 3 of 3 in order\n" COMPARED);
}

static void test_plugins_that_do_not_answer(void **state)
{
    (void)state;
    check(SILENT, LEADS, "{" IN_ORDER "}", true,
          "Controller: pod-1 leads\n"
          "Node plug-in on b: PluginSilent, last heartbeat 2026-01-01T00:57:00Z\n"
          "Node plug-in on c: PluginNotReady, last heartbeat " NOW "\n"
          "Node plug-ins: 1 of 3 in order\n" COMPARED);
    check("{}", LEADS, "{" IN_ORDER "}", true,
          "Controller: pod-1 leads\nNode plug-ins: none has reported yet\n" COMPARED);
}

static void test_records_that_disagree(void **state)
{
    (void)state;
    check(READY, LEADS,
          "{'findings':[{'severity':'danger','kind':'K','subject':'s','seen':'1','meaning':'2',"
          "'loss':'3','advice':'4'}],'azure':false}",
          true,
          "Controller: pod-1 leads\nNode plug-ins: 3 of 3 in order\n"
          "danger: K s\n  seen:   1\n  means:  2\n  loss:   3\n  to do:  4\n\n"
          "1 finding; compared: custom resources, VolumeAttachments, Nodes; not compared: Azure "
          "(use --cloud-config)\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_driver_that_works),
        cmocka_unit_test(test_nobody_leads),
        cmocka_unit_test(test_there_is_no_lease),
        cmocka_unit_test(test_plugins_that_do_not_answer),
        cmocka_unit_test(test_records_that_disagree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
