/* Where a pod may go: a cluster of four nodes as manifests would have it, and for each row a pod,
 * perhaps others beside it, and what becomes of each node. A new rule is a new row. */
#include "controller/scheduling/node_filter.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "lib/json/parse.h"
#include "test/unit/object.h"

/* ---- the cluster ---- */

static const char *const node_texts[] = {
    "{'metadata':{'name':'n1','labels':{'kubernetes.io/hostname':'n1','zone':'a',"
    "'kubernetes.io/arch':'amd64','disk':'ssd'}}}",
    "{'metadata':{'name':'n2','labels':{'kubernetes.io/hostname':'n2','zone':'a',"
    "'kubernetes.io/arch':'amd64'}},"
    "'spec':{'taints':[{'key':'node.kubernetes.io/not-ready','effect':'NoExecute'}]}}",
    "{'metadata':{'name':'n3','labels':{'kubernetes.io/hostname':'n3','zone':'b',"
    "'kubernetes.io/arch':'amd64','disk':'ssd'}},"
    "'spec':{'taints':[{'key':'gpu','value':'yes','effect':'NoSchedule'},"
    "{'key':'old','effect':'PreferNoSchedule'}]}}",
    "{'metadata':{'name':'n4','labels':{'kubernetes.io/hostname':'n4','zone':'b',"
    "'kubernetes.io/arch':'arm64'}},"
    "'spec':{'unschedulable':true,"
    "'taints':[{'key':'node.kubernetes.io/unschedulable','effect':'NoSchedule'}]}}",
};
static const char *const namespace_texts[] = {
    "{'metadata':{'name':'here','labels':{'team':'x'}}}",
    "{'metadata':{'name':'there','labels':{'team':'y'}}}",
};

static void put(struct store *store, const ProtobufCMessageDescriptor *type, const char *text)
{
    CLEANUP(kube_object_unrefp) struct kube_object *object = object_of(type, text);

    store_put(store, object);
}

/* ---- the rows ---- */

/* The pod is in namespace "here", has the label app=web and runs on n1. */
struct row {
    const char *why;
    const char *spec;   /* of the pod, members */
    const char *others; /* pods, as JSON, separated by '|' */
    const char *found;  /* a character for each node: . it may run there, else the reason's */
};

static const char letters[] = {
    [UNSCHEDULABLE_NONE] = '.',     [UNSCHEDULABLE_CORDONED] = 'C',
    [UNSCHEDULABLE_TAINT] = 'T',    [UNSCHEDULABLE_SELECTOR] = 'S',
    [UNSCHEDULABLE_ARCH] = 'M',     [UNSCHEDULABLE_VOLUMES] = 'V',
    [UNSCHEDULABLE_AFFINITY] = 'A', [UNSCHEDULABLE_ANTI_AFFINITY] = 'X',
};

#define TOLERANT "'tolerations':[{'operator':'Exists'}]"
#define ARM "'nodeSelector':{'kubernetes.io/arch':'arm64'},"
#define POD_AFFINITY(kind, terms)                                                                  \
    TOLERANT ",'affinity':{'" kind "':{'requiredDuringSchedulingIgnoredDuringExecution':[" terms   \
             "]}}"
#define TERM(labels, key, more)                                                                    \
    "{'labelSelector':{'matchLabels':{" labels "}},'topologyKey':'" key "'" more "}"
#define POD(namespace_, name, labels, node)                                                        \
    "{'metadata':{'namespace':'" namespace_ "','name':'" name "','labels':{" labels                \
    "}},'spec':{'nodeName':'" node "'}}"
#define HOST "kubernetes.io/hostname"

static const struct row rows[] = {
    {"taints but not-ready, cordons, another architecture", "", "", "..TC"},
    {"a toleration of the taint",
     "'tolerations':[{'key':'gpu','operator':'Equal','value':'yes','effect':'NoSchedule'}]", "",
     "...C"},
    {"all tolerated, but its image is another machine's", TOLERANT, "", "...M"},
    {"unless the pod says so itself", ARM TOLERANT, "", "SSS."},
    {"a node selector", "'nodeSelector':{'disk':'ssd'}", "", ".STC"},
    {"required node affinity",
     TOLERANT ",'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':"
              "{'nodeSelectorTerms':[{'matchExpressions':[{'key':'zone','operator':'In',"
              "'values':['b']}]}]}}}",
     "", "SS.M"},
    {"a field: a DaemonSet's pod goes nowhere else",
     TOLERANT ",'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':"
              "{'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name','operator':'In',"
              "'values':['n1']}]}]}}}",
     "", ".SSS"},
    {"with pods of a zone", POD_AFFINITY("podAffinity", TERM("'app':'db'", "zone", "")),
     POD("here", "db", "'app':'db'", "n3"), "AA.M"},
    {"in another namespace it is another pod",
     POD_AFFINITY("podAffinity", TERM("'app':'db'", "zone", "")),
     POD("there", "db", "'app':'db'", "n3"), "AAAM"},
    {"unless that namespace is named",
     POD_AFFINITY("podAffinity", TERM("'app':'db'", "zone", ",'namespaces':['there']")),
     POD("there", "db", "'app':'db'", "n3"), "AA.M"},
    {"a named namespace leaves out the pod's own",
     POD_AFFINITY("podAffinity", TERM("'app':'db'", "zone", ",'namespaces':['there']")),
     POD("here", "db", "'app':'db'", "n3"), "AAAM"},
    {"or is selected",
     POD_AFFINITY("podAffinity",
                  TERM("'app':'db'", "zone", ",'namespaceSelector':{'matchLabels':{'team':'y'}}")),
     POD("there", "db", "'app':'db'", "n3"), "AA.M"},
    {"as all are by an empty selector",
     POD_AFFINITY("podAffinity", TERM("'app':'db'", "zone", ",'namespaceSelector':{}")),
     POD("there", "db", "'app':'db'", "n3"), "AA.M"},
    {"one pod for all terms, not one for each",
     POD_AFFINITY("podAffinity", TERM("'app':'db'", "zone", "") "," TERM("'tier':'1'", "zone", "")),
     POD("here", "db", "'app':'db'", "n3") "|" POD("here", "x", "'tier':'1'", "n3"), "AAAM"},
    {"that one there is",
     POD_AFFINITY("podAffinity", TERM("'app':'db'", "zone", "") "," TERM("'tier':'1'", HOST, "")),
     POD("here", "db", "'app':'db','tier':'1'", "n2"), "A.AM"},
    {"the first of its kind goes anywhere",
     POD_AFFINITY("podAffinity", TERM("'app':'web'", "zone", "")), "", "...M"},
    {"where the label is at all", POD_AFFINITY("podAffinity", TERM("'app':'web'", "rack", "")), "",
     "AAAM"},
    {"who is on the same node comes along",
     POD_AFFINITY("podAffinity", TERM("'app':'db'", HOST, "")),
     POD("here", "db", "'app':'db'", "n1"), "...M"},
    {"but goes where others are that stay",
     POD_AFFINITY("podAffinity", TERM("'app':'db'", HOST, "")),
     POD("here", "db", "'app':'db'", "n1") "|" POD("here", "db2", "'app':'db'", "n3"), "AA.M"},
    {"not with its own kind", POD_AFFINITY("podAntiAffinity", TERM("'app':'web'", HOST, "")),
     POD("here", "web-1", "'app':'web'", "n2"), ".X.M"},
    {"nor in their zone", POD_AFFINITY("podAntiAffinity", TERM("'app':'web'", "zone", "")),
     POD("here", "web-1", "'app':'web'", "n3"), "..XM"},
    {"each term by itself",
     POD_AFFINITY("podAntiAffinity", TERM("'app':'a'", HOST, "") "," TERM("'app':'b'", HOST, "")),
     POD("here", "a", "'app':'a'", "n2") "|" POD("here", "b", "'app':'b'", "n3"), ".XXM"},
    {"a pod that is done keeps nobody away",
     POD_AFFINITY("podAntiAffinity", TERM("'app':'web'", HOST, "")),
     "{'metadata':{'namespace':'here','name':'job','labels':{'app':'web'}},"
     "'spec':{'nodeName':'n2'},'status':{'phase':'Succeeded'}}",
     "...M"},
    {"others that do not want it with them", TOLERANT,
     "{'metadata':{'namespace':'there','name':'shy'},'spec':{'nodeName':'n2','affinity':{"
     "'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':["
     "{'labelSelector':{'matchLabels':{'app':'web'}},'topologyKey':'" HOST "',"
     "'namespaces':['here']}]}}}}",
     ".X.M"},
    {"who means other namespaces means others", TOLERANT,
     "{'metadata':{'namespace':'there','name':'shy'},'spec':{'nodeName':'n2','affinity':{"
     "'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':["
     "{'labelSelector':{'matchLabels':{'app':'web'}},'topologyKey':'" HOST "'}]}}}}",
     "...M"},
};

/* ---- one row ---- */

struct cluster {
    struct store *nodes, *namespaces, *pods;
    struct surroundings surroundings;
};

static void cluster_init(struct cluster *cluster, const char *others)
{
    CLEANUP(freep) char *list = mem_strdup(others);
    char *rest = list;

    *cluster = (struct cluster){store_new(&NODES), store_new(&NAMESPACES), store_new(&PODS), {0}};
    cluster->surroundings = (struct surroundings){
        cluster->nodes, cluster->namespaces, store_add_index(cluster->pods, pod_index_by_label),
        store_add_index(cluster->pods, pod_index_repelling)};
    for (size_t i = 0; i < COUNT_OF(node_texts); i++)
        put(cluster->nodes, &api__node__descriptor, node_texts[i]);
    for (size_t i = 0; i < COUNT_OF(namespace_texts); i++)
        put(cluster->namespaces, &api__namespace__descriptor, namespace_texts[i]);
    for (char *text; (text = strsep(&rest, "|"));)
        if (*text)
            put(cluster->pods, &api__pod__descriptor, text);
}

static void cluster_fini(struct cluster *cluster)
{
    store_free(cluster->nodes);
    store_free(cluster->namespaces);
    store_free(cluster->pods);
}

static struct kube_object *pod_with(const char *spec)
{
    CLEANUP(freep)
    char *text = mem_printf("{'metadata':{'namespace':'here','name':'web-0',"
                            "'labels':{'app':'web'}},'spec':{'nodeName':'n1'%s%s}}",
                            *spec ? "," : "", spec);

    return object_of(&api__pod__descriptor, text);
}

static const Api__Node *node_of(const struct cluster *cluster, const char *name)
{
    return KUBE_AS(Api__Node, store_get(cluster->nodes, name));
}

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(cluster_fini) struct cluster cluster;
        CLEANUP(kube_object_unrefp) struct kube_object *pod = pod_with(rows[i].spec);
        CLEANUP(node_filter_freep) struct node_filter *filter = NULL;
        char found[COUNT_OF(node_texts) + 1] = "";

        cluster_init(&cluster, rows[i].others);
        store_put(cluster.pods, pod); /* it is one of the cluster's own */
        filter = node_filter_new(KUBE_AS(Api__Pod, pod), node_of(&cluster, "n1"), NULL, 0,
                                 &cluster.surroundings);
        STORE_FOREACH(cluster.nodes, node)
            found[strlen(found)] = letters[node_filter_check(filter, KUBE_AS(Api__Node, node))];
        if (strcmp(found, rows[i].found) != 0)
            fail_msg("%s: expected \"%s\", got \"%s\"", rows[i].why, rows[i].found, found);
    }
}

static void test_without_a_pod(void **state)
{
    CLEANUP(cluster_fini) struct cluster cluster;
    CLEANUP(node_filter_freep) struct node_filter *filter = NULL;

    (void)state;
    cluster_init(&cluster, "");
    filter = node_filter_new(NULL, NULL, NULL, 0, &cluster.surroundings);
    const enum unschedulable_reason found[] = {UNSCHEDULABLE_NONE, UNSCHEDULABLE_NONE,
                                               UNSCHEDULABLE_TAINT, UNSCHEDULABLE_CORDONED};
    size_t i = 0;
    STORE_FOREACH(cluster.nodes, node)
        assert_int_equal(node_filter_check(filter, KUBE_AS(Api__Node, node)), found[i++]);
}

#define ON_SSD                                                                                     \
    "{'metadata':{'name':'pv'},'spec':{'nodeAffinity':{'required':{'nodeSelectorTerms':["          \
    "{'matchExpressions':[{'key':'disk','operator':'In','values':['ssd']}]}]}}}}"

static void test_topology_of_volumes(void **state)
{
    CLEANUP(cluster_fini) struct cluster cluster;
    CLEANUP(node_filter_freep) struct node_filter *filter = NULL;
    CLEANUP(kube_object_unrefp) struct kube_object *pod = pod_with("");
    CLEANUP(kube_object_unrefp)
    struct kube_object *volume = object_of(&api__persistent_volume__descriptor, ON_SSD);
    const Api__NodeSelector *const volumes[] = {
        KUBE_AS(Api__PersistentVolume, volume)->spec->node_affinity->required};

    (void)state;
    cluster_init(&cluster, "");
    filter = node_filter_new(KUBE_AS(Api__Pod, pod), node_of(&cluster, "n1"), volumes, 1,
                             &cluster.surroundings);
    assert_int_equal(node_filter_check(filter, node_of(&cluster, "n1")), UNSCHEDULABLE_NONE);
    assert_int_equal(node_filter_check(filter, node_of(&cluster, "n2")), UNSCHEDULABLE_VOLUMES);
}

/* A pod may name a claim as often as there is room for in an object. */
static void test_a_volume_that_is_named_very_often(void **state)
{
    enum { TIMES = 4096 };
    CLEANUP(cluster_fini) struct cluster cluster;
    CLEANUP(node_filter_freep) struct node_filter *filter = NULL;
    CLEANUP(kube_object_unrefp) struct kube_object *pod = pod_with("");
    CLEANUP(kube_object_unrefp)
    struct kube_object *volume = object_of(&api__persistent_volume__descriptor, ON_SSD);
    const Api__NodeSelector *volumes[TIMES];

    (void)state;
    for (size_t i = 0; i < TIMES; i++)
        volumes[i] = KUBE_AS(Api__PersistentVolume, volume)->spec->node_affinity->required;
    cluster_init(&cluster, "");
    filter = node_filter_new(KUBE_AS(Api__Pod, pod), node_of(&cluster, "n1"), volumes, TIMES,
                             &cluster.surroundings);
    assert_int_equal(node_filter_check(filter, node_of(&cluster, "n2")), UNSCHEDULABLE_NONE);
}

#define PREFERRED                                                                                  \
    "'affinity':{'nodeAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':["              \
    "{'weight':10,'preference':{'matchExpressions':[{'key':'disk','operator':'Exists'}]}},"        \
    "{'weight':3,'preference':{'matchExpressions':[{'key':'zone','operator':'In',"                 \
    "'values':['b']}]}}]},"                                                                        \
    "'podAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':20,"              \
    "'podAffinityTerm':" TERM(                                                                     \
        "'app':'db'", HOST,                                                                        \
        "") "}]},"                                                                                 \
            "'podAntiAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':7,"   \
            "'podAffinityTerm':" TERM("'app':'db'", "zone", "") "}]}}"

static void test_preferences(void **state)
{
    CLEANUP(cluster_fini) struct cluster cluster;
    CLEANUP(node_filter_freep) struct node_filter *filter = NULL;
    CLEANUP(kube_object_unrefp) struct kube_object *pod = pod_with(PREFERRED);
    const int found[] = {10 - 7, 20 - 7, 10 + 3 - 100, 3};
    size_t i = 0;

    (void)state;
    cluster_init(&cluster, POD("here", "db", "'app':'db'", "n2"));
    filter = node_filter_new(KUBE_AS(Api__Pod, pod), node_of(&cluster, "n1"), NULL, 0,
                             &cluster.surroundings);
    STORE_FOREACH(cluster.nodes, node)
        assert_int_equal(node_filter_score(filter, KUBE_AS(Api__Node, node)), found[i++]);
}

/* ---- what takes too long ---- */

/* A list that begins with the text. */
static char *values_with(const char *text, unsigned others)
{
    struct buffer values = {.limit = 1 << 20};

    buffer_printf(&values, "'%s'", text);
    for (unsigned i = 0; i < others; i++)
        buffer_printf(&values, ",'v%04u'", i);
    return values.data;
}

/* With `n` pods "db" on n2, for a pod on n1: what becomes of n2. */
static enum unschedulable_reason judge_beside(const char *spec, const char *spec_of_others,
                                              unsigned n)
{
    CLEANUP(cluster_fini) struct cluster cluster;
    CLEANUP(kube_object_unrefp) struct kube_object *pod = pod_with(spec);
    CLEANUP(node_filter_freep) struct node_filter *filter = NULL;

    cluster_init(&cluster, "");
    for (unsigned i = 0; i < n; i++) {
        CLEANUP(freep)
        char *text = mem_printf("{'metadata':{'namespace':'here','name':'db-%u','labels':{"
                                "'app':'db'}},'spec':{'nodeName':'n2'%s}}",
                                i, spec_of_others);
        put(cluster.pods, &api__pod__descriptor, text);
    }
    filter = node_filter_new(KUBE_AS(Api__Pod, pod), node_of(&cluster, "n1"), NULL, 0,
                             &cluster.surroundings);
    return node_filter_check(filter, node_of(&cluster, "n2"));
}

#define ANTI_TO                                                                                    \
    "'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{"           \
    "'topologyKey':'" HOST "','labelSelector':{'matchExpressions':[{'key':'app',"                  \
    "'operator':'In','values':[%s]}]}}]}}"

static void test_what_takes_too_long(void **state)
{
    CLEANUP(freep) char *few = values_with("db", 2000), *many = values_with("db", 5000);
    CLEANUP(freep) char *some_to_web = values_with("web", 2000);
    CLEANUP(freep) char *many_to_web = values_with("web", 5000);
    CLEANUP(freep)
    char *anti_few = mem_printf(ANTI_TO, few), *anti_many = mem_printf(ANTI_TO, many);
    CLEANUP(freep) char *few_repel = mem_printf("," ANTI_TO, some_to_web);
    CLEANUP(freep) char *many_repel = mem_printf("," ANTI_TO, many_to_web);

    (void)state;
    assert_int_equal(judge_beside(anti_few, "", 10), UNSCHEDULABLE_ANTI_AFFINITY);
    assert_int_equal(judge_beside(anti_many, "", 10), UNSCHEDULABLE_NONE);
    assert_int_equal(judge_beside(anti_few, "", 3000), UNSCHEDULABLE_NONE);
    assert_int_equal(judge_beside("", few_repel, 10), UNSCHEDULABLE_ANTI_AFFINITY);
    assert_int_equal(judge_beside("", many_repel, 10), UNSCHEDULABLE_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_without_a_pod),
        cmocka_unit_test(test_topology_of_volumes),
        cmocka_unit_test(test_a_volume_that_is_named_very_often),
        cmocka_unit_test(test_preferences),
        cmocka_unit_test(test_what_takes_too_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
