#include "lib/rt/errand.h"

#include <pthread.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/rt/wait.h"
#include "test/unit/expect.h"

/* Where errands stop until it is opened; it outlives them. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool open;
    unsigned inside, freed;
} gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

struct fixture {
    struct loop *loop;
    unsigned done;
    struct waiters changed;
};

struct work {
    bool stops;
    pthread_t thread;
};

static void work_run(void *arg)
{
    struct work *work = arg;

    work->thread = pthread_self();
    pthread_mutex_lock(&gate.lock);
    gate.inside++;
    pthread_cond_broadcast(&gate.changed);
    while (work->stops && !gate.open)
        pthread_cond_wait(&gate.changed, &gate.lock);
    pthread_mutex_unlock(&gate.lock);
}

static void work_done(void *arg, void *ctx)
{
    struct work *work = arg;
    struct fixture *fixture = ctx;

    assert_false(pthread_equal(work->thread, pthread_self()));
    fixture->done++;
    waiters_wake(&fixture->changed);
}

static void work_free(void *arg)
{
    free(arg);
    pthread_mutex_lock(&gate.lock);
    gate.freed++;
    pthread_cond_broadcast(&gate.changed);
    pthread_mutex_unlock(&gate.lock);
}

static const struct errand_kind kind = {work_run, work_done, work_free};

static int make(void **state)
{
    struct fixture *fixture = mem_alloc(sizeof *fixture);

    gate.open = false;
    gate.inside = gate.freed = 0;
    fixture->loop = loop_new();
    waiters_init(&fixture->changed);
    *state = fixture;
    return 0;
}

static int drop(void **state)
{
    free(*state);
    return 0;
}

static struct errand *start(struct fixture *fixture, bool stops)
{
    struct work *work = mem_alloc(sizeof *work);
    struct errand *errand;

    work->stops = stops;
    assert_ok(errand_start(fixture->loop, &kind, work, fixture, &errand));
    return errand;
}

static void await(const unsigned *count, unsigned n)
{
    pthread_mutex_lock(&gate.lock);
    while (*count < n)
        pthread_cond_wait(&gate.changed, &gate.lock);
    pthread_mutex_unlock(&gate.lock);
}

static void open_gate(void)
{
    pthread_mutex_lock(&gate.lock);
    gate.open = true;
    pthread_cond_broadcast(&gate.changed);
    pthread_mutex_unlock(&gate.lock);
}

/* ---- done ---- */

static void some_are_done(struct task *self, void *arg)
{
    struct fixture *fixture = arg;

    for (unsigned i = 0; i < 100; i++)
        start(fixture, false);
    while (fixture->done < 100)
        assert_ok(wait_for_change(self, &fixture->changed, TIMER_NEVER));
    loop_stop(fixture->loop);
}

static void test_done(void **state)
{
    struct fixture *fixture = *state;

    loop_spawn(fixture->loop, "some", some_are_done, fixture);
    loop_run(fixture->loop);
    assert_int_equal(gate.freed, 100);
    loop_free(fixture->loop);
}

/* ---- abandoned ---- */

static void one_hangs(struct task *self, void *arg)
{
    struct fixture *fixture = arg;
    struct errand *hangs = start(fixture, true), *returned;

    start(fixture, false);
    while (fixture->done < 1)
        assert_ok(wait_for_change(self, &fixture->changed, TIMER_NEVER));
    returned = start(fixture, false);
    await(&gate.inside, 3); /* and the loop has not heard of its end */
    errand_abandon(hangs);
    errand_abandon(returned);
    await(&gate.freed, 1);
    assert_ok(task_sleep(self, 20));
    loop_stop(fixture->loop);
}

/* The loop goes; what hangs returns afterwards. */
static void test_abandoned(void **state)
{
    struct fixture *fixture = *state;

    loop_spawn(fixture->loop, "one", one_hangs, fixture);
    loop_run(fixture->loop);
    loop_free(fixture->loop);
    fixture->loop = NULL;
    assert_int_equal(fixture->done, 1);
    open_gate();
    await(&gate.freed, 3);
    assert_int_equal(fixture->done, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_done, make, drop),
        cmocka_unit_test_setup_teardown(test_abandoned, make, drop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
