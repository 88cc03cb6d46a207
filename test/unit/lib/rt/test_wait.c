#include "lib/rt/wait.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

/* ---- one wait and what happens at the same moment ---- */

struct waiting {
    struct loop *loop;
    struct waiters waiters;
    struct task *task;
    struct timer timer;
    uint64_t deadline;
    enum { PENDING, WOKEN, TIMED_OUT, CANCELLED } outcome;
    uint64_t ended_at;
};

static void waits(struct task *self, void *arg)
{
    struct waiting *waiting = arg;
    struct err *err = wait_for_change(self, &waiting->waiters, waiting->deadline);

    waiting->outcome = !err ? WOKEN : err_kind(err) == ERR_TIMEOUT ? TIMED_OUT : CANCELLED;
    waiting->ended_at = loop_now(waiting->loop);
    if (waiting->outcome == TIMED_OUT)
        assert_fails(TAKE_PTR(err), ERR_TIMEOUT, "timed out");
    if (waiting->outcome == CANCELLED)
        assert_fails(TAKE_PTR(err), ERR_CANCELED, "waiter was cancelled");
}

static void wake(void *ctx)
{
    waiters_wake(&((struct waiting *)ctx)->waiters);
}

static void cancel(void *ctx)
{
    task_cancel(((struct waiting *)ctx)->task);
}

static void wake_then_cancel(void *ctx)
{
    wake(ctx);
    cancel(ctx);
}

static void cancel_then_wake(void *ctx)
{
    cancel(ctx);
    wake(ctx);
}

static void spurious_wake(void *ctx)
{
    task_wake(((struct waiting *)ctx)->task);
}

/* Timers of the same time fire in the order of their start, so "early" is before the deadline's
 * own timer fires and "late" after it, both before the task runs. */
static const struct {
    const char *why;
    void (*what)(void *ctx);
    uint64_t deadline, at;
    bool early;
    int outcome;
    uint64_t ended_at;
} waits_table[] = {
    {"a wake ends it", wake, 100, 40, true, WOKEN, 40},
    {"a wake ends it that has no deadline", wake, TIMER_NEVER, 40, true, WOKEN, 40},
    {"the deadline ends it", NULL, 100, 0, true, TIMED_OUT, 100},
    {"cancelling ends it", cancel, 100, 40, true, CANCELLED, 40},
    {"a wake counts although it is cancelled too", wake_then_cancel, 100, 40, true, WOKEN, 40},
    {"in whatever order", cancel_then_wake, 100, 40, true, WOKEN, 40},
    {"a wake counts just before the deadline", wake, 100, 100, true, WOKEN, 100},
    {"and just after it", wake, 100, 100, false, WOKEN, 100},
    {"the deadline counts less than a wake and a cancel", cancel_then_wake, 100, 100, false, WOKEN,
     100},
    {"a wake for something else is passed over", spurious_wake, 100, 40, true, TIMED_OUT, 100},
    {"no time at all", wake, 0, 40, true, TIMED_OUT, 0},
};

static void test_waits(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(waits_table); i++) {
        CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
        struct waiting waiting = {.loop = loop, .deadline = waits_table[i].deadline};

        waiters_init(&waiting.waiters);
        if (waits_table[i].what && waits_table[i].early)
            loop_start_timer(loop, &waiting.timer, waits_table[i].at, waits_table[i].what,
                             &waiting);
        waiting.task = loop_spawn(loop, "waiter", waits, &waiting);
        loop_advance(loop, 0);
        if (waits_table[i].what && !waits_table[i].early)
            loop_start_timer(loop, &waiting.timer, waits_table[i].at, waits_table[i].what,
                             &waiting);
        if (waiting.outcome != PENDING)
            loop_stop_timer(loop, &waiting.timer); /* its task is gone */
        loop_run(loop);
        if ((int)waiting.outcome != waits_table[i].outcome ||
            waiting.ended_at != waits_table[i].ended_at)
            fail_msg("%s: outcome %d at %d", waits_table[i].why, waiting.outcome,
                     (int)waiting.ended_at);
        assert_true(waiters_is_empty(&waiting.waiters));
    }
}

/* ---- a condition ---- */

struct stock {
    struct waiters changed;
    int items;
    char takers[8];
};

static void takes_three(struct task *self, void *arg)
{
    struct stock *stock = arg;

    while (stock->items < 3)
        assert_ok(wait_for_change(self, &stock->changed, TIMER_NEVER));
    stock->items -= 3;
    stock->takers[strlen(stock->takers)] = task_name(self)[0];
}

static void test_a_wake_wakes_all_in_order_and_each_looks_again(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    struct stock stock = {.items = 0};

    (void)state;
    waiters_init(&stock.changed);
    loop_spawn(loop, "a", takes_three, &stock);
    loop_spawn(loop, "b", takes_three, &stock);
    loop_spawn(loop, "c", takes_three, &stock);
    loop_run(loop);
    for (int n = 0; n < 9; n++) {
        stock.items++;
        waiters_wake(&stock.changed);
        loop_run(loop);
        assert_int_equal(strlen(stock.takers), (n + 1) / 3);
    }
    /* Those who are woken in vain line up again: a, then b, then c stay in order. */
    assert_string_equal(stock.takers, "abc");
}

static void waits_through(struct task *self, void *arg)
{
    struct waiting *waiting = arg;

    wait_uninterruptible(self, &waiting->waiters);
    waiting->outcome = WOKEN;
}

static void test_wait_uninterruptible_outlasts_cancellation(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    struct waiting waiting = {.loop = loop};

    (void)state;
    waiters_init(&waiting.waiters);
    waiting.task = loop_spawn(loop, "through", waits_through, &waiting);
    task_cancel(waiting.task);
    loop_run(loop);
    task_cancel(waiting.task);
    loop_run(loop);
    assert_int_equal(waiting.outcome, PENDING);
    waiters_wake(&waiting.waiters);
    loop_run(loop);
    assert_int_equal(waiting.outcome, WOKEN);
}

/* ---- sleep ---- */

static void sleeps(struct task *self, void *arg)
{
    struct waiting *waiting = arg;
    CLEANUP(err_freep) struct err *err = task_sleep(self, waiting->deadline);

    waiting->outcome = err ? CANCELLED : TIMED_OUT;
    waiting->ended_at = loop_now(waiting->loop);
}

static void test_sleep(void **state)
{
    static const struct {
        uint64_t ms;
        void (*what)(void *ctx);
        int outcome;
        uint64_t ended_at;
    } rows[] = {
        {0, NULL, TIMED_OUT, 5},
        {100, NULL, TIMED_OUT, 105},
        {100, spurious_wake, TIMED_OUT, 105},
        {100, cancel, CANCELLED, 40},
        {TIMER_NEVER, cancel, CANCELLED, 40},
        {TIMER_NEVER - 1, cancel, CANCELLED, 40},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
        struct waiting waiting = {.loop = loop, .deadline = rows[i].ms};

        loop_advance(loop, 5);
        if (rows[i].what)
            loop_start_timer(loop, &waiting.timer, 40, rows[i].what, &waiting);
        waiting.task = loop_spawn(loop, "sleeper", sleeps, &waiting);
        loop_run(loop);
        assert_int_equal(waiting.outcome, rows[i].outcome);
        assert_int_equal(waiting.ended_at, rows[i].ended_at);
    }
}

/* ---- semaphores ---- */

struct semaphore_test {
    struct semaphore semaphore;
    char order[32];
    unsigned holding, served, gone;
};

static void holds_a_while(struct task *self, void *arg)
{
    struct semaphore_test *test = arg;

    assert_ok(semaphore_take(self, &test->semaphore, TIMER_NEVER));
    test->order[strlen(test->order)] = task_name(self)[0];
    assert_in_range(++test->holding, 1, test->semaphore.limit);
    assert_ok(task_sleep(self, 10));
    test->holding--;
    semaphore_give(&test->semaphore);
}

static void test_a_semaphore_serves_in_order(void **state)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g"};

    (void)state;
    for (unsigned limit = 1; limit <= 3; limit++) {
        CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
        struct semaphore_test test = {.holding = 0};

        semaphore_init(&test.semaphore, limit);
        for (size_t i = 0; i < COUNT_OF(names); i++)
            loop_spawn(loop, names[i], holds_a_while, &test);
        loop_run(loop);
        assert_string_equal(test.order, "abcdefg");
        assert_int_equal(test.semaphore.held, 0);
        assert_int_equal(loop_now(loop), (7 + limit - 1) / limit * 10);
    }
}

/* One who gives and takes again at once goes behind those who wait. */
static void holds_twice(struct task *self, void *arg)
{
    holds_a_while(self, arg);
    holds_a_while(self, arg);
}

static void test_nobody_overtakes(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    struct semaphore_test test = {.holding = 0};

    (void)state;
    semaphore_init(&test.semaphore, 1);
    loop_spawn(loop, "a", holds_twice, &test);
    loop_spawn(loop, "b", holds_a_while, &test);
    loop_spawn(loop, "c", holds_twice, &test);
    loop_run(loop);
    assert_string_equal(test.order, "abcac");
}

static void takes_and_keeps(struct task *self, void *arg)
{
    struct waiting *waiting = arg;
    struct semaphore *semaphore = waiting->timer.ctx;
    CLEANUP(err_freep) struct err *err = semaphore_take(self, semaphore, waiting->deadline);

    waiting->outcome = !err ? WOKEN : err_kind(err) == ERR_TIMEOUT ? TIMED_OUT : CANCELLED;
}

/* Whoever was handed the place holds it, even if cancelled or timed out at the same moment; whoever
 * was not leaves it to the next. */
static void test_a_place_is_never_lost(void **state)
{
    enum event { GIVE, CANCEL, DEADLINE, END };
    static const struct {
        enum event events[3];
        int outcome;
        unsigned held; /* afterwards */
    } rows[] = {
        {{GIVE, END}, WOKEN, 1},         {{GIVE, CANCEL, END}, WOKEN, 1},
        {{CANCEL, GIVE, END}, WOKEN, 1}, {{CANCEL, END}, CANCELLED, 1},
        {{DEADLINE, END}, TIMED_OUT, 1}, {{DEADLINE, GIVE, END}, TIMED_OUT, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
        struct semaphore semaphore;
        struct waiting waiting = {.loop = loop, .deadline = 100};

        semaphore_init(&semaphore, 1);
        semaphore.held = 1; /* by the test */
        waiting.timer.ctx = &semaphore;
        waiting.task = loop_spawn(loop, "taker", takes_and_keeps, &waiting);
        loop_advance(loop, 10);
        for (const enum event *event = rows[i].events; *event != END; event++) {
            if (*event == GIVE)
                semaphore_give(&semaphore);
            else if (*event == CANCEL)
                task_cancel(waiting.task);
            else
                loop_advance(loop, 100);
        }
        loop_run(loop);
        assert_int_equal(waiting.outcome, rows[i].outcome);
        assert_int_equal(semaphore.held, rows[i].held);
        assert_true(waiters_is_empty(&semaphore.waiters));
    }
}

static void comes_and_goes(struct task *self, void *arg)
{
    struct semaphore_test *test = arg;
    struct loop *loop = loop_of(self);
    struct random *random = loop_random(loop);

    for (int i = 0; i < 20; i++) {
        uint64_t patience = random_below(random, 3) ? random_below(random, 20) : TIMER_NEVER;
        CLEANUP(err_freep)
        struct err *err = semaphore_take(self, &test->semaphore, loop_deadline(loop, patience));

        if (err)
            continue; /* cancelled ones run out of rounds at once */
        test->served++;
        assert_in_range(++test->holding, 1, test->semaphore.limit);
        assert_in_range(test->semaphore.held, test->holding, test->semaphore.limit);
        err_free(task_sleep(self, random_below(random, 5)));
        test->holding--;
        semaphore_give(&test->semaphore);
    }
    test->gone++;
}

/* However takers time out and are cancelled, never more than the limit hold it, and in the end
 * everything is given back. */
static void test_a_semaphore_settles_on_random_runs(void **state)
{
    enum { TASKS = 12 };

    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(seed);
        struct semaphore_test test = {.holding = 0};
        struct task *tasks[TASKS];

        semaphore_init(&test.semaphore, 1 + (unsigned)(seed % 4));
        for (int i = 0; i < TASKS; i++)
            tasks[i] = loop_spawn(loop, "taker", comes_and_goes, &test);
        loop_advance(loop, 10);
        assert_int_equal(test.gone, 0);
        for (int i = 0; i < TASKS; i += 3)
            task_cancel(tasks[i]);
        loop_run(loop);
        assert_int_equal(test.gone, TASKS);
        assert_in_range(test.served, 20, TASKS * 20);
        assert_int_equal(test.semaphore.held, 0);
        assert_true(waiters_is_empty(&test.semaphore.waiters));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waits),
        cmocka_unit_test(test_a_wake_wakes_all_in_order_and_each_looks_again),
        cmocka_unit_test(test_wait_uninterruptible_outlasts_cancellation),
        cmocka_unit_test(test_sleep),
        cmocka_unit_test(test_a_semaphore_serves_in_order),
        cmocka_unit_test(test_nobody_overtakes),
        cmocka_unit_test(test_a_place_is_never_lost),
        cmocka_unit_test(test_a_semaphore_settles_on_random_runs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
