/* Whether a pod was evicted, by what the API server has to say of it. */
#include "azdiskctl/move.h"

#include "test/unit/azdiskctl/moving_pod.h"
#include "test/unit/expect.h"
#include "test/unit/lib/kube/script.h"

#define EVICT "POST /api/v1/namespaces/default/pods/db/eviction *"
#define LOOK "GET /api/v1/namespaces/default/pods?*fieldSelector=metadata.name%3Ddb*"
#define LIST(pods) "{'metadata':{'resourceVersion':'9'},'items':[" pods "]}"
#define LEAVING POD_ON("db", "a", ",'deletionTimestamp':'" NOW "'", CLAIMED("claim"), "")
#define STATUS(reason) "{'kind':'Status','message':'no','reason':'" reason "'}"

#define LATE SCRIPT_ANSWER(EVICT, 504, STATUS("Timeout"))
#define LOST SCRIPT_BREAK(EVICT)
#define SAW(pods) SCRIPT_ANSWER(LOOK, 200, LIST(pods))
#define AWAY SCRIPT_ANSWER(LOOK, 503, STATUS("ServiceUnavailable"))

struct evicting {
    struct move move;
    uint64_t deadline;
    struct err *err;
};

static void evict_task(struct task *self, void *arg)
{
    struct evicting *evicting = arg;

    evicting->err = move_evict(self, &evicting->move, evicting->deadline);
}

/* `says` NULL: it counts as evicted. */
static void check(const struct script_step *steps, size_t n, const char *says, bool in_doubt)
{
    CLEANUP(cluster_of_free) struct cluster cluster = cluster_of("{'pods':[" DB "]}");
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    CLEANUP(steps_end) struct steps said;
    struct script script;

    steps_begin(&said, loop, stderr);
    script_init(&script, loop, steps, n);
    struct kube *kube = script_client(&script, NULL);
    struct evicting evicting = {
        .move = {.kube = kube, .steps = &said, .pod = cluster.pods.items[0]}, .deadline = 2500};
    loop_spawn(loop, "evict", evict_task, &evicting);
    loop_run(loop);
    assert_int_equal(script.next, n);
    assert_int_equal(script.unanswered, 0);
    if (says)
        assert_non_null(strstr(err_message(evicting.err), says));
    assert_int_equal(evicting.err != NULL, says != NULL);
    assert_int_equal(evicting.move.in_doubt, in_doubt);
    err_free(evicting.err);
    kube_free(kube);
}

#define CHECK(says, in_doubt, ...)                                                                 \
    do {                                                                                           \
        const struct script_step steps[] = {__VA_ARGS__};                                          \
                                                                                                   \
        check(steps, COUNT_OF(steps), says, in_doubt);                                             \
    } while (0)

static void test_an_answer(void **state)
{
    (void)state;
    CHECK(NULL, false, SCRIPT_ANSWER(EVICT, 201, "{}"));
    CHECK(NULL, false, SCRIPT_ANSWER(EVICT, 404, STATUS("NotFound")));
    CHECK(NULL, false, SCRIPT_ANSWER(EVICT, 409, STATUS("Conflict")));
    CHECK("HTTP 429", false, SCRIPT_ANSWER(EVICT, 429, STATUS("TooManyRequests")));
    CHECK("HTTP 500", false, SCRIPT_ANSWER(EVICT, 500, STATUS("InternalError")));
    CHECK("HTTP 403", false, SCRIPT_ANSWER(EVICT, 403, STATUS("Forbidden")));
}

static void test_no_answer_to_what_was_carried_out(void **state)
{
    (void)state;
    CHECK(NULL, false, LATE, SAW(LEAVING));
    CHECK(NULL, false, LOST, SAW(""));
    CHECK(NULL, false, LOST, SAW(POD_ON("db", "b", "", "", "")), SAW(LEAVING));
    CHECK(NULL, false, LATE, SAW("{'metadata':{'namespace':'default','name':'db','uid':'new'}}"));
    CHECK(NULL, false, LATE, AWAY, AWAY, SAW(LEAVING));
}

static void test_no_answer_to_what_was_not(void **state)
{
    (void)state;
    CHECK("HTTP 504", false, LATE, SAW(DB), SAW(DB), SAW(DB), SAW(DB), SAW(DB));
}

static void test_nobody_knows(void **state)
{
    (void)state;
    CHECK("whether pod default/db was evicted is not known: POST", true, LATE, AWAY, AWAY, AWAY,
          AWAY);
    CHECK("whether pod default/db was evicted is not known: POST", true, LATE,
          SCRIPT_ANSWER(LOOK, 403, STATUS("Forbidden")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_answer),
        cmocka_unit_test(test_no_answer_to_what_was_carried_out),
        cmocka_unit_test(test_no_answer_to_what_was_not),
        cmocka_unit_test(test_nobody_knows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
