/* What is read of Leases, and for how long nothing was heard of whom. */
#include "controller/failover/silence.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

enum { PERIOD = 500, GRACE = 4000 };

struct seen {
    struct silence silence;
    uint64_t now;
    const char *boot_id; /* the Node's */
};

static struct seen start(void)
{
    return (struct seen){.silence = {.grace_ms = GRACE, .period_ms = PERIOD}, .now = 1000};
}

static void note(struct seen *seen, const char *node, const char *holder, const char *renewed,
                 int duration_s)
{
    Api__ObjectMeta metadata = API__OBJECT_META__INIT;
    Api__LeaseSpec spec = API__LEASE_SPEC__INIT;
    Api__Lease lease = API__LEASE__INIT;

    metadata.name = (char *)(uintptr_t)node;
    spec.holder_identity = (char *)(uintptr_t)holder;
    spec.renew_time = (char *)(uintptr_t)renewed;
    spec.has_lease_duration_seconds = true;
    spec.lease_duration_seconds = duration_s;
    lease.metadata = &metadata;
    lease.spec = &spec;
    silence_note(&seen->silence, &lease, seen->boot_id);
}

/* A read of one Lease; NULL: of none. */
static void read_of(struct seen *seen, const char *boot, const char *renewed)
{
    silence_begin(&seen->silence, seen->now);
    if (renewed)
        note(seen, "a", boot, renewed, 2);
    silence_end(&seen->silence, seen->now);
    seen->now += PERIOD;
}

static void read_one(struct seen *seen, const char *renewed)
{
    read_of(seen, "boot", renewed);
}

static void read_until_silent(struct seen *seen, const char *renewed, unsigned reads)
{
    for (unsigned i = 0; i < reads; i++) {
        assert_null(silence_since(&seen->silence, "a"));
        read_one(seen, renewed);
    }
    assert_string_equal(silence_since(&seen->silence, "a"), renewed);
}

struct news {
    unsigned nodes, changes;
};

static void count_news(void *ctx, const char *node, bool changed)
{
    struct news *news = ctx;

    (void)node;
    news->nodes++;
    news->changes += changed;
}

static void expect_news(struct seen *seen, unsigned nodes, unsigned changes)
{
    struct news news = {0};

    silence_each_news(&seen->silence, count_news, &news);
    assert_int_equal(news.nodes, nodes);
    assert_int_equal(news.changes, changes);
}

static void test_a_grace_period_after_it_was_seen_first(void **state)
{
    struct seen seen = start();

    (void)state;
    read_until_silent(&seen, "1", GRACE / PERIOD + 1);
    assert_int_equal(silence_ms(&seen.silence, "a"), GRACE);
    silence_clear(&seen.silence);
}

static void test_a_renewal_ends_it(void **state)
{
    struct seen seen = start();

    (void)state;
    read_until_silent(&seen, "1", GRACE / PERIOD + 1);
    expect_news(&seen, 1, 1);
    expect_news(&seen, 1, 0); /* again and again, while it is silent */
    read_one(&seen, "2");
    assert_null(silence_since(&seen.silence, "a"));
    expect_news(&seen, 1, 1);
    expect_news(&seen, 0, 0);
    silence_clear(&seen.silence);
}

static void test_whose_silence_it_is(void **state)
{
    struct seen seen = start();

    (void)state;
    assert_null(silence_boot_id(&seen.silence, "a"));
    read_one(&seen, "1");
    assert_string_equal(silence_boot_id(&seen.silence, "a"), "boot");
    read_of(&seen, "next boot", "2");
    assert_string_equal(silence_boot_id(&seen.silence, "a"), "next boot");
    silence_clear(&seen.silence);
}

/* By what the Node said when it was renewed, if the plug-in calls its boot otherwise. */
static void test_whose_silence_it_is_by_the_node(void **state)
{
    struct seen seen = start();

    (void)state;
    seen.boot_id = "first";
    read_one(&seen, "1");
    assert_false(silence_is_of_boot(&seen.silence, "a", "first")); /* renewed before, perhaps */
    assert_true(silence_is_of_boot(&seen.silence, "a", "boot"));
    assert_false(silence_is_of_boot(&seen.silence, "a", NULL));
    read_one(&seen, "2");
    assert_true(silence_is_of_boot(&seen.silence, "a", "first"));
    seen.boot_id = "second"; /* it was started anew, and renews nothing yet */
    read_one(&seen, "2");
    assert_false(silence_is_of_boot(&seen.silence, "a", "second"));
    read_one(&seen, "3");
    assert_true(silence_is_of_boot(&seen.silence, "a", "second"));
    assert_false(silence_is_of_boot(&seen.silence, "a", "first"));
    assert_false(silence_is_of_boot(&seen.silence, "b", "first"));
    silence_clear(&seen.silence);
}

static void test_one_that_was_given_up(void **state)
{
    struct seen seen = start();

    (void)state;
    read_until_silent(&seen, "1", GRACE / PERIOD + 1);
    silence_begin(&seen.silence, seen.now);
    note(&seen, "a", "", "1", 2);
    silence_end(&seen.silence, seen.now);
    assert_null(silence_since(&seen.silence, "a"));
    silence_clear(&seen.silence);
}

static void test_one_that_is_gone(void **state)
{
    struct seen seen = start();

    (void)state;
    read_until_silent(&seen, "1", GRACE / PERIOD + 1);
    expect_news(&seen, 1, 1);
    read_one(&seen, NULL);
    assert_null(silence_since(&seen.silence, "a"));
    expect_news(&seen, 1, 1);
    read_one(&seen, NULL);
    assert_null(silence_boot_id(&seen.silence, "a"));
    silence_clear(&seen.silence);
}

/* Minutes pass without an answer, and nobody could renew anything either. */
static void test_time_without_answers_does_not_count(void **state)
{
    struct seen seen = start();

    (void)state;
    read_one(&seen, "1");
    for (int i = 0; i < 100; i++) {
        silence_failed(&seen.silence);
        seen.now += PERIOD;
    }
    read_one(&seen, "1");
    assert_int_equal(silence_ms(&seen.silence, "a"), 0);
    seen.now += 60 * 1000; /* nor does the time in which nobody asked */
    read_one(&seen, "1");
    assert_int_equal(silence_ms(&seen.silence, "a"), 2 * PERIOD);
    silence_clear(&seen.silence);
}

static void test_not_before_the_promise_is_broken(void **state)
{
    struct seen seen = start();
    unsigned reads = 0;

    (void)state;
    while (!silence_since(&seen.silence, "a")) {
        silence_begin(&seen.silence, seen.now);
        note(&seen, "a", "boot", "1", 6);
        silence_end(&seen.silence, seen.now);
        seen.now += PERIOD;
        reads++;
    }
    assert_int_equal(reads, 8 * 1000 / PERIOD + 1); /* its six seconds and two for a renewal */
    silence_clear(&seen.silence);
}

/* ---- kubelet ---- */

#define SECONDS(s) "2026-01-01T00:00:" #s ".000000Z"

static bool kubelet_is_silent(struct seen *seen, const char *renewed, int promise_s)
{
    Api__LeaseSpec spec = API__LEASE_SPEC__INIT;
    Api__Lease lease = API__LEASE__INIT;

    spec.renew_time = (char *)(uintptr_t)renewed;
    spec.has_lease_duration_seconds = promise_s > 0;
    spec.lease_duration_seconds = promise_s;
    lease.spec = &spec;
    return silence_note_kubelet(&seen->silence, "a", &lease);
}

static struct seen silent_since(const char *renewed)
{
    struct seen seen = start();

    read_until_silent(&seen, renewed, GRACE / PERIOD + 1);
    return seen;
}

static void test_kubelet_was_heard_of_since(void **state)
{
    struct seen seen = silent_since(SECONDS(10));

    (void)state;
    assert_false(kubelet_is_silent(&seen, SECONDS(20), 40));
    assert_true(kubelet_is_silent(&seen, SECONDS(05), 40));
    assert_true(kubelet_is_silent(&seen, SECONDS(11), 40)); /* before the plug-in had to again */
    assert_true(kubelet_is_silent(&seen, NULL, 40));
    silence_clear(&seen.silence);
    assert_false(kubelet_is_silent(&seen, SECONDS(05), 40)); /* nobody is silent */
}

/* A cut ends after the plug-in was last heard of, for long enough for kubelet, and begins again. */
static void test_kubelet_is_silent_by_its_own_promise(void **state)
{
    struct seen seen = silent_since(SECONDS(10));

    (void)state;
    assert_false(kubelet_is_silent(&seen, SECONDS(20), 3));
    for (int ms = 0; ms < 3000; ms += PERIOD) {
        assert_false(kubelet_is_silent(&seen, SECONDS(20), 3));
        read_one(&seen, SECONDS(10));
    }
    assert_true(kubelet_is_silent(&seen, SECONDS(20), 3));
    assert_false(kubelet_is_silent(&seen, SECONDS(20), 0)); /* 40 s, if it does not say */
    assert_false(kubelet_is_silent(&seen, SECONDS(30), 3)); /* heard of again */
    silence_clear(&seen.silence);
}

static void test_kubelets_silence_counts_like_the_plugins(void **state)
{
    struct seen seen = silent_since(SECONDS(10));

    (void)state;
    assert_false(kubelet_is_silent(&seen, SECONDS(20), 3));
    for (int i = 0; i < 100; i++) {
        silence_failed(&seen.silence);
        seen.now += PERIOD;
    }
    read_one(&seen, SECONDS(10));
    assert_false(kubelet_is_silent(&seen, SECONDS(20), 3));
    silence_clear(&seen.silence);
}

/* The node that is `ctx` is out of service. */
static const char *no_zone(void *ctx, const char *node)
{
    return ctx && strcmp(ctx, node) == 0 ? NULL : "";
}

/* Their names begin with it. */
static const char *zone_by_name(void *ctx, const char *node)
{
    (void)ctx;
    return node[0] == '1' ? "1" : "2";
}

static unsigned overdue(struct seen *seen)
{
    silence_note_overdue(&seen->silence, no_zone, NULL);
    return silence_overdue_with(&seen->silence, "a");
}

/* The first one has renewed its Lease just before, and the second one just after a read. */
static void test_those_cut_off_together_are_overdue_together(void **state)
{
    struct seen seen = start();

    (void)state;
    while (!silence_since(&seen.silence, "a")) {
        bool second = seen.silence.reads > 1;

        silence_begin(&seen.silence, seen.now);
        note(&seen, "a", "boot", "1", 2);
        note(&seen, "b", "boot", second ? "2" : "1", 2);
        silence_end(&seen.silence, seen.now);
        seen.now += PERIOD;
    }
    assert_null(silence_since(&seen.silence, "b"));
    assert_int_equal(overdue(&seen), 2);
    silence_clear(&seen.silence);
}

static void test_whoever_renews_in_time_is_not_overdue(void **state)
{
    struct seen seen = start();
    static const char *const renewed[] = {"1", "1", "2", "2", "3", "3", "4", "4", "5"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(renewed); i++) {
        read_one(&seen, renewed[i]);
        assert_int_equal(overdue(&seen), 0);
    }
    read_one(&seen, NULL);
    assert_int_equal(overdue(&seen), 0);
    silence_clear(&seen.silence);
}

/* For a leader that has just begun, all are silent for as long. */
static void test_one_that_died_long_before_had_a_reason_of_its_own(void **state)
{
    struct seen seen = start();

    (void)state;
    while (!silence_since(&seen.silence, "a")) {
        silence_begin(&seen.silence, seen.now);
        note(&seen, "a", "boot", "2026-11-30T12:00:00.000000Z", 2);
        note(&seen, "before", "boot", "2026-11-30T11:49:59.999999Z", 2);
        note(&seen, "with", "boot", "2026-11-30T11:50:00.000000Z", 2);
        note(&seen, "after", "boot", "2026-11-30T18:00:00.000000Z", 2);
        silence_end(&seen.silence, seen.now);
        seen.now += PERIOD;
    }
    assert_int_equal(overdue(&seen), 3);
    assert_int_equal(silence_overdue_with(&seen.silence, "before"), 4);
    assert_int_equal(silence_overdue_with(&seen.silence, "unknown"), 4);
    silence_note_overdue(&seen.silence, no_zone, (void *)(uintptr_t) "with");
    assert_int_equal(silence_overdue_with(&seen.silence, "a"), 2);
    silence_clear(&seen.silence);
}

static void test_those_of_a_lost_zone_do_not_count(void **state)
{
    struct seen seen = start();
    static const char *const nodes[] = {"1-a", "1-b", "1-c", "2-a", "2-b"};
    char heard[8];

    (void)state;
    while (!silence_since(&seen.silence, "1-a")) {
        silence_begin(&seen.silence, seen.now);
        snprintf(heard, sizeof heard, "%u", seen.silence.reads);
        for (size_t i = 0; i < COUNT_OF(nodes); i++)
            note(&seen, nodes[i], "boot", i < 4 ? "1" : heard, 2);
        silence_end(&seen.silence, seen.now);
        seen.now += PERIOD;
    }
    silence_note_overdue(&seen.silence, no_zone, NULL);
    assert_int_equal(silence_overdue_with(&seen.silence, "1-a"), 4);
    silence_note_overdue(&seen.silence, zone_by_name, NULL);
    assert_int_equal(silence_overdue_with(&seen.silence, "1-a"), 1);
    assert_int_equal(silence_overdue_with(&seen.silence, "2-a"), 1);
    silence_clear(&seen.silence);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_grace_period_after_it_was_seen_first),
        cmocka_unit_test(test_a_renewal_ends_it),
        cmocka_unit_test(test_whose_silence_it_is),
        cmocka_unit_test(test_whose_silence_it_is_by_the_node),
        cmocka_unit_test(test_one_that_was_given_up),
        cmocka_unit_test(test_one_that_is_gone),
        cmocka_unit_test(test_time_without_answers_does_not_count),
        cmocka_unit_test(test_not_before_the_promise_is_broken),
        cmocka_unit_test(test_kubelet_was_heard_of_since),
        cmocka_unit_test(test_kubelet_is_silent_by_its_own_promise),
        cmocka_unit_test(test_kubelets_silence_counts_like_the_plugins),
        cmocka_unit_test(test_those_cut_off_together_are_overdue_together),
        cmocka_unit_test(test_whoever_renews_in_time_is_not_overdue),
        cmocka_unit_test(test_those_of_a_lost_zone_do_not_count),
        cmocka_unit_test(test_one_that_died_long_before_had_a_reason_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
