/* Volumes by nodes and nodes by places, as a document and as text. */
#include "azdiskctl/map.h"

#include "test/unit/azdiskctl/cluster_of.h"

/* clang-format off */
static const char cluster_text[] =
    "{'volumes':[" VOLUME("v2", "1") "," VOLUME("v1", "1") ",{'metadata':{'name':'v3'}}],"
    "'pvs':[" PV("pv", "v1") "],"
    "'attachments':["
    ATTACHMENT("v1", "b", "Replica", "Replica", "Attached", "1",
               ",'annotation':{'disk.csi.azure.com/replica-ready':'false " NOW " no disk at LUN 1'}") ","
    ATTACHED("v1", "a", "Primary", "0") ","
    ATTACHMENT("v2", "a", "Replica", "Replica", "Attaching", "1", "") ","
    ATTACHMENT("v2", "b", "Primary", "Replica", "Attached", "2", "") ","
    "{'metadata':{'name':'v2-c'},'spec':{'volumeName':'v2','nodeName':'c','role':'Replica'}}],"
    "'nodes':[" NODE("a", "True", "") "," NODE("b", "False", "") "],"
    "'driverNodes':[" PLUGIN("b", "false", NOW) "," PLUGIN("a", "true", NOW) "]}";
/* clang-format on */

static char *text_of(const struct cluster *cluster)
{
    CLEANUP(json_decrefp) json_t *map = map_json(cluster);
    struct buffer out;

    buffer_init(&out, 1 << 16);
    map_text(map, &out);
    return buffer_take(&out);
}

static void test_text(void **state)
{
    CLEANUP(cluster_of_free) struct cluster cluster = cluster_of(cluster_text);
    CLEANUP(freep) char *text = text_of(&cluster);

    (void)state;
    assert_string_equal(text, "VOLUME  CLAIM          ZONE      STATE    SHARES  ON NODES\n"
                              "v1      default/claim  eastus-1  Created  2/2     P a:0, R b:1 not "
                              "ready: no disk at LUN 1\n"
                              "v2      -              eastus-1  Created  3/2     "
                              "P b:2 promoting, R a:1 attaching, R c waiting\n"
                              "v3      -              -         Pending  0/1     -\n"
                              "\n"
                              "NODE  ZONE  READY  PLUG-IN  SLOTS  PRIMARIES  REPLICAS\n"
                              "a     -     yes    ready    8      1          1\n"
                              "b     -     no     no       8      1          1\n");
}

/* A table of its own, where there are any; and a volume to whose disk data is copied. */
static void test_copies(void **state)
{
    CLEANUP(cluster_of_free)
    struct cluster cluster = cluster_of(
        "{'volumes':[{'metadata':{'name':'v'},'status':{'state':'Created',"
        "'completionPercent':40}}],'snapshots':[" SNAPSHOT(
            "s2", "v",
            "'state':'Creating'") "," SNAPSHOT("s1", "v",
                                               SNAPSHOT_CREATED("s1", "7")) "," SNAPSHOT("s3", "w",
                                                                                         "") "]}");
    CLEANUP(freep) char *text = text_of(&cluster);

    (void)state;
    assert_string_equal(text, "VOLUME  CLAIM  ZONE  STATE          SHARES  ON NODES\n"
                              "v       -      -     Created, 40 %  0/1     -\n"
                              "\n"
                              "NODE  ZONE  READY  PLUG-IN  SLOTS  PRIMARIES  REPLICAS\n"
                              "\n"
                              "SNAPSHOT  DISK  STATE     READY  COPIED\n"
                              "s1        v     Created   yes    7 %\n"
                              "s2        v     Creating  no     0 %\n"
                              "s3        w     Pending   no     0 %\n");
}

static void test_document(void **state)
{
    CLEANUP(cluster_of_free) struct cluster cluster = cluster_of(cluster_text);
    CLEANUP(json_decrefp) json_t *map = map_json(&cluster);
    const json_t *first = json_array_get(json_object_get(map, "volumes"), 0);
    CLEANUP(json_decrefp)
    json_t *expected = json_of("[{'node':'a','role':'Primary','stage':'attached','lun':0},"
                               "{'node':'b','role':'Replica','stage':'attached','lun':1,"
                               "'notReady':'no disk at LUN 1'}]");

    (void)state;
    assert_true(json_equal(json_object_get(first, "attachments"), expected));
    assert_int_equal(json_integer_value(json_object_get(first, "maxShares")), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_document),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
