/* Which pod leaves next: each pod is a character, its state ("r" ready, "c" coming, "s" slow, "l"
 * leaving, "-" stays), in upper case if its eviction is refused. */
#include "azdiskctl/drain_plan.h"

#include <ctype.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/kube/client.h"
#include "test/unit/expect.h"

enum { MOST = 8 };

static const struct {
    const char *pods;
    bool patient;
    enum drain_step step;
    size_t pod;
} rows[] = {
    {"", true, DRAIN_DONE, 0},
    {"--", true, DRAIN_DONE, 0},
    {"-scr", true, DRAIN_EVICT, 3},
    {"srr", true, DRAIN_EVICT, 1},
    {"Rsr", true, DRAIN_EVICT, 2},
    {"slr", true, DRAIN_EVICT, 2},
    {"sc", true, DRAIN_AWAIT_REPLICAS, 1},
    {"sc", false, DRAIN_EVICT_SLOW, 1},
    {"Rc", true, DRAIN_AWAIT_REPLICAS, 1},
    {"ls", true, DRAIN_EVICT_SLOW, 1},
    {"Rs", true, DRAIN_EVICT_SLOW, 1},
    {"SC", false, DRAIN_AWAIT_BUDGET, 0},
    {"C", true, DRAIN_AWAIT_BUDGET, 0},
    {"lR", true, DRAIN_AWAIT_BUDGET, 0},
    {"l-", true, DRAIN_AWAIT_END, 0},
    {"L", true, DRAIN_AWAIT_END, 0},
};

static enum drain_state state_of(char c)
{
    static const char letters[] = "rcsl-";

    return (enum drain_state)(strchr(letters, tolower(c)) - letters);
}

static void test_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct drain_pod pods[MOST];
        size_t n = strlen(rows[i].pods);

        for (size_t k = 0; k < n; k++)
            pods[k] = (struct drain_pod){state_of(rows[i].pods[k]),
                                         isupper((unsigned char)rows[i].pods[k]) != 0};
        struct drain_plan plan = drain_next(pods, n, rows[i].patient);
        if (plan.step != rows[i].step || plan.pod != rows[i].pod)
            fail_msg("\"%s\": step %d, pod %zu", rows[i].pods, (int)plan.step, plan.pod);
    }
}

static bool is_refused(struct err *err)
{
    CLEANUP(err_freep) struct err *eviction = err;

    return drain_is_refused(eviction);
}

/* With two budgets, the API server gives no reason. What says nothing of the pod is for all. */
static void test_what_is_refused(void **state)
{
    CLEANUP(json_decrefp) json_t *two = json_pack("{s:s}", "message", "two budgets");
    CLEANUP(json_decrefp)
    json_t *webhook =
        json_pack("{s:s, s:s}", "message", "failed calling webhook", "reason", "InternalError");

    (void)state;
    assert_true(is_refused(err_throttled(1, "a budget")));
    assert_true(is_refused(kube_status_err(500, two)));
    assert_true(is_refused(kube_status_err(500, webhook)));
    assert_false(is_refused(kube_status_err(503, two)));
    assert_false(is_refused(err_new(ERR_UNAVAILABLE, "connection refused")));
    assert_false(is_refused(err_new(ERR_DENIED, "no")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_what_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
