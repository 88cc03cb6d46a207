#include "lib/rt/loop.h"

#include <pthread.h>
#include <uv.h>

#include "lib/base/alloc.h"
#include "lib/rt/wait.h"
#include "test/unit/expect.h"

static const uint64_t HOUR = 3600 * 1000;

/* ---- virtual time ---- */

struct sleeper {
    uint64_t ms, woke_at;
};

static void sleeps(struct task *self, void *arg)
{
    struct sleeper *sleeper = arg;

    assert_ok(task_sleep(self, sleeper->ms));
    sleeper->woke_at = loop_now(loop_of(self));
}

static void test_virtual_time_jumps_to_what_is_next(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    struct sleeper day = {.ms = 24 * HOUR}, hour = {.ms = HOUR};

    (void)state;
    assert_int_equal(loop_now(loop), 0);
    assert_true(loop_wall_us(loop) == 1767225600000000); /* 2026-01-01T00:00:00Z */
    assert_null(loop_uv(loop));
    loop_spawn(loop, "day", sleeps, &day);
    loop_spawn(loop, "hour", sleeps, &hour);
    loop_run(loop);
    assert_int_equal(hour.woke_at, HOUR);
    assert_int_equal(day.woke_at, 24 * HOUR);
    assert_int_equal(loop_now(loop), 24 * HOUR);
    assert_true(loop_wall_us(loop) == 1767312000000000);
}

static void test_advance_runs_what_is_due_and_no_more(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    struct sleeper at_10 = {.ms = 10}, at_11 = {.ms = 11};

    (void)state;
    loop_spawn(loop, "at 10", sleeps, &at_10);
    loop_spawn(loop, "at 11", sleeps, &at_11);
    loop_advance(loop, 9);
    assert_int_equal(at_10.woke_at, 0);
    loop_advance(loop, 1);
    assert_int_equal(at_10.woke_at, 10);
    assert_int_equal(at_11.woke_at, 0);
    assert_int_equal(loop_now(loop), 10);
    loop_advance(loop, 1000);
    assert_int_equal(at_11.woke_at, 11);
    assert_int_equal(loop_now(loop), 1010);
}

static void stop(void *ctx)
{
    loop_stop(ctx);
}

static void test_stop_keeps_the_time(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    struct sleeper sleeper = {.ms = 100};
    struct timer timer = {0};

    (void)state;
    loop_spawn(loop, "sleeper", sleeps, &sleeper);
    loop_start_timer(loop, &timer, 50, stop, loop);
    loop_advance(loop, 1000);
    assert_int_equal(loop_now(loop), 50);
    loop_run(loop); /* goes on */
    assert_int_equal(sleeper.woke_at, 100);
}

static void test_skipped_time_runs_nothing_until_later(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    struct sleeper sleeper = {.ms = 10};

    (void)state;
    loop_spawn(loop, "sleeper", sleeps, &sleeper);
    loop_advance(loop, 5);
    loop_skip(loop, 1000);
    assert_int_equal(loop_now(loop), 1005);
    assert_int_equal(sleeper.woke_at, 0);
    loop_advance(loop, 0);
    assert_int_equal(sleeper.woke_at, 1005);
}

static void test_deadlines_saturate(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);

    (void)state;
    loop_advance(loop, 1000);
    assert_int_equal(loop_deadline(loop, 0), 1000);
    assert_int_equal(loop_deadline(loop, 5), 1005);
    assert_true(loop_deadline(loop, TIMER_NEVER - 1001) == TIMER_NEVER - 1);
    assert_true(loop_deadline(loop, TIMER_NEVER - 1000) == TIMER_NEVER);
    assert_true(loop_deadline(loop, TIMER_NEVER) == TIMER_NEVER);
}

static void parks(struct task *self, void *arg)
{
    (void)arg;
    task_park_uninterruptible(self);
}

static void test_run_returns_when_nothing_can_happen(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    struct task *task = loop_spawn(loop, "parked", parks, NULL);

    (void)state;
    loop_run(loop);
    task_wake(task);
    loop_run(loop);
}

struct diary {
    char text[64];
};

static void writes(struct task *self, void *arg)
{
    struct diary *diary = arg;
    struct random *random = loop_random(loop_of(self));

    for (int i = 0; i < 4; i++) {
        assert_ok(task_sleep(self, random_below(random, 3)));
        diary->text[strlen(diary->text)] = task_name(self)[0];
    }
}

static void write_diary(uint64_t seed, struct diary *diary)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(seed);

    *diary = (struct diary){0};
    loop_spawn(loop, "a", writes, diary);
    loop_spawn(loop, "b", writes, diary);
    loop_spawn(loop, "c", writes, diary);
    loop_run(loop);
}

static void test_a_seed_repeats_the_run(void **state)
{
    struct diary first, once, again;
    unsigned different = 0;

    (void)state;
    write_diary(1, &first);
    assert_int_equal(strlen(first.text), 12);
    for (uint64_t seed = 2; seed < 50; seed++) {
        write_diary(seed, &once);
        write_diary(seed, &again);
        assert_string_equal(once.text, again.text);
        different += strcmp(once.text, first.text) != 0;
    }
    assert_in_range(different, 40, 48);
}

/* ---- posts ---- */

struct poster {
    struct loop *loop;
    char text[8];
};

static void post_b(void *arg)
{
    struct poster *poster = arg;

    poster->text[strlen(poster->text)] = 'b';
}

static void post_a(void *arg)
{
    struct poster *poster = arg;

    poster->text[strlen(poster->text)] = 'a';
    loop_post(poster->loop, post_b, poster);
}

static void test_posts_run_in_order(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    struct poster poster = {.loop = loop};

    (void)state;
    loop_post(loop, post_a, &poster);
    loop_post(loop, post_b, &poster);
    loop_post(loop, post_a, &poster);
    loop_run(loop);
    assert_string_equal(poster.text, "ababb");
}

enum { THREADS = 4, POSTS = 2000 };

struct counter {
    struct loop *loop;
    struct task *task; /* woken when all have come */
    unsigned next[THREADS], total;
};

struct numbered {
    struct counter *counter;
    unsigned thread, number;
};

static void count(void *arg)
{
    struct numbered *post = arg;
    struct counter *counter = post->counter;

    assert_int_equal(post->number, counter->next[post->thread]);
    counter->next[post->thread]++;
    free(post);
    if (++counter->total == THREADS * POSTS)
        task_wake(counter->task);
}

static void *post_many(void *arg)
{
    struct numbered *first = arg;

    for (unsigned i = 0; i < POSTS; i++) {
        struct numbered *post = mem_copy(first, sizeof *first);

        post->number = i;
        loop_post(first->counter->loop, count, post);
    }
    free(first);
    return NULL;
}

static void test_any_thread_may_post(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new();
    struct counter counter = {.loop = loop, .task = loop_spawn(loop, "all came", parks, NULL)};
    pthread_t threads[THREADS];

    (void)state;
    for (unsigned i = 0; i < THREADS; i++) {
        struct numbered *first = mem_alloc(sizeof *first);

        *first = (struct numbered){&counter, i, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, post_many, first), 0);
    }
    loop_run(loop); /* ends when the task has */
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(counter.total, THREADS * POSTS);
}

/* ---- calls from tasks ---- */

struct large {
    unsigned char fill;
    unsigned sum;
};

/* Far more stack than a task has. */
static void use_large_stack(void *arg)
{
    struct large *large = arg;
    volatile unsigned char bytes[1024 * 1024];

    for (size_t i = 0; i < sizeof bytes; i += 1024)
        bytes[i] = large->fill;
    for (size_t i = 0; i < sizeof bytes; i += 1024)
        large->sum += bytes[i];
}

static void calls(struct task *self, void *arg)
{
    task_cancel(self); /* the call is not cut short by it */
    loop_call(self, use_large_stack, arg);
    assert_int_equal(((struct large *)arg)->sum, 3 * 1024);
}

static void test_a_call_has_the_loops_stack(void **state)
{
    (void)state;
    for (int virtual = 0; virtual < 2; virtual ++) {
        CLEANUP(loop_freep) struct loop *loop = virtual ? loop_new_virtual(1) : loop_new();
        struct large large = {.fill = 3};

        loop_spawn(loop, "caller", calls, &large);
        loop_run(loop);
        assert_int_equal(large.sum, 3 * 1024);
    }
}

/* ---- real time ---- */

static void test_real_time_passes(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new();
    struct sleeper longer = {.ms = 20}, shorter = {.ms = 10};
    uint64_t begin = loop_now(loop);

    (void)state;
    assert_non_null(loop_uv(loop));
    assert_true(loop_wall_us(loop) > 1700000000000000);
    loop_spawn(loop, "longer", sleeps, &longer);
    loop_spawn(loop, "shorter", sleeps, &shorter);
    loop_run(loop);
    assert_in_range(shorter.woke_at - begin, 10, 10000);
    assert_in_range(longer.woke_at - begin, 20, 10000);
    loop_run(loop); /* nothing is left: returns at once */
}

enum { NS_PER_MS = 1000 * 1000 };

/* Starts timers from 0 to 50 us before the millisecond in which they are due begins, so that some
 * become due between the loop's look at its timers and its wait. */
static void cuts_it_fine(struct task *self, void *arg)
{
    (void)arg;
    for (uint64_t before = 0; before < 50000; before += 100) {
        while (uv_hrtime() % NS_PER_MS < NS_PER_MS - 1 - before)
            ;
        assert_ok(task_sleep(self, 1));
    }
}

static void test_no_timer_is_slept_over(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new();

    (void)state;
    loop_spawn(loop, "sleeper", cuts_it_fine, NULL);
    loop_run(loop);
}

/* ---- sockets among what is ready ---- */

enum { AGAIN = 1000, AT_ONCE = 3, SPIN_MS = 1 };

/* Something that is ready again at once, AGAIN times over, and a pipe that has become readable when
 * it begins. */
struct busy {
    struct loop *loop;
    uv_poll_t poll;
    int ends[2];
    unsigned done, done_when_read; /* the latter 0: the pipe was not served */
    struct timer timer;
    struct task *tasks[2];
};

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct busy *busy = poll->data;

    (void)status, (void)events;
    busy->done_when_read = busy->done;
    uv_poll_stop(poll);
}

static void count_busy(struct busy *busy)
{
    if (busy->done++ == 0)
        assert_int_equal(write(busy->ends[1], "", 1), 1);
}

static void yields(struct task *self, void *arg)
{
    struct busy *busy = arg;

    while (busy->done < AGAIN) {
        count_busy(busy);
        assert_ok(task_sleep(self, 0));
    }
}

static void start_yielding(struct busy *busy)
{
    loop_spawn(busy->loop, "yields", yields, busy);
}

/* Two of them: one wakes the other. */
static void hands_over(struct task *self, void *arg)
{
    struct busy *busy = arg;
    struct task **other = &busy->tasks[busy->tasks[0] == self];

    while (busy->done < AGAIN) {
        count_busy(busy);
        task_wake(*other);
        task_park_uninterruptible(self);
    }
    if (*other)
        task_wake(*other);
    busy->tasks[busy->tasks[1] == self] = NULL;
}

static void start_handing_over(struct busy *busy)
{
    for (size_t i = 0; i < COUNT_OF(busy->tasks); i++)
        busy->tasks[i] = loop_spawn(busy->loop, "hands over", hands_over, busy);
}

static void posts_again(void *ctx)
{
    struct busy *busy = ctx;

    count_busy(busy);
    if (busy->done < AGAIN)
        loop_post(busy->loop, posts_again, busy);
}

static void start_posting(struct busy *busy)
{
    loop_post(busy->loop, posts_again, busy);
}

static void fires_again(void *ctx)
{
    struct busy *busy = ctx;

    count_busy(busy);
    if (busy->done < AGAIN)
        loop_start_timer(busy->loop, &busy->timer, loop_now(busy->loop), fires_again, busy);
}

static void start_firing(struct busy *busy)
{
    loop_start_timer(busy->loop, &busy->timer, loop_now(busy->loop), fires_again, busy);
}

static void be_busy(struct busy *busy, void (*start)(struct busy *))
{
    *busy = (struct busy){.loop = loop_new()};
    assert_int_equal(pipe(busy->ends), 0);
    uv_poll_init(loop_uv(busy->loop), &busy->poll, busy->ends[0]);
    busy->poll.data = busy;
    uv_poll_start(&busy->poll, UV_READABLE, on_readable);
    start(busy);
    loop_run(busy->loop);
    uv_close((uv_handle_t *)&busy->poll, NULL);
    loop_free(busy->loop);
    close(busy->ends[0]);
    close(busy->ends[1]);
}

static void test_what_is_ready_again_at_once_starves_no_socket(void **state)
{
    void (*const kinds[])(struct busy *) = {start_yielding, start_handing_over, start_posting,
                                            start_firing};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct busy busy;

        be_busy(&busy, kinds[i]);
        assert_int_equal(busy.done, AGAIN);
        assert_in_range(busy.done_when_read, 1, AT_ONCE);
    }
}

/* All at once ready, and each of them takes a while. */
static void spin(struct busy *busy)
{
    uint64_t until = uv_hrtime() + SPIN_MS * NS_PER_MS;

    count_busy(busy);
    while (uv_hrtime() < until)
        ;
}

static void spins(struct task *self, void *arg)
{
    (void)self;
    spin(arg);
}

static void start_many_tasks(struct busy *busy)
{
    for (size_t i = 0; i < AGAIN; i++)
        loop_spawn(busy->loop, "spins", spins, busy);
}

static void post_spin(void *arg)
{
    spin(arg);
}

static void start_many_posts(struct busy *busy)
{
    for (size_t i = 0; i < AGAIN; i++)
        loop_post(busy->loop, post_spin, busy);
}

static struct timer many[AGAIN];

static void start_many_timers(struct busy *busy)
{
    for (size_t i = 0; i < AGAIN; i++)
        loop_start_timer(busy->loop, &many[i], loop_now(busy->loop), post_spin, busy);
}

static void test_much_that_is_ready_is_done_in_slices(void **state)
{
    void (*const kinds[])(struct busy *) = {start_many_tasks, start_many_posts, start_many_timers};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct busy busy;

        be_busy(&busy, kinds[i]);
        assert_int_equal(busy.done, AGAIN);
        assert_in_range(busy.done_when_read, 1, AGAIN / 10);
    }
}

/* ---- signals ---- */

struct signals {
    struct loop *loop;
    unsigned first, second;
};

static void on_first(void *ctx)
{
    ((struct signals *)ctx)->first++;
    loop_stop(((struct signals *)ctx)->loop);
}

static void on_second(void *ctx)
{
    ((struct signals *)ctx)->second++;
    loop_stop(((struct signals *)ctx)->loop);
}

static void test_signals_come_on_the_loop(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new();
    struct signals signals = {.loop = loop};
    struct task *task = loop_spawn(loop, "keeps it running", parks, NULL);

    (void)state;
    loop_on_signal(loop, SIGUSR1, on_first, &signals);
    raise(SIGUSR1);
    loop_run(loop);
    assert_int_equal(signals.first, 1);
    loop_on_signal(loop, SIGUSR1, on_second, &signals);
    raise(SIGUSR1);
    loop_run(loop);
    assert_int_equal(signals.first, 1);
    assert_int_equal(signals.second, 1);
    task_wake(task);
    loop_run(loop);
}

static void free_with_open_handle(void)
{
    struct loop *loop = loop_new();
    uv_timer_t timer;

    uv_timer_init(loop_uv(loop), &timer);
    loop_free(loop);
}

static void test_an_open_handle_is_a_bug(void **state)
{
    (void)state;
    assert_dies(free_with_open_handle());
    loop_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_virtual_time_jumps_to_what_is_next),
        cmocka_unit_test(test_advance_runs_what_is_due_and_no_more),
        cmocka_unit_test(test_stop_keeps_the_time),
        cmocka_unit_test(test_skipped_time_runs_nothing_until_later),
        cmocka_unit_test(test_deadlines_saturate),
        cmocka_unit_test(test_run_returns_when_nothing_can_happen),
        cmocka_unit_test(test_a_seed_repeats_the_run),
        cmocka_unit_test(test_posts_run_in_order),
        cmocka_unit_test(test_any_thread_may_post),
        cmocka_unit_test(test_a_call_has_the_loops_stack),
        cmocka_unit_test(test_real_time_passes),
        cmocka_unit_test(test_no_timer_is_slept_over),
        cmocka_unit_test(test_what_is_ready_again_at_once_starves_no_socket),
        cmocka_unit_test(test_much_that_is_ready_is_done_in_slices),
        cmocka_unit_test(test_signals_come_on_the_loop),
        cmocka_unit_test(test_an_open_handle_is_a_bug),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
