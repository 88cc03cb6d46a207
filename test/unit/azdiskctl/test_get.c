/* What `get` shows of fixed records: the tables, the names, the document, and which objects. */
#include "azdiskctl/get.h"

#include "azdiskctl/filter.h"
#include "azdiskctl/output.h"
#include "test/unit/azdiskctl/records.h"

static const struct output_writers writers = {
    {[OUTPUT_TABLE] = get_table, [OUTPUT_WIDE] = get_wide, [OUTPUT_NAME] = get_names}};

/* Of `get SUBJECT` with at most one name. */
static json_t *got(const struct cluster *cluster, const char *subject, const char *name,
                   const char *namespace_)
{
    CLEANUP(selection_fini) struct selection selection = {0};

    assert_ok(selection_parse(subject, &name, name != NULL, namespace_, &selection));
    return get_json(cluster, &selection);
}

static const struct {
    const char *subject;
    enum output output;
    const char *text;
} rows[] = {
    {"volumes", OUTPUT_TABLE,
     "NAME    CLAIM          SIZE    PRIMARY  REPLICAS  STATE        AGE\n"
     "copy    -              1536Mi  -        0/0       Created,40%  27h\n"
     "data    default/claim  10Gi    a        1/1       Created      60m\n"
     "moving  -              4Gi     b        0/2       Created      2m30s\n"
     "new     -              -       -        0/0       Pending      -\n"},
    {"azv", OUTPUT_WIDE,
     "NAME    CLAIM          SIZE    PRIMARY  REPLICAS  STATE        AGE    ZONE      SKU          "
     "SHARES  PV  DISK\n"
     "copy    -              1536Mi  -        0/0       Created,40%  27h    -         -            "
     "1       -   -\n"
     "data    default/claim  10Gi    a        1/1       Created      60m    eastus-1  Premium_LRS  "
     "2       pv  /subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/disks/data\n"
     "moving  -              4Gi     b        0/2       Created      2m30s  any       -            "
     "3       -   /subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/disks/moving\n"
     "new     -              -       -        0/0       Pending      -      -         -            "
     "1       -   -\n"},
    {"attachments", OUTPUT_TABLE,
     "VOLUME  NODE  ROLE     STATE      LUN  READY  FENCE  AGE\n"
     "data    a     Primary  attached   0    yes    held   59m\n"
     "data    b     Replica  attached   1    yes    -      59m\n"
     "data    d     Replica  waiting    -    no     -      -\n"
     "moving  a     Replica  attached   1    no     -      59m\n"
     "moving  b     Primary  promoting  2    no     -      59m\n"
     "moving  c     Replica  demoting   0    no     lost   59m\n"},
    {"replicas", OUTPUT_WIDE,
     "VOLUME  NODE  ROLE     STATE     LUN  READY  FENCE  AGE  NAME      NOT READY BECAUSE\n"
     "data    b     Replica  attached  1    yes    -      59m  data-b    -\n"
     "data    d     Replica  waiting   -    no     -      -    data-d    -\n"
     "moving  a     Replica  attached  1    no     -      59m  moving-a  no disk at LUN 1\n"
     "moving  c     Replica  demoting  0    no     lost   59m  moving-c  -\n"},
    {"nodes", OUTPUT_TABLE,
     "NAME  DISKS  PRIMARIES  REPLICAS  HEARTBEAT  STATE\n"
     "a     2/8    1          1         5s         Ready\n"
     "b     1/8    1          1         0s         PluginNotReady\n"
     "c     1/8    0          1         0s         NodeNotReady\n"
     "d     1/8    0          1         0s         Ready,SchedulingDisabled\n"
     "e     1/8    0          0         3m         PluginSilent\n"
     "f     1/8    0          0         0s         OutOfService\n"
     "g     -      0          0         -          NodeGone\n"},
    {"azdn", OUTPUT_WIDE,
     "NAME  DISKS  PRIMARIES  REPLICAS  HEARTBEAT  STATE                     AGE  ZONE      "
     "MESSAGE\n"
     "a     2/8    1          1         5s         Ready                     60m  eastus-1  Driver "
     "node healthy.\n"
     "b     1/8    1          1         0s         PluginNotReady            -    -         -\n"
     "c     1/8    0          1         0s         NodeNotReady              -    -         -\n"
     "d     1/8    0          1         0s         Ready,SchedulingDisabled  -    -         -\n"
     "e     1/8    0          0         3m         PluginSilent              -    -         -\n"
     "f     1/8    0          0         0s         OutOfService              -    -         -\n"
     "g     -      0          0         -          NodeGone                  -    -         -\n"},
    {"replica", OUTPUT_NAME,
     "azvolumeattachment.disk.csi.azure.com/data-b\n"
     "azvolumeattachment.disk.csi.azure.com/data-d\n"
     "azvolumeattachment.disk.csi.azure.com/moving-a\n"
     "azvolumeattachment.disk.csi.azure.com/moving-c\n"},
    {"Volumes", OUTPUT_NAME,
     "azvolume.disk.csi.azure.com/copy\n"
     "azvolume.disk.csi.azure.com/data\n"
     "azvolume.disk.csi.azure.com/moving\n"
     "azvolume.disk.csi.azure.com/new\n"},
};

static void test_texts(void **state)
{
    CLEANUP(cluster_of_free) struct cluster cluster = cluster_of(records);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(json_decrefp) json_t *document = got(&cluster, rows[i].subject, NULL, NULL);
        CLEANUP(freep) char *text = output_text(&writers, rows[i].output, document);

        assert_string_equal(text, rows[i].text);
    }
}

/* `names` are what "a b" says, a space apart; "!x" is one that is missing. */
static char *names_of(const json_t *document)
{
    const json_t *items = json_object_get(document, "items");
    const json_t *missing = json_object_get(document, "missing");
    struct buffer out;

    buffer_init(&out, 1 << 16);
    for (size_t i = 0; i < json_array_size(items); i++)
        buffer_printf(&out, "%s ",
                      json_string_value(json_object_get(json_array_get(items, i), "name")));
    for (size_t i = 0; i < json_array_size(missing); i++)
        buffer_printf(&out, "!%s ", json_string_value(json_array_get(missing, i)));
    return buffer_take(&out);
}

static void test_which(void **state)
{
    static const struct {
        const char *subject, *name, *namespace_, *names;
    } which[] = {
        {"volumes", NULL, NULL, "copy data moving new "},
        {"volumes", "new", NULL, "new "},
        {"azvolume/new", NULL, NULL, "new "},
        {"azvolume.disk.csi.azure.com/new", NULL, NULL, "new "},
        {"volumes", "other", NULL, "!other "},
        {"azv/a/b", NULL, NULL, "!a/b "},
        {"volumes", NULL, "default", "data "},
        {"volumes", NULL, "defaul", ""},
        {"volumes", NULL, "default/claim", ""},
        {"volumes", "new", "default", "!new "},
        {"attachment", "data-a", NULL, "data-a "},
        {"replica", "data-b", NULL, "data-b "},
        {"replica", "data-a", NULL, "!data-a "},
        {"node/a", NULL, NULL, "a "},
        {"node", "\xff", NULL, "!? "},
    };
    CLEANUP(cluster_of_free) struct cluster cluster = cluster_of(records);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(which); i++) {
        CLEANUP(json_decrefp)
        json_t *document = got(&cluster, which[i].subject, which[i].name, which[i].namespace_);
        CLEANUP(freep) char *names = names_of(document);

        assert_string_equal(names, which[i].names);
    }
}

/* ---- of a node, a zone, a pod ---- */

#define FILTER(node, zone, pod, namespace_)                                                        \
    {                                                                                              \
        node, zone, pod, namespace_,                                                               \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

static char *filtered(const struct cluster *cluster, const char *subject, const char *name,
                      struct filter *filter)
{
    CLEANUP(selection_fini) struct selection selection = {0};

    assert_ok(selection_parse(subject, &name, name != NULL, NULL, &selection));
    assert_ok(filter_start(filter, cluster));
    selection.filter = filter;
    CLEANUP(json_decrefp) json_t *document = get_json(cluster, &selection);
    filter_fini(filter);
    return names_of(document);
}

static void test_filters(void **state)
{
    static const struct {
        const char *subject, *name;
        struct filter filter;
        const char *names;
    } filters[] = {
        {"volumes", NULL, FILTER("a", "", "", ""), "data moving "},
        {"volumes", NULL, FILTER("c", "", "", ""), "moving "},
        {"volumes", NULL, FILTER("g", "", "", ""), ""},
        {"volumes", "data", FILTER("c", "", "", ""), "!data "},
        {"attachments", NULL, FILTER("a", "", "", ""), "data-a moving-a "},
        {"replicas", NULL, FILTER("a", "", "", ""), "moving-a "},
        {"nodes", NULL, FILTER("a", "", "", ""), "a "},
        {"volumes", NULL, FILTER("", "eastus-1", "", ""), "data moving "},
        {"attachments", NULL, FILTER("", "eastus-1", "", ""), "data-a moving-a "},
        {"nodes", NULL, FILTER("", "eastus-1", "", ""), "a "},
        {"volumes", NULL, FILTER("", "", "db", "default"), "data "},
        {"attachments", NULL, FILTER("", "", "db", "default"), "data-a data-b data-d "},
        {"replicas", NULL, FILTER("b", "", "db", "default"), "data-b "},
        {"nodes", NULL, FILTER("", "", "db", "default"), "a b d "},
        {"nodes", NULL, FILTER("", "eastus-1", "db", "default"), "a "},
        {"volumes", NULL, FILTER("", "", "idle", "default"), ""},
        {"volumes", NULL, FILTER("", "", "", ""), "copy data moving new "},
    };
    CLEANUP(cluster_of_free) struct cluster cluster = cluster_of(records);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(filters); i++) {
        struct filter filter = filters[i].filter;
        CLEANUP(freep)
        char *names = filtered(&cluster, filters[i].subject, filters[i].name, &filter);

        assert_string_equal(names, filters[i].names);
    }
}

/* A disk in several zones, and a zone whose name begins as another does. */
static void test_zones(void **state)
{
#define ZONE(name) "{'segments':{'topology.disk.csi.azure.com/zone':'" name "'}}"
#define VOLUME_IN(name, zones)                                                                     \
    "{'metadata':{'name':'" name "'},'status':{'detail':{'volume_id':'" name                       \
    "','accessible_topology':[" zones "]}}}"
    static const char text[] =
        "{'volumes':[" VOLUME_IN("two", ZONE("eastus-1") "," ZONE("eastus-2")) "," VOLUME_IN(
            "ten", ZONE("eastus-10")) "," VOLUME_IN("anywhere", "") "]}";
    static const struct {
        const char *zone, *names;
    } rows_of_zones[] = {
        {"eastus-1", "anywhere two "},
        {"eastus-2", "anywhere two "},
        {"eastus-10", "anywhere ten "},
    };
    CLEANUP(cluster_of_free) struct cluster cluster = cluster_of(text);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows_of_zones); i++) {
        struct filter filter = FILTER("", rows_of_zones[i].zone, "", "");
        CLEANUP(freep) char *names = filtered(&cluster, "volumes", NULL, &filter);

        assert_string_equal(names, rows_of_zones[i].names);
    }
}

static void test_filters_of_nothing(void **state)
{
    static const struct {
        struct filter filter;
        const char *why;
    } refused[] = {
        {FILTER("x", "", "", ""), "--node: there is no node x"},
        {FILTER("", "eastus", "", ""),
         "--zone: no node and no volume is in zone eastus (azdiskctl get nodes -o wide shows "
         "zones)"},
        {FILTER("", "astus-1", "", ""), "zone astus-1 ("},
        {FILTER("", "", "db", "other"), "--pod: there is no pod db in namespace other"},
    };
    CLEANUP(cluster_of_free) struct cluster cluster = cluster_of(records);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        struct filter filter = refused[i].filter;
        CLEANUP(err_freep) struct err *err = filter_start(&filter, &cluster);

        assert_int_equal(err_kind(err), ERR_NOT_FOUND);
        assert_non_null(strstr(err_message(err), refused[i].why));
    }
}

/* In their order, with a complaint for each that does not exist. */
static void test_several_names(void **state)
{
    static const char *const names[] = {"new", "x", "data", "y"};
    CLEANUP(cluster_of_free) struct cluster cluster = cluster_of(records);
    CLEANUP(selection_fini) struct selection selection = {0};

    (void)state;
    assert_ok(selection_parse("azv", names, COUNT_OF(names), NULL, &selection));
    CLEANUP(json_decrefp) json_t *document = get_json(&cluster, &selection);
    CLEANUP(freep) char *found = names_of(document);
    assert_string_equal(found, "new data !x !y ");
    CLEANUP(buffer_fini) struct buffer complaints;
    buffer_init(&complaints, 1 << 10);
    missing_text(document, &complaints);
    assert_string_equal(complaints.data, "azdiskctl: volumes: there is no \"x\"\n"
                                         "azdiskctl: volumes: there is no \"y\"\n");
}

static void test_refused(void **state)
{
    static const struct {
        const char *subject, *name, *namespace_, *why;
    } refused[] = {
        {"pods", NULL, NULL,
         "\"pods\" is none of the kinds volumes, attachments, replicas and nodes"},
        {"", NULL, NULL, "\"\" is none of the kinds volumes, attachments, replicas and nodes"},
        {"volumes.example.com", NULL, NULL,
         "\"volumes.example.com\" is none of the kinds "
         "volumes, attachments, replicas and nodes"},
        {"volume/", NULL, NULL, "\"volume/\": write KIND/NAME, or KIND and names"},
        {"volume/a", "b", NULL, "\"volume/a\": write KIND/NAME, or KIND and names"},
        {"nodes", NULL, "shop",
         "--namespace has no effect on nodes: it is that of volumes' claims"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        CLEANUP(selection_fini) struct selection selection = {0};

        assert_fails(selection_parse(refused[i].subject, &refused[i].name, refused[i].name != NULL,
                                     refused[i].namespace_, &selection),
                     ERR_INVALID, refused[i].why);
    }
}

static void test_document(void **state)
{
    CLEANUP(cluster_of_free) struct cluster cluster = cluster_of(records);
    CLEANUP(json_decrefp) json_t *document = got(&cluster, "volume/data", NULL, NULL);
    CLEANUP(json_decrefp)
    json_t *expected = json_of(
        "{'kind':'volumes','items':[{'name':'data','claim':'default/claim','persistentVolume':'pv',"
        "'primaryNode':'a','readyReplicas':1,'replicas':1,'state':'Created','percent':100,"
        "'zone':'eastus-1','sku':'Premium_LRS','maxShares':2,'disk':'" GROUP_DISKS "data',"
        "'sizeBytes':10737418240,'created':'2026-01-01T00:00:00Z','ageSeconds':3600}],'missing':[]"
        "}");

    (void)state;
    if (!json_equal(document, expected)) {
        CLEANUP(freep) char *text = json_dumps(document, 0);

        fail_msg("got %s", text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),         cmocka_unit_test(test_which),
        cmocka_unit_test(test_several_names), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_document),      cmocka_unit_test(test_filters),
        cmocka_unit_test(test_zones),         cmocka_unit_test(test_filters_of_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
