/* Whether an owner would make a pod again, and by which labels it knows its pods. */
#include "azdiskctl/pod_owner.h"

#include "lib/base/text.h"
#include "test/unit/object.h"

#define OWNER(metadata, spec, status)                                                              \
    "{'metadata':{'uid':'o'" metadata "},'spec':{" spec "},'status':{" status "}}"

static const struct {
    const char *owner; /* NULL: there is none */
    const char *refusal;
} rows[] = {
    {OWNER("", "'replicas':3", "'replicas':3"), NULL},
    {OWNER("", "'replicas':3", "'replicas':2"), NULL},
    {OWNER("", "'replicas':3", ""), NULL},
    {OWNER("", "", ""), NULL},
    {OWNER("", "'suspend':false", ""), NULL},
    {OWNER("", "'replicas':2", "'replicas':3"),
     "StatefulSet db is being scaled down from 3 to 2 pods"},
    {OWNER(",'deletionTimestamp':'2026-01-01T00:00:00Z'", "", ""),
     "StatefulSet db is being deleted"},
    {OWNER("", "'suspend':true", ""), "StatefulSet db is suspended"},
    {"{'metadata':{'uid':'another'}}",
     "StatefulSet db, which has made it, does not exist any more"},
    {NULL, "StatefulSet db, which has made it, does not exist any more"},
};

static void test_refusals(void **state)
{
    char kind[] = "StatefulSet", name[] = "db", uid[] = "o";
    Api__OwnerReference reference = API__OWNER_REFERENCE__INIT;

    (void)state;
    reference.kind = kind, reference.name = name, reference.uid = uid;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(json_decrefp) json_t *owner = rows[i].owner ? json_of(rows[i].owner) : NULL;
        CLEANUP(freep) char *refusal = pod_owner_refusal(&reference, owner);

        if (!same_text(refusal, rows[i].refusal))
            fail_msg("row %zu: %s", i, refusal);
    }
}

static const struct {
    const char *selector, *text;
} selectors[] = {
    {"'selector':{'matchLabels':{'app':'db'}}", "app=db"},
    {"'selector':{'matchLabels':{'app':'db','tier':''}}", "app=db,tier="},
    {"'selector':{'matchLabels':{'app':'db'},'matchExpressions':[]}", "app=db"},
    {"'selector':{'matchExpressions':[{'key':'x','operator':'Exists'}]}", NULL},
    {"'selector':{'app':'db'}", "app=db"}, /* a ReplicationController */
    {"", NULL},
};

static void test_selectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(selectors); i++) {
        CLEANUP(freep) char *text = mem_printf("{'spec':{%s}}", selectors[i].selector);
        CLEANUP(json_decrefp) json_t *owner = json_of(text);
        CLEANUP(freep) char *found = pod_owner_selector(owner);

        if (!same_text(found, selectors[i].text) || !found != !selectors[i].text)
            fail_msg("row %zu: %s", i, found);
    }
}

static void test_a_selector_that_is_too_long(void **state)
{
    CLEANUP(json_decrefp) json_t *labels = json_object();
    char key[32], value[64];

    (void)state;
    memset(value, 'x', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    for (int i = 0; i < 200; i++) {
        snprintf(key, sizeof key, "label-%d", i);
        json_object_set_new(labels, key, json_string(value));
    }
    CLEANUP(json_decrefp)
    json_t *owner = json_pack("{s:{s:{s:O}}}", "spec", "selector", "matchLabels", labels);
    assert_null(pod_owner_selector(owner));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_selectors),
        cmocka_unit_test(test_a_selector_that_is_too_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
