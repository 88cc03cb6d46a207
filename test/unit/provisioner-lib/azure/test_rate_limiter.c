/* Who passes when. */
#include "provisioner-lib/azure/rate_limiter.h"

#include "lib/base/alloc.h"
#include "lib/rt/group.h"
#include "provisioner-lib/azure/subscription_buckets.h"
#include "test/unit/expect.h"

enum { MANY_CONNECTIONS = 100 };

struct visitor {
    struct rate_limiter *limiter;
    struct rate_limiter_request request;
    enum cloud_urgency urgency;
    uint64_t stays_ms;
    bool only_waits;    /* and sends nothing */
    uint64_t passed_at; /* 0: not yet */
    struct err *err;
};

static void visit(struct task *self, void *arg)
{
    struct visitor *visitor = arg;

    visitor->request.urgency = &visitor->urgency;
    visitor->err = visitor->only_waits
                       ? rate_limiter_wait(self, visitor->limiter, &visitor->request)
                       : rate_limiter_acquire(self, visitor->limiter, &visitor->request);
    if (visitor->err)
        return;
    visitor->passed_at = loop_now(loop_of(self));
    if (visitor->only_waits)
        return;
    err_free(task_sleep(self, visitor->stays_ms));
    rate_limiter_release(visitor->limiter);
}

#define CHANGE(limiter, buckets, vm, urgency)                                                      \
    {                                                                                              \
        limiter, {buckets, ARM_VM_UPDATE, vm, NULL}, urgency, 0, false, 0, NULL                    \
    }

static void drain(struct token_buckets *buckets, const char *vm, unsigned n, struct loop *loop)
{
    for (unsigned i = 0; i < n; i++)
        token_buckets_spend(buckets, ARM_VM_UPDATE, vm, loop_now(loop));
}

static void test_the_urgent_pass_first(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    CLEANUP(token_buckets_freep) struct token_buckets *buckets = token_buckets_new();
    CLEANUP(rate_limiter_freep)
    struct rate_limiter *limiter = rate_limiter_new(loop, MANY_CONNECTIONS);
    struct visitor visitors[] = {
        CHANGE(limiter, buckets, "a", CLOUD_COLLECTION),
        CHANGE(limiter, buckets, "a", CLOUD_FOR_REPLICA),
        CHANGE(limiter, buckets, "a", CLOUD_FOR_REPLICA),
        CHANGE(limiter, buckets, "a", CLOUD_IN_THE_WAY),
        CHANGE(limiter, buckets, "a", CLOUD_FOR_PRIMARY),
        CHANGE(limiter, buckets, "b", CLOUD_COLLECTION),
    };

    (void)state;
    drain(buckets, "a", 12, loop);
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
    CLEANUP(token_buckets_freep) struct token_buckets *buckets = token_buckets_new();
    CLEANUP(rate_limiter_freep)
    struct rate_limiter *limiter = rate_limiter_new(loop, MANY_CONNECTIONS);
    struct visitor a = CHANGE(limiter, buckets, "a", CLOUD_FOR_PRIMARY);
    uint64_t start = loop_now(loop);

    (void)state;
    token_buckets_close(buckets, ARM_VM_UPDATE, "b", BUCKET_SUBSCRIPTION, start + 17000, start);
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
    CLEANUP(token_buckets_freep) struct token_buckets *buckets = token_buckets_new();
    CLEANUP(rate_limiter_freep)
    struct rate_limiter *limiter = rate_limiter_new(loop, MANY_CONNECTIONS);
    struct visitor first = CHANGE(limiter, buckets, "a", CLOUD_FOR_PRIMARY);
    struct visitor second = CHANGE(limiter, buckets, "a", CLOUD_FOR_REPLICA);
    struct task_group group;

    (void)state;
    group_init(&group, loop);
    drain(buckets, "a", 12, loop);
    group_spawn(&group, "visitor", visit, &first);
    loop_spawn(loop, "visitor", visit, &second);
    loop_advance(loop, 1000);
    loop_spawn(loop, "cancel", cancel_all, &group);
    loop_advance(loop, 61 * 1000);
    assert_int_equal(err_kind(first.err), ERR_CANCELED);
    err_free(first.err);
    assert_true(second.passed_at > 0);
    assert_int_equal(token_buckets_left(buckets, ARM_VM_UPDATE, BUCKET_RESOURCE, loop_now(loop)),
                     3); /* the first one's token was not taken */
}

/* Each subscription has its own buckets. */
static void test_subscriptions(void **state)
{
    static const char *const same[] = {
        "/subscriptions/ONE/resourceGroups/rg", "/Subscriptions/one?api-version=1",
        "https://management.example/subscriptions/One/providers/x", "/subscriptions/one"};
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    CLEANUP(subscription_buckets_freep)
    struct subscription_buckets *all = subscription_buckets_new();
    CLEANUP(rate_limiter_freep)
    struct rate_limiter *limiter = rate_limiter_new(loop, MANY_CONNECTIONS);
    struct token_buckets *one = subscription_buckets_find(all, "/subscriptions/one/");
    struct token_buckets *two = subscription_buckets_find(all, "/subscriptions/two/");
    struct visitor visitors[] = {CHANGE(limiter, one, "a", CLOUD_FOR_PRIMARY),
                                 CHANGE(limiter, two, "a", CLOUD_FOR_PRIMARY)};
    uint64_t start = loop_now(loop);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(same); i++)
        assert_ptr_equal(subscription_buckets_find(all, same[i]), one);
    assert_ptr_not_equal(one, two);
    drain(one, "a", 12, loop);
    assert_int_equal(subscription_buckets_left(all, ARM_VM_UPDATE, BUCKET_RESOURCE, start), 0);
    assert_int_equal(subscription_buckets_left(all, ARM_VM_UPDATE, BUCKET_METHOD, start), 200 - 12);
    for (size_t i = 0; i < COUNT_OF(visitors); i++)
        loop_spawn(loop, "visitor", visit, &visitors[i]);
    loop_advance(loop, 1000);
    assert_int_equal(visitors[0].passed_at, 0);
    assert_int_equal(visitors[1].passed_at, start);
    loop_advance(loop, 61 * 1000);
    assert_true(visitors[0].passed_at > start);
}

/* Of all subscriptions together there are so many at a time, whatever their buckets
 * have left. */
static void test_connections(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    CLEANUP(token_buckets_freep) struct token_buckets *one = token_buckets_new();
    CLEANUP(token_buckets_freep) struct token_buckets *two = token_buckets_new();
    CLEANUP(rate_limiter_freep) struct rate_limiter *limiter = rate_limiter_new(loop, 2);
    struct visitor visitors[] = {
        CHANGE(limiter, one, "a", CLOUD_FOR_REPLICA), CHANGE(limiter, two, "b", CLOUD_FOR_REPLICA),
        CHANGE(limiter, one, "c", CLOUD_AUDIT),       CHANGE(limiter, two, "d", CLOUD_FOR_REPLICA),
        CHANGE(limiter, one, "e", CLOUD_FOR_PRIMARY), CHANGE(limiter, two, "f", CLOUD_IN_THE_WAY),
    };
    static const uint64_t passed_at[] = {1, 1, 2001, 2001, 1001, 2001};

    (void)state;
    loop_advance(loop, 1);
    visitors[5].only_waits = true; /* and so takes none */
    for (size_t i = 0; i < COUNT_OF(visitors); i++) {
        visitors[i].stays_ms = 1000;
        loop_spawn(loop, "visitor", visit, &visitors[i]);
    }
    visitors[1].stays_ms = 2000;
    loop_advance(loop, 10 * 1000);
    for (size_t i = 0; i < COUNT_OF(visitors); i++)
        assert_int_equal(visitors[i].passed_at, passed_at[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_urgent_pass_first),
        cmocka_unit_test(test_nobody_passes_before_the_end_of_a_refusal),
        cmocka_unit_test(test_who_is_cancelled_leaves_the_queue),
        cmocka_unit_test(test_subscriptions),
        cmocka_unit_test(test_connections),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
