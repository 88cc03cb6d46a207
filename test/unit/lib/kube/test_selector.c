/* Selectors and tolerations, one row each, as they would be written in a manifest. */
#include "lib/kube/selector.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"
#include "test/unit/lib/kube/objects.h"

#define NODE "{'metadata':{'name':'n1','labels':{'disk':'ssd','cores':'8','word':'x8','empty':''}}}"

struct row {
    const char *selector;
    bool matches;
};

static struct kube_object *pod_with(const char *spec)
{
    CLEANUP(freep)
    char *json = mem_printf("{'metadata':{'name':'p','namespace':'d'},'spec':{%s}}", spec);

    return object_of(&api__pod__descriptor, json);
}

static const Api__PodSpec *spec_of(const struct kube_object *object)
{
    return KUBE_AS(Api__Pod, object)->spec;
}

static void test_node_selectors(void **state)
{
    static const struct row rows[] = {
        {"[{'matchExpressions':[{'key':'disk','operator':'In','values':['hdd','ssd']}]}]", true},
        {"[{'matchExpressions':[{'key':'disk','operator':'In','values':['hdd']}]}]", false},
        {"[{'matchExpressions':[{'key':'gpu','operator':'In','values':['ssd']}]}]", false},
        {"[{'matchExpressions':[{'key':'disk','operator':'NotIn','values':['hdd']}]}]", true},
        {"[{'matchExpressions':[{'key':'disk','operator':'NotIn','values':['ssd']}]}]", false},
        {"[{'matchExpressions':[{'key':'gpu','operator':'NotIn','values':['a']}]}]", true},
        {"[{'matchExpressions':[{'key':'empty','operator':'Exists'}]}]", true},
        {"[{'matchExpressions':[{'key':'gpu','operator':'Exists'}]}]", false},
        {"[{'matchExpressions':[{'key':'gpu','operator':'DoesNotExist'}]}]", true},
        {"[{'matchExpressions':[{'key':'disk','operator':'DoesNotExist'}]}]", false},
        {"[{'matchExpressions':[{'key':'cores','operator':'Gt','values':['7']}]}]", true},
        {"[{'matchExpressions':[{'key':'cores','operator':'Gt','values':['8']}]}]", false},
        {"[{'matchExpressions':[{'key':'cores','operator':'Lt','values':['10']}]}]", true},
        {"[{'matchExpressions':[{'key':'cores','operator':'Lt','values':['8']}]}]", false},
        {"[{'matchExpressions':[{'key':'word','operator':'Gt','values':['7']}]}]", false},
        {"[{'matchExpressions':[{'key':'cores','operator':'Gt','values':['x']}]}]", false},
        {"[{'matchExpressions':[{'key':'cores','operator':'Gt','values':['1','2']}]}]", false},
        {"[{'matchExpressions':[{'key':'gpu','operator':'Lt','values':['1']}]}]", false},
        {"[{'matchExpressions':[{'key':'disk','operator':'Like','values':['ssd']}]}]", false},
        /* all of a term, any of the terms */
        {"[{'matchExpressions':[{'key':'disk','operator':'Exists'},"
         "{'key':'gpu','operator':'Exists'}]}]",
         false},
        {"[{'matchExpressions':[{'key':'gpu','operator':'Exists'}]},"
         "{'matchExpressions':[{'key':'disk','operator':'Exists'}]}]",
         true},
        {"[]", false},
        {"[{}]", false},
        {"[{'matchFields':[{'key':'metadata.name','operator':'In','values':['n1']}]}]", true},
        {"[{'matchFields':[{'key':'metadata.name','operator':'In','values':['n2']}]}]", false},
        {"[{'matchFields':[{'key':'metadata.name','operator':'NotIn','values':['n2']}]}]", true},
        {"[{'matchFields':[{'key':'metadata.uid','operator':'NotIn','values':['n2']}]}]", false},
        {"[{'matchExpressions':[{'key':'disk','operator':'Exists'}],"
         "'matchFields':[{'key':'metadata.name','operator':'In','values':['n2']}]}]",
         false},
    };
    CLEANUP(kube_object_unrefp)
    struct kube_object *node = object_of(&api__node__descriptor, NODE);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep)
        char *spec = mem_printf("'affinity':{'nodeAffinity':{"
                                "'requiredDuringSchedulingIgnoredDuringExecution':"
                                "{'nodeSelectorTerms':%s}}}",
                                rows[i].selector);
        CLEANUP(kube_object_unrefp) struct kube_object *pod = pod_with(spec);
        const Api__NodeSelector *selector =
            spec_of(pod)
                ->affinity->node_affinity->required_during_scheduling_ignored_during_execution;

        if (node_selector_matches(selector, node->metadata) != rows[i].matches)
            fail_msg("%s", rows[i].selector);
    }
    assert_true(node_selector_matches(NULL, node->metadata));
}

static void test_label_selectors(void **state)
{
    static const struct row rows[] = {
        {"{}", true},
        {"{'matchLabels':{'disk':'ssd'}}", true},
        {"{'matchLabels':{'disk':'ssd','cores':'8'}}", true},
        {"{'matchLabels':{'disk':'ssd','gpu':''}}", false},
        {"{'matchLabels':{'disk':'hdd'}}", false},
        {"{'matchExpressions':[{'key':'disk','operator':'In','values':['ssd']}]}", true},
        {"{'matchExpressions':[{'key':'gpu','operator':'NotIn','values':['ssd']}]}", true},
        {"{'matchExpressions':[{'key':'gpu','operator':'DoesNotExist'}]}", true},
        {"{'matchLabels':{'disk':'ssd'},'matchExpressions':[{'key':'gpu','operator':'Exists'}]}",
         false},
    };
    CLEANUP(kube_object_unrefp)
    struct kube_object *node = object_of(&api__node__descriptor, NODE);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep)
        char *spec = mem_printf("'affinity':{'podAffinity':{"
                                "'requiredDuringSchedulingIgnoredDuringExecution':"
                                "[{'labelSelector':%s}]}}",
                                rows[i].selector);
        CLEANUP(kube_object_unrefp) struct kube_object *pod = pod_with(spec);
        const Api__PodAffinity *affinity = spec_of(pod)->affinity->pod_affinity;
        const Api__PodAffinityTerm *term =
            affinity->required_during_scheduling_ignored_during_execution[0];

        if (label_selector_matches(term->label_selector, node->metadata) != rows[i].matches)
            fail_msg("%s", rows[i].selector);
    }
    assert_false(label_selector_matches(NULL, node->metadata));
}

static void test_tolerations(void **state)
{
    /* of the taint key=value:NoSchedule */
    static const struct row rows[] = {
        {"", false},
        {"{'operator':'Exists'}", true},
        {"{'operator':'Exists','effect':'NoExecute'}", false},
        {"{'operator':'Exists','effect':'NoSchedule'}", true},
        {"{'key':'key','operator':'Exists'}", true},
        {"{'key':'other','operator':'Exists'}", false},
        {"{'key':'key','value':'value'}", true},
        {"{'key':'key','operator':'Equal','value':'value','effect':'NoSchedule'}", true},
        {"{'key':'key','operator':'Equal','value':'other'}", false},
        {"{'key':'key','operator':'Equal'}", false},
        {"{'operator':'Equal','value':'value'}", false},
        {"{'key':'key','operator':'Near','value':'value'}", false},
        {"{'key':'a','operator':'Exists'},{'key':'key','operator':'Exists'}", true},
    };
    CLEANUP(kube_object_unrefp)
    struct kube_object *node =
        object_of(&api__node__descriptor,
                  "{'metadata':{'name':'n'},"
                  "'spec':{'taints':[{'key':'key','value':'value','effect':'NoSchedule'}]}}");
    const Api__Taint *taint = KUBE_AS(Api__Node, node)->spec->taints[0];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep) char *spec = mem_printf("'tolerations':[%s]", rows[i].selector);
        CLEANUP(kube_object_unrefp) struct kube_object *pod = pod_with(spec);

        if (is_tolerated(taint, spec_of(pod)->tolerations, spec_of(pod)->n_tolerations) !=
            rows[i].matches)
            fail_msg("%s", rows[i].selector);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_node_selectors),
        cmocka_unit_test(test_label_selectors),
        cmocka_unit_test(test_tolerations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
