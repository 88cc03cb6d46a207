/* Which volumes belong together, in a cluster of claims and pods written as words. */
#include "controller/cache/colocation.h"

#include <string.h>

#include "controller/cache/indexes.h"
#include "lib/base/alloc.h"
#include "lib/json/parse.h"
#include "test/unit/expect.h"

#define DISK "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/disks/"

static void put(struct store *store, const ProtobufCMessageDescriptor *type, char *text)
{
    CLEANUP(freep) char *json = text;
    CLEANUP(json_decrefp) json_t *document = NULL;
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;

    for (char *quote = json; (quote = strchr(quote, '\''));)
        *quote = '"';
    assert_ok(json_parse_here(json, strlen(json), &document));
    assert_ok(kube_object_decode(type, document, &object));
    store_put(store, object);
}

static int set_up(void **state)
{
    struct controller *c = mem_alloc(sizeof *c);

    c->settings = (struct settings){.driver_name = "disk.csi.azure.com", .namespace_ = "d"};
    c->volumes = store_new(&AZ_VOLUMES);
    c->pods = store_new(&PODS);
    c->persistent_volumes = store_new(&PERSISTENT_VOLUMES);
    c->attachments = store_new(&AZ_VOLUME_ATTACHMENTS);
    c->snapshots = store_new(&AZ_SNAPSHOTS);
    c->volume_attachments = store_new(&VOLUME_ATTACHMENTS);
    indexes_add(c);
    *state = c;
    return 0;
}

static int tear_down(void **state)
{
    struct controller *c = *state;

    store_free(c->volumes);
    store_free(c->pods);
    store_free(c->persistent_volumes);
    store_free(c->attachments);
    store_free(c->snapshots);
    store_free(c->volume_attachments);
    free(c);
    return 0;
}

/* An AzVolume and a PersistentVolume that is bound to the claim of the same name. */
static void add_volume(struct controller *c, const char *name, int access_mode, const char *phase)
{
    put(c->volumes, &api__az_volume__descriptor,
        mem_printf("{'metadata':{'name':'%s','namespace':'d'},'spec':{'volumeName':'%s',"
                   "'volumeCapability':[{'access_mode':%d}]},"
                   "'status':{'detail':{'volume_id':'" DISK "%s'}}}",
                   name, name, access_mode, name));
    put(c->persistent_volumes, &api__persistent_volume__descriptor,
        mem_printf("{'metadata':{'name':'pv-%s'},'spec':{'claimRef':{'namespace':'n','name':'%s'},"
                   "'csi':{'driver':'disk.csi.azure.com','volumeHandle':'" DISK "%s'}},"
                   "'status':{'phase':'%s'}}",
                   name, name, name, phase));
}

static void add_pod(struct controller *c, const char *name, const char *claims, const char *more)
{
    CLEANUP(freep) char *list = mem_strdup(claims);
    CLEANUP(freep) char *volumes = mem_strdup("{'name':'token'}");
    char *rest = list;

    for (char *claim; (claim = strsep(&rest, " "));) {
        CLEANUP(freep) char *before = volumes;
        volumes = mem_printf("%s,{'name':'%s','persistentVolumeClaim':{'claimName':'%s'}}", before,
                             claim, claim);
    }
    put(c->pods, &api__pod__descriptor,
        mem_printf("{'metadata':{'name':'%s','namespace':'n'%s},'spec':{'volumes':[%s]}}", name,
                   more, volumes));
}

/* "volumes|pods" of a volume's group. */
static const char *group_of(const struct controller *c, const char *volume)
{
    static char text[256];
    struct colocation group = {0};
    CLEANUP(freep) char *key = kube_key("d", volume);
    size_t used = 0;

    colocation_find(c, store_get(c->volumes, key), &group);
    for (size_t i = 0; i < group.n_volumes; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? " " : "",
                                 group.volumes[i]->metadata->name);
    used += (size_t)snprintf(text + used, sizeof text - used, "|");
    for (size_t i = 0; i < group.n_pods; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? " " : "",
                                 group.pods[i]->metadata->name);
    return text;
}

enum { ONE = 1, MANY = 5 }; /* access modes of CSI */

static void test_alone(void **state)
{
    struct controller *c = *state;

    add_volume(c, "a", ONE, "Bound");
    assert_string_equal(group_of(c, "a"), "a|");
    add_pod(c, "p", "a", "");
    assert_string_equal(group_of(c, "a"), "a|p");
}

/* Through pods and volumes, and the same whichever is asked about. */
static void test_together(void **state)
{
    struct controller *c = *state;
    static const char *const names[] = {"b", "a", "c", "e"};

    for (size_t i = 0; i < COUNT_OF(names); i++)
        add_volume(c, names[i], ONE, "Bound");
    add_pod(c, "p", "a b", "");
    add_pod(c, "q", "b c", "");
    add_pod(c, "r", "e", "");
    assert_string_equal(group_of(c, "a"), "a b c|p q");
    assert_string_equal(group_of(c, "b"), "a b c|p q");
    assert_string_equal(group_of(c, "c"), "a b c|q p");
    assert_string_equal(group_of(c, "e"), "e|r");
}

/* Others of the pod do not follow it to and fro. */
static void test_a_volume_for_many_is_alone(void **state)
{
    struct controller *c = *state;

    add_volume(c, "a", ONE, "Bound");
    add_volume(c, "m", MANY, "Bound");
    add_pod(c, "p", "a m", "");
    add_pod(c, "q", "m", "");
    assert_string_equal(group_of(c, "a"), "a|p");
    assert_string_equal(group_of(c, "m"), "m|p q");
}

/* A claim of the same name may have been made since. */
static void test_a_released_volume_is_nobodys(void **state)
{
    struct controller *c = *state;

    add_volume(c, "a", ONE, "Bound");
    add_volume(c, "b", ONE, "Released");
    add_pod(c, "p", "a b", "");
    assert_string_equal(group_of(c, "a"), "a|p");
}

static void test_pods_that_come_and_go(void **state)
{
    struct controller *c = *state;
    static const char leaving[] = ",'deletionTimestamp':'2026-01-01T00:00:00Z'";

    add_volume(c, "a", ONE, "Bound");
    put(c->pods, &api__pod__descriptor,
        mem_strdup("{'metadata':{'name':'done','namespace':'n'},'status':{'phase':'Succeeded'},"
                   "'spec':{'volumes':[{'name':'a','persistentVolumeClaim':{'claimName':'a'}}]}}"));
    assert_string_equal(group_of(c, "a"), "a|");
    add_pod(c, "old", "a", leaving);
    assert_string_equal(group_of(c, "a"), "a|old");
    add_pod(c, "new", "a", "");
    assert_string_equal(group_of(c, "a"), "a|new");
}

static void test_the_most_important_pod_counts(void **state)
{
    struct controller *c = *state;
    static const char *const pods[] = {"-5", "1000", "20"};

    add_volume(c, "a", ONE, "Bound");
    add_volume(c, "b", ONE, "Bound");
    assert_int_equal(pod_priority_of_volume(c, "a"), 0);
    for (size_t i = 0; i < COUNT_OF(pods); i++) {
        put(c->pods, &api__pod__descriptor,
            mem_printf("{'metadata':{'name':'p%zu','namespace':'n'},'spec':{'priority':%s,"
                       "'volumes':[{'name':'a','persistentVolumeClaim':{'claimName':'a'}}]}}",
                       i, pods[i]));
        assert_int_equal(pod_priority_of_volume(c, "a"), i == 0 ? -5 : 1000);
    }
    assert_int_equal(pod_priority_of_volume(c, "b"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_together, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_volume_for_many_is_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_released_volume_is_nobodys, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_pods_that_come_and_go, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_most_important_pod_counts, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
