/* Lists over a link on which a page of the usual size does not come in time. */
#include "azdiskctl/listed.h"

#include "azdiskctl/log_subject.h"
#include "lib/base/alloc.h"
#include "test/unit/expect.h"
#include "test/unit/lib/kube/script.h"

#define LATE (2 * KUBE_CALL_TIMEOUT_MS)
#define POD                                                                                        \
    "{'metadata':{'namespace':'d','name':'pod'},'status':{'containerStatuses':[{'name':'a',"       \
    "'containerID':'x'}]}}"
#define LIST "{'metadata':{'resourceVersion':'9'},'items':[" POD "]}"

struct reading {
    struct kube_connection connection;
    struct err *err;
    size_t n; /* what has come */
};

static void list_task(struct task *self, void *arg)
{
    struct reading *reading = arg;
    const struct kube_query all = {0};
    CLEANUP(listed_fini) struct listed listed = {0};

    reading->err = listed_read(self, reading->connection.kube, &PODS, NULL, &all, &listed);
    reading->n = listed.list.n;
}

static void sources_task(struct task *self, void *arg)
{
    struct reading *reading = arg;
    const struct logs_config config = {.connection = &reading->connection, .node = ""};
    const struct log_subject subject = {0};
    CLEANUP(json_decrefp) json_t *sources = NULL;

    reading->err = log_subject_sources(self, &config, &subject, &sources);
    reading->n = json_array_size(sources);
}

static struct reading read_by(task_fn *fn, const struct script_step *steps, size_t n)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    struct script script;

    script_init(&script, loop, steps, n);
    struct reading reading = {.connection = {.kube = script_client(&script, NULL)}};
    loop_spawn(loop, "read", fn, &reading);
    loop_run(loop);
    assert_int_equal(script.next, n);
    assert_int_equal(script.unanswered, 0);
    kube_free(reading.connection.kube);
    return reading;
}

static void test_a_page_that_is_late_is_asked_for_in_parts(void **state)
{
    static const struct script_step steps[] = {
        {.request = "GET /api/v1/pods?*limit=500", .takes_ms = LATE},
        SCRIPT_ANSWER("GET /api/v1/pods?*limit=125", 200, LIST),
    };
    static task_fn *const readers[] = {list_task, sources_task};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(readers); i++) {
        struct reading reading = read_by(readers[i], steps, COUNT_OF(steps));

        assert_ok(reading.err);
        assert_int_equal(reading.n, 1);
    }
}

static void test_a_server_that_does_not_answer(void **state)
{
    static const struct script_step steps[] = {
        {.request = "GET /api/v1/pods?limit=500", .takes_ms = LATE},
        {.request = "GET /api/v1/pods?limit=125", .takes_ms = LATE},
        {.request = "GET /api/v1/pods?limit=32", .takes_ms = LATE},
    };

    (void)state;
    assert_fails(read_by(list_task, steps, COUNT_OF(steps)).err, ERR_TIMEOUT, "too late");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_page_that_is_late_is_asked_for_in_parts),
        cmocka_unit_test(test_a_server_that_does_not_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
