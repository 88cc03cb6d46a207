#include "lib/rt/thread_pool.h"

#include <dirent.h>
#include <pthread.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

enum { THREADS = 3, QUEUED = 2, MAX_CALLS = 8 };

/* Calls that begin, and end when the gate is opened. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool open;
    unsigned inside, passed;
    pthread_t thread; /* of the last that passed */
};

struct fixture {
    struct loop *loop;
    struct thread_pool *pool;
    struct gate gate;
    unsigned returned, refused;
};

static int make(void **state)
{
    struct fixture *fixture = mem_alloc(sizeof *fixture);

    fixture->loop = loop_new();
    fixture->pool = thread_pool_new(fixture->loop, THREADS, QUEUED);
    pthread_mutex_init(&fixture->gate.lock, NULL);
    pthread_cond_init(&fixture->gate.changed, NULL);
    *state = fixture;
    return 0;
}

static int drop(void **state)
{
    struct fixture *fixture = *state;

    thread_pool_free(fixture->pool);
    loop_free(fixture->loop);
    pthread_cond_destroy(&fixture->gate.changed);
    pthread_mutex_destroy(&fixture->gate.lock);
    free(fixture);
    return 0;
}

static void pass(void *arg)
{
    struct gate *gate = arg;

    pthread_mutex_lock(&gate->lock);
    gate->inside++;
    pthread_cond_broadcast(&gate->changed);
    while (!gate->open)
        pthread_cond_wait(&gate->changed, &gate->lock);
    gate->thread = pthread_self();
    gate->passed++;
    pthread_mutex_unlock(&gate->lock);
}

static void open_gate(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->open = true;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}

static void await_inside(struct gate *gate, unsigned n)
{
    pthread_mutex_lock(&gate->lock);
    while (gate->inside < n)
        pthread_cond_wait(&gate->changed, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

static void calls(struct task *self, void *arg)
{
    struct fixture *fixture = arg;
    struct err *err = thread_pool_run(self, fixture->pool, pass, &fixture->gate);

    if (err) {
        assert_fails(err, ERR_EXHAUSTED, "too many system calls: 3 are running and 2 are waiting");
        fixture->refused++;
    } else {
        fixture->returned++;
    }
}

/* Runs on the loop after the calls before it were handed over. */
static void look_at_a_full_house(struct task *self, void *arg)
{
    struct fixture *fixture = arg;

    (void)self;
    await_inside(&fixture->gate, THREADS); /* as many as there are threads run at once */
    assert_int_equal(thread_pool_busy(fixture->pool), THREADS);
    assert_int_equal(fixture->refused, MAX_CALLS - THREADS - QUEUED);
    open_gate(&fixture->gate);
}

static void test_calls_are_bounded_and_all_accepted_ones_return(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(thread_pool_busy(fixture->pool), 0);
    for (int i = 0; i < MAX_CALLS; i++)
        loop_spawn(fixture->loop, "caller", calls, fixture);
    loop_spawn(fixture->loop, "observer", look_at_a_full_house, fixture);
    loop_run(fixture->loop);
    assert_int_equal(fixture->returned, THREADS + QUEUED);
    assert_int_equal(fixture->gate.passed, THREADS + QUEUED);
    assert_int_equal(thread_pool_busy(fixture->pool), 0);

    loop_spawn(fixture->loop, "caller", calls, fixture); /* there is room again */
    loop_run(fixture->loop);
    assert_int_equal(fixture->returned, THREADS + QUEUED + 1);
}

static void calls_in_turn(struct task *self, void *arg)
{
    for (int i = 0; i < 4; i++)
        calls(self, arg);
}

static unsigned threads_of_process(void)
{
    DIR *threads = opendir("/proc/self/task");
    unsigned n = 0;

    assert_non_null(threads);
    while (readdir(threads))
        n++;
    closedir(threads);
    return n;
}

static void test_one_call_at_a_time_needs_one_thread(void **state)
{
    struct fixture *fixture = *state;
    unsigned before = threads_of_process();

    open_gate(&fixture->gate);
    loop_spawn(fixture->loop, "caller", calls_in_turn, fixture);
    loop_run(fixture->loop);
    assert_int_equal(fixture->gate.passed, 4);
    assert_int_equal(threads_of_process(), before + 1);
    assert_false(pthread_equal(fixture->gate.thread, pthread_self()));
}

static void cancels_and_opens(struct task *self, void *arg)
{
    struct fixture *fixture = arg;

    (void)self;
    await_inside(&fixture->gate, 1);
    assert_int_equal(fixture->returned, 0);
    open_gate(&fixture->gate);
}

static void test_a_cancelled_caller_sees_the_end_of_its_call(void **state)
{
    struct fixture *fixture = *state;

    task_cancel(loop_spawn(fixture->loop, "caller", calls, fixture));
    loop_spawn(fixture->loop, "opener", cancels_and_opens, fixture);
    loop_run(fixture->loop);
    assert_int_equal(fixture->gate.passed, 1);
    assert_int_equal(fixture->returned, 1);
}

static void look_at_signals(void *arg)
{
    pthread_sigmask(SIG_SETMASK, NULL, arg);
}

static void calls_for_signals(struct task *self, void *arg)
{
    struct fixture *fixture = arg;
    sigset_t blocked;

    sigemptyset(&blocked);
    assert_ok(thread_pool_run(self, fixture->pool, look_at_signals, &blocked));
    assert_true(sigismember(&blocked, SIGTERM));
    assert_true(sigismember(&blocked, SIGCHLD));
    fixture->returned++;
}

static void test_signals_stay_with_the_loops_thread(void **state)
{
    struct fixture *fixture = *state;
    sigset_t blocked;

    loop_spawn(fixture->loop, "caller", calls_for_signals, fixture);
    loop_run(fixture->loop);
    assert_int_equal(fixture->returned, 1);
    look_at_signals(&blocked);
    assert_false(sigismember(&blocked, SIGTERM));
}

static void test_free_of_nothing(void **state)
{
    (void)state;
    thread_pool_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_calls_are_bounded_and_all_accepted_ones_return, make,
                                        drop),
        cmocka_unit_test_setup_teardown(test_one_call_at_a_time_needs_one_thread, make, drop),
        cmocka_unit_test_setup_teardown(test_a_cancelled_caller_sees_the_end_of_its_call, make,
                                        drop),
        cmocka_unit_test_setup_teardown(test_signals_stay_with_the_loops_thread, make, drop),
        cmocka_unit_test(test_free_of_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
