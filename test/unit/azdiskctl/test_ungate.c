/* Which pods lose the driver's gate, as the API server gets to see it. */
#include "azdiskctl/ungate.h"

#include "azdiskctl/document.h"
#include "lib/base/alloc.h"
#include "provisioner-lib/records/placement_gate.h"
#include "test/unit/expect.h"
#include "test/unit/lib/kube/script.h"

#define LIST(pods) "{'metadata':{'resourceVersion':'9'},'items':[" pods "]}"
#define GATED                                                                                      \
    "{'metadata':{'namespace':'shop','name':'db','uid':'u','resourceVersion':'1'},'spec':{"        \
    "'schedulingGates':[{'name':'" PLACEMENT_GATE "'}]}}"

struct ungating {
    struct ungate_config config;
    json_t *document;
};

static void ungate_task(struct task *self, void *arg)
{
    struct ungating *ungating = arg;

    assert_ok(ungate_json(self, &ungating->config, &ungating->document));
}

/* With all pods of the namespace, or of the cluster. json_decref() it. */
static json_t *ungated(const char *namespace_, const struct script_step *steps, size_t n)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    struct script script;

    script_init(&script, loop, steps, n);
    struct kube *kube = script_client(&script, NULL);
    struct ungating ungating = {.config = {.kube = kube, .namespace_ = namespace_}};
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
        json_t *document = ungated(rows[i].namespace_, steps, strstr(rows[i].answer, "db") ? 2 : 1);
        CLEANUP(freep) char *text = text_of_all(document);
        CLEANUP(freep) char *line = mem_printf("%s\n", rows[i].text);

        assert_string_equal(text, line);
        assert_true(ungate_is_complete(document));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_pods)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
