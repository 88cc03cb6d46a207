/* Pods, and what becomes of them: which are treated at all, and the patches. */
#include "scheduler-extender/placement_patch.h"

#include "lib/base/alloc.h"
#include "test/unit/object.h"

#define RULES(mode)                                                                                \
    {                                                                                              \
        mode, "default-scheduler,batch", "kube-system,quiet"                                       \
    }

static const struct placement_rules nominate = RULES(PLACEMENT_NOMINATE),
                                    webhook = RULES(PLACEMENT_WEBHOOK),
                                    none = RULES(PLACEMENT_NONE),
                                    anywhere = {PLACEMENT_NOMINATE, "default-scheduler", ""},
                                    nobody = {PLACEMENT_NOMINATE, "", ""};

#define BY_DEFAULT "'schedulerName':'default-scheduler'"

static const struct {
    const char *why;
    const struct placement_rules *rules;
    const char *operation, *namespace_, *metadata, *spec;
    bool concerns;
} pods[] = {
    {"as they are", &nominate, "CREATE", "shop", "", BY_DEFAULT, true},
    {"of the other mode", &webhook, "CREATE", "shop", "", BY_DEFAULT, true},
    {"without a webhook", &none, "CREATE", "shop", "", BY_DEFAULT, false},
    {"changed", &nominate, "UPDATE", "shop", "", BY_DEFAULT, false},
    {"of the other scheduler", &nominate, "CREATE", "shop", "", "'schedulerName':'batch'", true},
    {"of a scheduler that is not ours", &nominate, "CREATE", "shop", "", "'schedulerName':'bat'",
     false},
    {"of two at once", &nominate, "CREATE", "shop", "", "'schedulerName':'default-scheduler,batch'",
     false},
    {"of none", &nominate, "CREATE", "shop", "", "'x':1", false},
    {"of an empty name", &nominate, "CREATE", "shop", "", "'schedulerName':''", false},
    {"in an excluded namespace", &nominate, "CREATE", "quiet", "", BY_DEFAULT, false},
    {"in the first excluded namespace", &nominate, "CREATE", "kube-system", "", BY_DEFAULT, false},
    {"where nothing is excluded", &anywhere, "CREATE", "kube-system", "", BY_DEFAULT, true},
    {"for no scheduler", &nobody, "CREATE", "shop", "", BY_DEFAULT, false},
    {"with a node", &nominate, "CREATE", "shop", "", BY_DEFAULT ",'nodeName':'a'", false},
    {"with an empty node", &nominate, "CREATE", "shop", "", BY_DEFAULT ",'nodeName':''", true},
    {"of a DaemonSet", &nominate, "CREATE", "shop", ",'ownerReferences':[{'kind':'DaemonSet'}]",
     BY_DEFAULT, false},
    {"with our gate", &nominate, "CREATE", "shop", "",
     BY_DEFAULT ",'schedulingGates':[{'name':'disk.csi.azure.com/placement'}]", false},
    {"with somebody's gate", &nominate, "CREATE", "shop", "",
     BY_DEFAULT ",'schedulingGates':[{'name':'disk.csi.azure.com/placement2'}]", false},
    {"with our gate, in the other mode", &webhook, "CREATE", "shop", "",
     BY_DEFAULT ",'schedulingGates':[{'name':'disk.csi.azure.com/placement'}]", false},
};

/* A review keeps pointing into its text. */
struct asked {
    char *text;
    struct admission_review review;
};

static void ask(struct asked *asked, const char *operation, const char *namespace_,
                const char *metadata, const char *spec)
{
    json_t *json;

    asked->text = mem_printf("{'kind':'AdmissionReview','apiVersion':'admission.k8s.io/v1',"
                             "'request':{'uid':'u','operation':'%s','kind':{'group':'','kind':"
                             "'Pod'},'namespace':'%s','object':{'metadata':{'name':'p'%s},"
                             "'spec':{%s}}}}",
                             operation, namespace_, metadata, spec);
    json = json_of(asked->text);
    free(asked->text);
    asked->text = json_dumps(json, JSON_COMPACT);
    json_decref(json);
    assert_ok(admission_review_parse(asked->text, strlen(asked->text), &asked->review));
}

static void asked_fini(struct asked *asked)
{
    admission_review_fini(&asked->review);
    free(asked->text);
}

static void test_whom_it_concerns(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(pods); i++) {
        CLEANUP(asked_fini) struct asked asked;

        ask(&asked, pods[i].operation, pods[i].namespace_, pods[i].metadata, pods[i].spec);
        if (placement_concerns(pods[i].rules, &asked.review) != pods[i].concerns)
            fail_msg("pods %s", pods[i].why);
    }
}

static void assert_patch(const char *why, json_t *patch, const char *wanted_text)
{
    json_t *wanted = wanted_text ? json_of(wanted_text) : NULL;

    if (wanted ? !json_equal(patch, wanted) : patch != NULL)
        fail_msg("%s: %s", why, json_dumps(patch, JSON_COMPACT));
    json_decref(patch);
    json_decref(wanted);
}

static void test_the_gate(void **state)
{
    (void)state;
    assert_patch("gate", placement_gate_patch(),
                 "[{'op':'add','path':'/spec/schedulingGates','value':"
                 "[{'name':'disk.csi.azure.com/placement'}]}]");
}

#define TERM(node, weight)                                                                         \
    "{'weight':" weight ",'preference':{'matchFields':[{'key':'metadata.name','operator':'In',"    \
    "'values':['" node "']}]}}"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"
#define OWN(terms) "'affinity':{'nodeAffinity':{'" PREFERRED "':[" terms "]}}"
#define APPEND(term)                                                                               \
    "{'op':'add','path':'/spec/affinity/nodeAffinity/" PREFERRED "/-','value':" term "}"
#define BOTH "[" TERM("a", "100") "," TERM("b", "50") "]"

static const struct preferred_node both[] = {{"a", 100}, {"b", 50}};

static const struct {
    const char *why, *spec, *patch;
} rows[] = {
    {"no affinity", "'x':1",
     "[{'op':'add','path':'/spec/affinity','value':{'nodeAffinity':{'" PREFERRED "':" BOTH "}}}]"},
    {"affinity to pods", "'affinity':{'podAffinity':{}}",
     "[{'op':'add','path':'/spec/affinity/nodeAffinity','value':{'" PREFERRED "':" BOTH "}}]"},
    {"required nodes",
     "'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{}}}",
     "[{'op':'add','path':'/spec/affinity/nodeAffinity/" PREFERRED "','value':" BOTH "}]"},
    {"an empty list", OWN(""), "[" APPEND(TERM("a", "100")) "," APPEND(TERM("b", "50")) "]"},
    {"terms of the user's own",
     OWN("{'weight':1,'preference':{'matchExpressions':[{'key':'zone','values':['a']}]}}"),
     "[" APPEND(TERM("a", "100")) "," APPEND(TERM("b", "50")) "]"},
    {"a word of the user's own about a node", OWN(TERM("b", "3")),
     "[" APPEND(TERM("a", "100")) "]"},
    {"a node with a longer name", OWN(TERM("bb", "3")),
     "[" APPEND(TERM("a", "100")) "," APPEND(TERM("b", "50")) "]"},
    {"what was added before", OWN(TERM("b", "50") "," TERM("a", "100")), NULL},
    {"terms that make no sense",
     OWN("7,null,{},{'preference':{'matchFields':[1,{'key':'metadata.name'},{'values':['a']}]}}"),
     "[" APPEND(TERM("a", "100")) "," APPEND(TERM("b", "50")) "]"},
};

static void test_preferences(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(asked_fini) struct asked asked;

        ask(&asked, "CREATE", "shop", "", rows[i].spec);
        assert_patch(rows[i].why, placement_preference_patch(&asked.review, both, COUNT_OF(both)),
                     rows[i].patch);
        assert_null(placement_preference_patch(&asked.review, NULL, 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whom_it_concerns),
        cmocka_unit_test(test_the_gate),
        cmocka_unit_test(test_preferences),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
