/* Which pods lose the driver's gate, as the API server gets to see it. */
#include "azdiskctl/ungate.h"

#include "azdiskctl/document.h"
#include "lib/base/alloc.h"
#include "provisioner-lib/records/placement_gate.h"
#include "test/unit/expect.h"
#include "test/unit/lib/kube/script.h"

#define LIST(pods) "{'metadata':{'resourceVersion':'9'},'items':[" pods "]}"
#define POD_OF(uid, gates)                                                                         \
    "{'metadata':{'namespace':'shop','name':'db','uid':'" uid "','resourceVersion':'1'},'spec':{"  \
    "'schedulingGates':[" gates "]}}"
#define OURS "{'name':'" PLACEMENT_GATE "'}"
#define GATED POD_OF("u", OURS)
#define POD "/api/v1/namespaces/shop/pods/db"
#define UNGATE(index) "PATCH " POD " [*'remove','path':'/spec/schedulingGates/" index "'}]"
#define INVALID "{'kind':'Status','message':'not here','reason':'Invalid'}"
#define NOT_FOUND "{'kind':'Status','reason':'NotFound'}"

struct ungating {
    struct ungate_config config;
    json_t *document;
};

static void ungate_task(struct task *self, void *arg)
{
    struct ungating *ungating = arg;

    assert_ok(ungate_json(self, &ungating->config, &ungating->document));
}

/* With one pod, or all of the namespace or of the cluster. json_decref() it. */
static json_t *ungated(const char *pod, const char *namespace_, const struct script_step *steps,
                       size_t n)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    struct script script;

    script_init(&script, loop, steps, n);
    struct kube *kube = script_client(&script, NULL);
    struct ungating ungating = {.config = {.kube = kube, .pod = pod, .namespace_ = namespace_}};
    loop_spawn(loop, "ungate", ungate_task, &ungating);
    loop_run(loop);
    assert_int_equal(script.next, script.n);
    kube_free(kube);
    return ungating.document;
}

static char *text_of_all(const json_t *document)
{
    struct buffer out;

    buffer_init(&out, 4096);
    ungate_text(document, &out);
    return buffer_take(&out);
}

static void test_all_pods(void **state)
{
    static const struct {
        const char *namespace_, *path, *answer, *text;
    } rows[] = {
        {NULL, "GET /api/v1/pods?*", LIST(""),
         "No pod has the scheduling gate " PLACEMENT_GATE "."},
        {"shop", "GET /api/v1/namespaces/shop/pods?*", LIST(""),
         "No pod in namespace shop has the scheduling gate " PLACEMENT_GATE "."},
        {"shop", "GET /api/v1/namespaces/shop/pods?*", LIST(GATED),
         "POD      GATE     NOTE\n"
         "shop/db  removed  -"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct script_step steps[] = {
            SCRIPT_ANSWER(rows[i].path, 200, rows[i].answer),
            SCRIPT_ANSWER("PATCH /api/v1/namespaces/shop/pods/db *", 200, GATED),
        };
        CLEANUP(json_decrefp)
        json_t *document =
            ungated(NULL, rows[i].namespace_, steps, strstr(rows[i].answer, "db") ? 2 : 1);
        CLEANUP(freep) char *text = text_of_all(document);
        CLEANUP(freep) char *line = mem_printf("%s\n", rows[i].text);

        assert_string_equal(text, line);
        assert_true(ungate_is_complete(document));
    }
}

static void expect_gate(const json_t *document, const char *gate, const char *note)
{
    const json_t *pod = json_array_get(json_object_get(document, "pods"), 0);

    assert_string_equal(text_of(pod, "gate"), gate);
    if (note)
        assert_non_null(strstr(text_of(pod, "note"), note));
    assert_int_equal(ungate_is_complete(document), strcmp(gate, "failed") != 0);
}

/* A policy's answer is that of a patch that does not apply any more. */
static void test_a_removal_that_is_refused(void **state)
{
    static const struct {
        int status; /* when the pod is read again */
        const char *now;
        int again; /* the answer to a second patch; 0: none is asked for */
        const char *answer, *gate, *note;
    } rows[] = {
        {200, LIST(POD_OF("u", OURS)), 0, NULL, "failed", "not here"},
        {403, "{'kind':'Status'}", 0, NULL, "failed", "not here"},
        {200, LIST(POD_OF("u", "")), 0, NULL, "none", "changed meanwhile"},
        {200, LIST(POD_OF("another", OURS)), 0, NULL, "none", "changed meanwhile"},
        {200, LIST(""), 0, NULL, "none", "changed meanwhile"},
        {200, LIST(POD_OF("u", "{'name':'other'}," OURS)), 200, GATED, "removed", NULL},
        {200, LIST(POD_OF("u", "{'name':'other'}," OURS)), 404, NOT_FOUND, "none",
         "changed meanwhile"},
        {200, LIST(POD_OF("u", "{'name':'other'}," OURS)), 422, INVALID, "failed", "not here"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct script_step steps[] = {
            SCRIPT_ANSWER("GET /api/v1/pods?*", 200, LIST(GATED)),
            SCRIPT_ANSWER(UNGATE("0"), 422, INVALID),
            SCRIPT_ANSWER("GET /api/v1/namespaces/shop/pods?*fieldSelector=metadata.name%3Ddb*",
                          rows[i].status, rows[i].now),
            SCRIPT_ANSWER(UNGATE("1"), rows[i].again, rows[i].answer),
        };
        CLEANUP(json_decrefp)
        json_t *document = ungated(NULL, NULL, steps, rows[i].again ? 4 : 3);

        expect_gate(document, rows[i].gate, rows[i].note);
    }
}

/* Who may get it need not be allowed to list others. */
static void test_one_pod_is_got_again(void **state)
{
    static const struct {
        int status;
        const char *now, *gate;
    } rows[] = {
        {200, GATED, "failed"},
        {200, POD_OF("u", ""), "none"},
        {404, NOT_FOUND, "none"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct script_step steps[] = {
            SCRIPT_ANSWER("GET " POD, 200, GATED),
            SCRIPT_ANSWER(UNGATE("0"), 422, INVALID),
            SCRIPT_ANSWER("GET " POD, rows[i].status, rows[i].now),
        };
        CLEANUP(json_decrefp)
        json_t *document = ungated("shop/db", "other", steps, COUNT_OF(steps));

        expect_gate(document, rows[i].gate, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_pods),
        cmocka_unit_test(test_a_removal_that_is_refused),
        cmocka_unit_test(test_one_pod_is_got_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
