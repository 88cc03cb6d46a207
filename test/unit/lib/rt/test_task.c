#include "lib/rt/task.h"

#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

struct script {
    char order[64];
    struct task *tasks[8];
    unsigned outcome[8];
};

struct step {
    struct script *script;
    unsigned index;
};

static void write_letter(struct step *step)
{
    step->script->order[strlen(step->script->order)] = (char)('a' + step->index);
}

/* Writes its letter, parks, writes it again. */
static void twice(struct task *self, void *arg)
{
    struct step *step = arg;

    write_letter(step);
    CLEANUP(err_freep) struct err *err = task_park(self);
    step->script->outcome[step->index] = err ? 100 + err_kind(err) : 1;
    write_letter(step);
}

static void spawn(struct sched *sched, struct script *script, struct step *steps, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        steps[i] = (struct step){script, i};
        script->tasks[i] = task_spawn(sched, "twice", twice, &steps[i]);
    }
}

static void test_runs_in_order_of_readiness(void **state)
{
    struct sched *sched = sched_new(NULL, NULL);
    struct script script = {0};
    struct step steps[3];

    (void)state;
    spawn(sched, &script, steps, 3);
    assert_int_equal(sched_run(sched), 3);
    assert_string_equal(script.order, "abc");
    task_wake(script.tasks[2]);
    task_wake(script.tasks[0]);
    task_wake(script.tasks[2]); /* ready already */
    task_wake(script.tasks[1]);
    assert_int_equal(sched_run(sched), 3);
    assert_string_equal(script.order, "abccab");
    assert_int_equal(sched_live_tasks(sched), 0);
    sched_free(sched);
}

static void test_wake_before_park_is_not_lost(void **state)
{
    struct sched *sched = sched_new(NULL, NULL);
    struct script script = {0};
    struct step steps[1];

    (void)state;
    spawn(sched, &script, steps, 1);
    task_wake(script.tasks[0]);
    sched_run(sched);
    assert_string_equal(script.order, "aa");
    sched_free(sched);
}

static void test_cancel_unwinds_the_task(void **state)
{
    struct sched *sched = sched_new(NULL, NULL);
    struct script script = {0};
    struct step steps[1];

    (void)state;
    spawn(sched, &script, steps, 1);
    sched_run(sched);
    assert_false(task_is_cancelled(script.tasks[0]));
    task_cancel(script.tasks[0]);
    assert_true(task_is_cancelled(script.tasks[0]));
    sched_run(sched);
    assert_int_equal(script.outcome[0], 100 + ERR_CANCELED);
    assert_int_equal(sched_live_tasks(sched), 0);
    sched_free(sched);
}

static void parks_again(struct task *self, void *arg)
{
    unsigned *parks = arg;

    while (*parks < 3) {
        assert_fails(task_park(self), ERR_CANCELED, "patient was cancelled");
        ++*parks;
    }
}

static void test_cancellation_lasts(void **state)
{
    struct sched *sched = sched_new(NULL, NULL);
    unsigned parks = 0;

    (void)state;
    task_cancel(task_spawn(sched, "patient", parks_again, &parks));
    sched_run(sched);
    assert_int_equal(parks, 3);
    assert_int_equal(sched_live_tasks(sched), 0);
    sched_free(sched);
}

static void parks_through(struct task *self, void *arg)
{
    bool *ended = arg;

    task_park_uninterruptible(self);
    *ended = true;
}

static void test_park_uninterruptible_outlasts_cancellation(void **state)
{
    struct sched *sched = sched_new(NULL, NULL);
    bool ended = false;
    struct task *task = task_spawn(sched, "through", parks_through, &ended);

    (void)state;
    task_cancel(task);
    sched_run(sched);
    task_cancel(task);
    sched_run(sched);
    assert_false(ended);
    task_wake(task);
    sched_run(sched);
    assert_true(ended);
    sched_free(sched);
}

static void wakes_itself(struct task *self, void *arg)
{
    unsigned *rounds = arg;

    for (int i = 0; i < 3; i++) {
        task_wake(self);
        assert_ok(task_park(self));
        ++*rounds;
    }
}

static void test_a_task_may_wake_itself(void **state)
{
    struct sched *sched = sched_new(NULL, NULL);
    unsigned rounds = 0;

    (void)state;
    task_spawn(sched, "self", wakes_itself, &rounds);
    assert_int_equal(sched_run(sched), 1);
    assert_int_equal(rounds, 3);
    sched_free(sched);
}

static void count_wakeup(void *ctx)
{
    ++*(unsigned *)ctx;
}

static void spawns_another(struct task *self, void *arg)
{
    struct step *step = arg;
    struct sched *sched = *(struct sched **)task_context(self);

    assert_string_equal(task_name(self), "parent");
    step->script->tasks[0] = task_spawn(sched, "child", twice, step);
}

static void test_the_wakeup_comes_when_work_appears(void **state)
{
    unsigned wakeups = 0;
    struct sched *sched = sched_new(count_wakeup, &wakeups);
    struct script script = {0};
    struct step steps[2];

    (void)state;
    spawn(sched, &script, steps, 2);
    assert_int_equal(wakeups, 1); /* for the first of the two */
    sched_run(sched);
    assert_int_equal(wakeups, 1);
    task_wake(script.tasks[0]);
    task_wake(script.tasks[1]);
    assert_int_equal(wakeups, 2);
    sched_run(sched);
    sched_free(sched);
}

static void test_a_task_may_spawn_another(void **state)
{
    struct sched *sched = NULL;
    struct script script = {0};
    struct step step = {&script, 0};

    (void)state;
    sched = sched_new(NULL, &sched);
    task_spawn(sched, "parent", spawns_another, &step);
    sched_run(sched);
    assert_string_equal(script.order, "a");
    task_wake(script.tasks[0]);
    sched_run(sched);
    assert_int_equal(sched_live_tasks(sched), 0);
    sched_free(sched);
}

static void order_by_seed(uint64_t seed, char order[64])
{
    struct sched *sched = sched_new(NULL, NULL);
    struct script script = {0};
    struct step steps[6];

    sched_seed(sched, seed);
    spawn(sched, &script, steps, 6);
    sched_run(sched);
    for (int i = 0; i < 6; i++)
        task_wake(script.tasks[i]);
    sched_run(sched);
    memcpy(order, script.order, sizeof script.order);
    sched_free(sched);
}

static void test_a_seed_repeats_its_order(void **state)
{
    char first[64], once[64], again[64];
    bool seen_other = false;

    (void)state;
    order_by_seed(0, first);
    assert_string_equal(first, "abcdefabcdef");
    for (uint64_t seed = 1; seed <= 40; seed++) {
        order_by_seed(seed, once);
        order_by_seed(seed, again);
        assert_string_equal(once, again);
        seen_other |= strcmp(first, once) != 0;
    }
    assert_true(seen_other);
}

static void test_many_tasks_at_once(void **state)
{
    enum { N = 1000 };
    struct sched *sched = sched_new(NULL, NULL);
    bool ended[N] = {false};
    struct task *tasks[N];

    (void)state;
    for (int i = 0; i < N; i++)
        tasks[i] = task_spawn(sched, "one of many", parks_through, &ended[i]);
    sched_run(sched);
    assert_int_equal(sched_live_tasks(sched), N);
    for (int i = 0; i < N; i++)
        task_wake(tasks[i]);
    sched_run(sched);
    for (int i = 0; i < N; i++)
        assert_true(ended[i]);
    sched_free(sched);
}

static volatile sig_atomic_t signals_handled;

static void handle_signal(int number)
{
    (void)number;
    signals_handled++;
}

static void raises(struct task *self, void *arg)
{
    (void)arg;
    raise(SIGUSR1);
    task_park_uninterruptible(self);
    assert_int_equal(signals_handled, 0);
}

static void wakes(struct task *self, void *arg)
{
    (void)self;
    assert_int_equal(signals_handled, 0);
    task_wake(arg);
}

static void test_signals_wait_until_no_task_runs(void **state)
{
    struct sched *sched = sched_new(NULL, NULL);

    (void)state;
    signal(SIGUSR1, handle_signal);
    task_spawn(sched, "wakes", wakes, task_spawn(sched, "raises", raises, NULL));
    sched_run(sched);
    assert_int_equal(signals_handled, 1);
    sched_free(sched);
}

/* Where the stack was when it was deep; all of that has been written to. */
static __attribute__((noinline)) void go_deep(uintptr_t *ret)
{
    volatile char bytes[32 * 1024];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = 1;
    *ret = (uintptr_t)bytes;
}

static bool is_in_memory(uintptr_t address)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    unsigned char found;

    assert_int_equal(mincore((void *)(address / page * page), page, &found), 0);
    return found & 1;
}

static void goes_deep_and_waits(struct task *self, void *arg)
{
    uintptr_t *deep = arg, again;

    go_deep(deep);
    assert_true(is_in_memory(*deep));
    task_trim_stack(self);
    task_park_uninterruptible(self);
    go_deep(&again);
    assert_int_equal(again, *deep);
}

static void test_what_a_stack_does_not_need_is_given_back(void **state)
{
    struct sched *sched = sched_new(NULL, NULL);
    uintptr_t deep;
    struct task *task = task_spawn(sched, "deep", goes_deep_and_waits, &deep);

    (void)state;
    sched_run(sched);
    assert_false(is_in_memory(deep));
    task_wake(task);
    sched_run(sched);
    assert_int_equal(sched_live_tasks(sched), 0);
    sched_free(sched);
}

/* Uses more stack than a task has, a little at a time. */
static char use_stack(unsigned pages, const volatile char *caller)
{
    volatile char page[4096];

    page[0] = caller[0];
    return pages ? use_stack(pages - 1, page) : page[0];
}

static void overflow(struct task *self, void *arg)
{
    (void)self;
    (void)arg;
    use_stack(1000, "");
}

/* Among many stacks there are some below its own, which it would run into. */
static void run_overflow(void)
{
    struct sched *sched = sched_new(NULL, NULL);
    bool ended = false;

    for (int i = 0; i < 160; i++)
        task_spawn(sched, "neighbour", i == 80 ? overflow : parks_through, &ended);
    sched_run(sched);
}

static void test_too_deep_a_stack_is_a_crash(void **state)
{
    (void)state;
    assert_dies(run_overflow());
}

static void test_freeing_a_scheduler_with_tasks_is_a_bug(void **state)
{
    struct sched *sched = sched_new(NULL, NULL);
    bool ended = false;
    struct task *task = task_spawn(sched, "left", parks_through, &ended);

    (void)state;
    assert_dies(sched_free(sched));
    task_wake(task);
    sched_run(sched);
    sched_free(sched);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_in_order_of_readiness),
        cmocka_unit_test(test_wake_before_park_is_not_lost),
        cmocka_unit_test(test_cancel_unwinds_the_task),
        cmocka_unit_test(test_cancellation_lasts),
        cmocka_unit_test(test_park_uninterruptible_outlasts_cancellation),
        cmocka_unit_test(test_a_task_may_wake_itself),
        cmocka_unit_test(test_the_wakeup_comes_when_work_appears),
        cmocka_unit_test(test_a_task_may_spawn_another),
        cmocka_unit_test(test_a_seed_repeats_its_order),
        cmocka_unit_test(test_many_tasks_at_once),
        cmocka_unit_test(test_signals_wait_until_no_task_runs),
        cmocka_unit_test(test_what_a_stack_does_not_need_is_given_back),
        cmocka_unit_test(test_too_deep_a_stack_is_a_crash),
        cmocka_unit_test(test_freeing_a_scheduler_with_tasks_is_a_bug),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
