#include "lib/rt/timer.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

enum { TIMERS = 50, STEPS = 20000, MAX_FIRED = 1000 };

/* The model: what is started, in no order; the next is found by looking at all. */
struct model {
    uint64_t due[TIMERS], order[TIMERS];
    bool started[TIMERS];
    uint64_t n_started;
};

static struct timer timers_of_test[TIMERS];
static int fired[MAX_FIRED];
static unsigned n_fired;

static void note(void *ctx)
{
    assert_in_range(n_fired, 0, MAX_FIRED - 1);
    fired[n_fired++] = (int)((struct timer *)ctx - timers_of_test);
}

static int model_next(const struct model *model)
{
    int next = -1;

    for (int i = 0; i < TIMERS; i++)
        if (model->started[i] &&
            (next < 0 || model->due[i] < model->due[next] ||
             (model->due[i] == model->due[next] && model->order[i] < model->order[next])))
            next = i;
    return next;
}

static void start(struct timers *timers, struct model *model, int i, uint64_t due)
{
    timers_start(timers, &timers_of_test[i], due, note, &timers_of_test[i]);
    model->due[i] = due;
    model->order[i] = model->n_started++;
    model->started[i] = true;
}

static void fire_and_compare(struct timers *timers, struct model *model, uint64_t now)
{
    n_fired = 0;
    bool any = timers_fire(timers, now);

    assert_int_equal(any, n_fired > 0);
    for (unsigned n = 0; n < n_fired; n++) {
        assert_int_equal(fired[n], model_next(model));
        assert_true(model->due[fired[n]] <= now);
        model->started[fired[n]] = false;
    }
    assert_true(timers_next(timers) > now);
}

static void test_behaves_as_a_sorted_list(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 10; seed++) {
        struct timers timers = {0};
        struct model model = {0};
        unsigned random = seed;
        uint64_t now = 0;

        for (int step = 0; step < STEPS; step++) {
            int i = rand_r(&random) % TIMERS;

            switch (rand_r(&random) % 8) {
            case 0:
                now += (unsigned)rand_r(&random) % 5;
                fire_and_compare(&timers, &model, now);
                break;
            case 1:
            case 2:
                timers_stop(&timers, &timers_of_test[i]);
                model.started[i] = false;
                break;
            default: /* few distinct times, so that many are due together */
                start(&timers, &model, i, now + 1 + (unsigned)rand_r(&random) % 20);
            }
            int next = model_next(&model);
            assert_true(timers_next(&timers) == (next < 0 ? TIMER_NEVER : model.due[next]));
        }
        fire_and_compare(&timers, &model, now + 100);
        assert_int_equal(model_next(&model), -1);
        timers_fini(&timers);
    }
}

struct pair {
    struct timers *timers;
    struct timer first, second;
    char log[8];
};

static void log_first(void *ctx)
{
    struct pair *pair = ctx;

    pair->log[strlen(pair->log)] = '1';
}

static void log_second(void *ctx)
{
    struct pair *pair = ctx;

    pair->log[strlen(pair->log)] = '2';
}

static void stop_second(void *ctx)
{
    struct pair *pair = ctx;

    log_first(pair);
    timers_stop(pair->timers, &pair->second);
}

static void move_second(void *ctx)
{
    struct pair *pair = ctx;

    log_first(pair);
    timers_start(pair->timers, &pair->second, 20, log_second, pair);
}

static void start_itself_again(void *ctx)
{
    struct pair *pair = ctx;

    log_first(pair);
    timers_start(pair->timers, &pair->first, 20, log_first, pair);
}

static void test_a_call_may_change_other_timers(void **state)
{
    static const struct {
        void (*fire)(void *ctx);
        const char *at_10, *at_20;
    } rows[] = {
        {stop_second, "1", "1"},
        {move_second, "1", "12"},
        {start_itself_again, "12", "121"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct timers timers = {0};
        struct pair pair = {.timers = &timers};

        timers_start(&timers, &pair.first, 10, rows[i].fire, &pair);
        timers_start(&timers, &pair.second, 10, log_second, &pair);
        assert_true(timers_fire(&timers, 10));
        assert_string_equal(pair.log, rows[i].at_10);
        timers_fire(&timers, 20);
        assert_string_equal(pair.log, rows[i].at_20);
        timers_fini(&timers);
    }
}

static void test_never_is_never(void **state)
{
    struct timers timers = {0};
    struct timer timer = {0};

    (void)state;
    assert_false(timers_fire(&timers, TIMER_NEVER));
    timers_stop(&timers, &timer); /* not started: harmless */
    timers_start(&timers, &timer, TIMER_NEVER, note, &timers_of_test[0]);
    assert_true(timers_next(&timers) == TIMER_NEVER);
    assert_false(timers_fire(&timers, TIMER_NEVER - 1));
    timers_fini(&timers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_behaves_as_a_sorted_list),
        cmocka_unit_test(test_a_call_may_change_other_timers),
        cmocka_unit_test(test_never_is_never),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
