/* Who passes when. */
#include "provisioner-lib/azure/gates.h"

#include "lib/base/alloc.h"
#include "lib/rt/group.h"
#include "test/unit/expect.h"

struct visitor {
    struct gate *gate;
    const char *vm;
    enum cloud_urgency urgency;
    uint64_t passed_at; /* 0: not yet */
    struct err *err;
};

static void visit(struct task *self, void *arg)
{
    struct visitor *visitor = arg;

    visitor->err = gate_pass(self, visitor->gate, ARM_VM_UPDATE, visitor->vm, visitor->urgency);
    if (!visitor->err)
        visitor->passed_at = loop_now(loop_of(self));
}

static void drain(struct gate *gate, const char *vm, unsigned n, struct loop *loop)
{
    for (unsigned i = 0; i < n; i++)
        budget_spend(gate_budget(gate), ARM_VM_UPDATE, vm, loop_now(loop));
}

static void test_the_urgent_pass_first(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    CLEANUP(gate_freep) struct gate *gate = gate_new(loop);
    struct visitor visitors[] = {
        {gate, "a", CLOUD_COLLECTION, 0, NULL},  {gate, "a", CLOUD_FOR_REPLICA, 0, NULL},
        {gate, "a", CLOUD_FOR_REPLICA, 0, NULL}, {gate, "a", CLOUD_IN_THE_WAY, 0, NULL},
        {gate, "a", CLOUD_FOR_PRIMARY, 0, NULL}, {gate, "b", CLOUD_COLLECTION, 0, NULL},
    };

    (void)state;
    drain(gate, "a", 12, loop);
    for (size_t i = 0; i < COUNT_OF(visitors); i++)
        loop_spawn(loop, "visitor", visit, &visitors[i]);
    uint64_t start = loop_now(loop);
    loop_advance(loop, 60 * 1000);
    assert_int_equal(visitors[5].passed_at, start); /* held up by nobody */
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(visitors[i].passed_at, 0);
    loop_advance(loop, 2000); /* four may pass */
    for (size_t i = 1; i < 5; i++)
        assert_int_equal(visitors[i].passed_at, start + 61 * 1000);
    assert_int_equal(visitors[0].passed_at, 0);
    loop_advance(loop, 60 * 1000);
    assert_int_equal(visitors[0].passed_at, start + 121 * 1000);
}

static void test_nobody_passes_before_the_end_of_a_refusal(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    CLEANUP(gate_freep) struct gate *gate = gate_new(loop);
    struct visitor a = {gate, "a", CLOUD_FOR_PRIMARY, 0, NULL};
    uint64_t start = loop_now(loop);

    (void)state;
    budget_close(gate_budget(gate), ARM_VM_UPDATE, "b", BUDGET_SUBSCRIPTION, start + 17000, start);
    loop_spawn(loop, "visitor", visit, &a);
    loop_advance(loop, 16999);
    assert_int_equal(a.passed_at, 0);
    loop_advance(loop, 1);
    assert_int_equal(a.passed_at, start + 17000);
}

static void cancel_all(struct task *self, void *arg)
{
    group_close(self, arg);
}

static void test_who_is_cancelled_leaves_the_queue(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    CLEANUP(gate_freep) struct gate *gate = gate_new(loop);
    struct visitor first = {gate, "a", CLOUD_FOR_PRIMARY, 0, NULL};
    struct visitor second = {gate, "a", CLOUD_FOR_REPLICA, 0, NULL};
    struct task_group group;

    (void)state;
    group_init(&group, loop);
    drain(gate, "a", 12, loop);
    group_spawn(&group, "visitor", visit, &first);
    loop_spawn(loop, "visitor", visit, &second);
    loop_advance(loop, 1000);
    loop_spawn(loop, "cancel", cancel_all, &group);
    loop_advance(loop, 61 * 1000);
    assert_int_equal(err_kind(first.err), ERR_CANCELED);
    err_free(first.err);
    assert_true(second.passed_at > 0);
    assert_int_equal(budget_left(gate_budget(gate), ARM_VM_UPDATE, BUDGET_RESOURCE, loop_now(loop)),
                     3); /* the first one's token was not taken */
}

/* Each subscription has its own budget. */
static void test_subscriptions(void **state)
{
    static const char *const same[] = {
        "/subscriptions/ONE/resourceGroups/rg", "/Subscriptions/one?api-version=1",
        "https://management.example/subscriptions/One/providers/x", "/subscriptions/one"};
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    CLEANUP(gates_freep) struct gates *gates = gates_new(loop);
    struct gate *one = gates_find(gates, "/subscriptions/one/");
    struct gate *two = gates_find(gates, "/subscriptions/two/");
    struct visitor visitors[] = {{one, "a", CLOUD_FOR_PRIMARY, 0, NULL},
                                 {two, "a", CLOUD_FOR_PRIMARY, 0, NULL}};
    uint64_t start = loop_now(loop);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(same); i++)
        assert_ptr_equal(gates_find(gates, same[i]), one);
    assert_ptr_not_equal(one, two);
    drain(one, "a", 12, loop);
    assert_int_equal(gates_left(gates, ARM_VM_UPDATE, BUDGET_RESOURCE, start), 0);
    assert_int_equal(gates_left(gates, ARM_VM_UPDATE, BUDGET_METHOD, start), 200 - 12);
    for (size_t i = 0; i < COUNT_OF(visitors); i++)
        loop_spawn(loop, "visitor", visit, &visitors[i]);
    loop_advance(loop, 1000);
    assert_int_equal(visitors[0].passed_at, 0);
    assert_int_equal(visitors[1].passed_at, start);
    loop_advance(loop, 61 * 1000);
    assert_true(visitors[0].passed_at > start);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_urgent_pass_first),
        cmocka_unit_test(test_nobody_passes_before_the_end_of_a_refusal),
        cmocka_unit_test(test_who_is_cancelled_leaves_the_queue),
        cmocka_unit_test(test_subscriptions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
