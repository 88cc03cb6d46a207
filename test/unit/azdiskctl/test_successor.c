/* Which of the pods is the one in the place of the pod that was evicted. */
#include "azdiskctl/successor.h"

#include "lib/base/text.h"
#include "test/unit/cluster_text.h"

#define POD(name, uid, owner, kind, more)                                                          \
    "{'metadata':{'name':'" name "','namespace':'d','uid':'" uid                                   \
    "','ownerReferences':[{'kind':'" kind "','name':'o','uid':'" owner                             \
    "','controller':true}]" more "},'status':{'phase':'Pending'}}"
#define FORMER(kind) POD("db-0", "1", "o", kind, "")
#define DELETED ",'deletionTimestamp':'2026-01-01T00:00:00Z'"

/* clang-format off */
static const struct {
    const char *pods; /* the former one is the first of the two lists */
    const char *kind, *successor;
    bool is_there;
} rows[] = {
    {"", "StatefulSet", NULL, false},
    {FORMER("StatefulSet"), "StatefulSet", NULL, true},
    {POD("db-0", "2", "o", "StatefulSet", ""), "StatefulSet", "2", false},
    {POD("db-1", "2", "o", "StatefulSet", ""), "StatefulSet", NULL, false},
    {POD("db-0", "2", "another", "StatefulSet", ""), "StatefulSet", NULL, false},
    {POD("db-0", "2", "o", "StatefulSet", DELETED), "StatefulSet", NULL, false},
    {FORMER("ReplicaSet") "," POD("x", "2", "o", "ReplicaSet", ""), "ReplicaSet", "2", true},
    {POD("x", "known", "o", "ReplicaSet", "") "," POD("y", "3", "o", "ReplicaSet", ""),
     "ReplicaSet", "3", false},
    {"{'metadata':{'name':'db-0','uid':'2'}}", "StatefulSet", NULL, false},
    {"{'metadata':{'name':'x','uid':'2','ownerReferences':[{'kind':'ReplicaSet','uid':'o',"
     "'controller':true}]},'status':{'phase':'Failed'}}", "ReplicaSet", NULL, false},
};
/* clang-format on */

static void test_successors(void **state)
{
    CLEANUP(string_set_clear) struct string_set known = {0};

    (void)state;
    string_set_add(&known, "known");
    string_set_add(&known, "1");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep)
        char *text = mem_printf("{'former':[" POD("db-0", "1", "o", "%s", "") "],'pods':[%s]}",
                                rows[i].kind, rows[i].pods);
        CLEANUP(json_decrefp) json_t *json = json_of(text);
        struct object_list former = object_list_of(json, "former", &api__pod__descriptor);
        struct object_list pods = object_list_of(json, "pods", &api__pod__descriptor);
        struct succession found = succession_of(&pods, KUBE_AS(Api__Pod, former.items[0]), &known);
        const char *uid = found.successor ? found.successor->metadata->uid : NULL;

        if (!same_text(uid, rows[i].successor) || found.former_is_there != rows[i].is_there)
            fail_msg("row %zu: %s, %d", i, uid, found.former_is_there);
        object_list_free(&former);
        object_list_free(&pods);
    }
}

static const struct {
    const char *status;
    bool ready;
} statuses[] = {
    {"'phase':'Running','conditions':[{'type':'Ready','status':'True'}]", true},
    {"'phase':'Running','conditions':[{'type':'Initialized','status':'True'},"
     "{'type':'Ready','status':'False'}]",
     false},
    {"'phase':'Pending','conditions':[{'type':'Ready','status':'True'}]", false},
    {"'phase':'Running'", false},
    {"", false},
};

static void test_readiness(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(statuses); i++) {
        CLEANUP(freep)
        char *text =
            mem_printf("{'pods':[{'metadata':{'name':'p'},'status':{%s}}]}", statuses[i].status);
        CLEANUP(json_decrefp) json_t *json = json_of(text);
        struct object_list pods = object_list_of(json, "pods", &api__pod__descriptor);

        if (pod_is_ready(KUBE_AS(Api__Pod, pods.items[0])) != statuses[i].ready)
            fail_msg("row %zu", i);
        object_list_free(&pods);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_successors),
        cmocka_unit_test(test_readiness),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
