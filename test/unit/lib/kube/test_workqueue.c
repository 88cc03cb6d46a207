/* The queue's guarantees one by one, and all of them under random adds and failures. */
#include "lib/kube/workqueue.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

/* What happened, as "time:key ", when work began. */
struct scene {
    struct loop *loop;
    struct task_group group;
    struct workqueue *queue;
    char log[1024];
    uint64_t takes_ms; /* how long work takes */

    struct err *(*outcome)(struct scene *scene, const char *key);
    unsigned calls, working, most_working;
    char finished[256]; /* "key:outcome:duration " */
};

static struct err *work(struct task *self, void *ctx, const char *key)
{
    struct scene *scene = ctx;
    size_t length = strlen(scene->log);

    snprintf(scene->log + length, sizeof scene->log - length, "%u:%s ",
             (unsigned)loop_now(scene->loop), key);
    scene->calls++;
    if (++scene->working > scene->most_working)
        scene->most_working = scene->working;
    struct err *err = task_sleep(self, scene->takes_ms);
    scene->working--;
    if (err)
        return err;
    return scene->outcome ? scene->outcome(scene, key) : NULL;
}

static void finished(void *ctx, const struct workqueue *queue, const char *key,
                     const struct err *err, uint64_t duration_ms)
{
    struct scene *scene = ctx;
    size_t length = strlen(scene->finished);

    assert_string_equal(workqueue_name(queue), "test");
    snprintf(scene->finished + length, sizeof scene->finished - length, "%s:%s:%u ", key,
             err ? err_kind_reason(err_kind(err)) : "ok", (unsigned)duration_ms);
}

static void open_pausing(struct scene *scene, unsigned max_tasks, uint64_t most_pause_ms)
{
    *scene = (struct scene){.loop = loop_new_virtual(0), .takes_ms = 10};
    group_init(&scene->group, scene->loop);
    scene->queue =
        workqueue_new(&scene->group, &(struct workqueue_config){.name = "test",
                                                                .max_tasks = max_tasks,
                                                                .most_pause_ms = most_pause_ms,
                                                                .work = work,
                                                                .ctx = scene,
                                                                .finished = finished});
}

static void open_scene(struct scene *scene, unsigned max_tasks)
{
    open_pausing(scene, max_tasks, 0);
}

static void close_group(struct task *self, void *arg)
{
    group_close(self, arg);
}

static void close_scene(struct scene *scene)
{
    loop_spawn(scene->loop, "close", close_group, &scene->group);
    loop_run(scene->loop);
    assert_int_equal(scene->working, 0);
    workqueue_free(scene->queue);
    loop_free(scene->loop);
}

/* ---- keys ---- */

static void test_keys_in_their_order_and_once(void **state)
{
    struct scene scene;

    (void)state;
    open_scene(&scene, 1);
    workqueue_add(scene.queue, "a");
    workqueue_add(scene.queue, "b");
    workqueue_add(scene.queue, "a");
    assert_int_equal(workqueue_depth(scene.queue), 2);
    loop_advance(scene.loop, 5); /* a is being worked on */
    assert_int_equal(workqueue_depth(scene.queue), 1);
    workqueue_add(scene.queue, "c");
    workqueue_add(scene.queue, "b");
    loop_advance(scene.loop, 95);
    assert_string_equal(scene.log, "0:a 10:b 20:c ");
    assert_string_equal(scene.finished, "a:ok:10 b:ok:10 c:ok:10 ");
    assert_int_equal(workqueue_depth(scene.queue), 0);
    close_scene(&scene);
}

static void test_a_key_that_is_added_while_it_is_worked_on(void **state)
{
    struct scene scene;

    (void)state;
    open_scene(&scene, 3);
    workqueue_add(scene.queue, "a");
    loop_advance(scene.loop, 5);
    workqueue_add(scene.queue, "a");
    workqueue_add(scene.queue, "a");
    assert_int_equal(workqueue_depth(scene.queue), 0);
    loop_advance(scene.loop, 100);
    assert_string_equal(scene.log, "0:a 10:a ");
    assert_int_equal(scene.most_working, 1);
    close_scene(&scene);
}

static void test_so_many_at_once(void **state)
{
    struct scene scene;

    (void)state;
    open_scene(&scene, 3);
    for (char key[] = "a"; key[0] <= 'g'; key[0]++)
        workqueue_add(scene.queue, key);
    loop_advance(scene.loop, 100);
    assert_string_equal(scene.finished, "a:ok:10 b:ok:10 c:ok:10 d:ok:10 e:ok:10 f:ok:10 g:ok:10 ");
    assert_int_equal(scene.most_working, 3);
    assert_string_equal(scene.log, "0:a 0:b 0:c 10:d 10:e 10:f 20:g ");
    close_scene(&scene);
}

/* ---- times ---- */

static void test_later(void **state)
{
    struct scene scene;

    (void)state;
    open_scene(&scene, 2);
    workqueue_add_at(scene.queue, "a", 500);
    workqueue_add_at(scene.queue, "a", 300); /* the earlier one counts */
    workqueue_add_at(scene.queue, "a", 400);
    workqueue_add_at(scene.queue, "b", 100);
    workqueue_add_at(scene.queue, "past", 0);
    assert_int_equal(workqueue_depth(scene.queue), 0);
    loop_advance(scene.loop, 50);
    workqueue_add(scene.queue, "b"); /* does not wait, and has not to come again */
    loop_advance(scene.loop, 950);
    assert_string_equal(scene.log, "0:past 50:b 300:a ");
    close_scene(&scene);
}

static void test_a_time_that_comes_while_it_is_worked_on(void **state)
{
    struct scene scene;

    (void)state;
    open_scene(&scene, 2);
    workqueue_add(scene.queue, "a");
    loop_advance(scene.loop, 2);
    workqueue_add_at(scene.queue, "a", 5);
    loop_advance(scene.loop, 98);
    assert_string_equal(scene.log, "0:a 10:a ");
    workqueue_add(scene.queue, "a");
    loop_advance(scene.loop, 2);
    workqueue_add_at(scene.queue, "a", 200); /* success leaves it standing */
    loop_advance(scene.loop, 898);
    assert_string_equal(scene.log, "0:a 10:a 100:a 200:a ");
    close_scene(&scene);
}

/* ---- failures ---- */

static enum err_kind failing_kind;

static struct err *fail_once(struct scene *scene, const char *key)
{
    (void)key;
    if (scene->calls > 1)
        return NULL;
    return failing_kind == ERR_THROTTLED ? err_throttled(7000, "wait")
                                         : err_new(failing_kind, "no");
}

static void test_when_a_failure_is_tried_again(void **state)
{
    (void)state;
    for (int kind = 0; kind < ERR_KIND_COUNT; kind++) {
        enum err_retry retry = err_kind_retry((enum err_kind)kind);
        struct scene scene;

        failing_kind = (enum err_kind)kind;
        open_scene(&scene, 1);
        scene.outcome = fail_once;
        workqueue_add(scene.queue, "a");
        loop_advance(scene.loop, 109);
        assert_int_equal(scene.calls, 1);
        loop_advance(scene.loop, 60);
        assert_int_equal(scene.calls, retry == ERR_RETRY_BACKOFF || retry == ERR_RETRY_NOW ? 2 : 1);
        loop_advance(scene.loop, 7009 - 169);
        assert_int_equal(scene.calls, retry == ERR_RETRY_BACKOFF || retry == ERR_RETRY_NOW ? 2 : 1);
        loop_advance(scene.loop, 3600 * 1000);
        assert_int_equal(scene.calls, retry == ERR_RETRY_NEVER ? 1 : 2);
        close_scene(&scene);
    }
}

static struct err *fail_for_long(struct scene *scene, const char *key)
{
    (void)key;
    return scene->calls <= 20 ? err_new(ERR_UNAVAILABLE, "no") : NULL;
}

/* The times of the log's entries. */
static unsigned times_of(const struct scene *scene, uint64_t times[], unsigned most)
{
    const char *at = scene->log;
    unsigned n = 0;

    for (; *at && n < most; n++) {
        times[n] = strtoull(at, NULL, 10);
        at = strchr(at, ' ') + 1;
    }
    return n;
}

static void check_pauses(const uint64_t times[], unsigned n, uint64_t most)
{
    uint64_t least = 100;

    for (unsigned i = 1; i < n; i++) {
        assert_in_range(times[i] - times[i - 1], least + 10, least + least / 2 + 10);
        least = 2 * least < most ? 2 * least : most;
    }
}

static void test_pauses_grow_and_are_forgotten_by_success(void **state)
{
    uint64_t times[64];
    struct scene scene;

    (void)state;
    open_scene(&scene, 1);
    scene.outcome = fail_for_long;
    workqueue_add(scene.queue, "a");
    loop_advance(scene.loop, 24 * 3600 * 1000);
    assert_int_equal(times_of(&scene, times, COUNT_OF(times)), 21);
    check_pauses(times, 21, 300000);

    scene.calls = 0;
    scene.log[0] = '\0';
    workqueue_add(scene.queue, "a");
    loop_advance(scene.loop, 24 * 3600 * 1000);
    assert_int_equal(times_of(&scene, times, COUNT_OF(times)), 21);
    check_pauses(times, 21, 300000);
    close_scene(&scene);
}

static void test_pauses_of_a_queue_that_is_in_a_hurry(void **state)
{
    uint64_t times[64];
    struct scene scene;

    (void)state;
    open_pausing(&scene, 1, 15000);
    scene.outcome = fail_for_long;
    workqueue_add(scene.queue, "a");
    loop_advance(scene.loop, 3600 * 1000);
    assert_int_equal(times_of(&scene, times, COUNT_OF(times)), 21);
    check_pauses(times, 21, 15000);
    close_scene(&scene);
}

/* Three failures, one that is final, and again. */
static struct err *give_up_in_between(struct scene *scene, const char *key)
{
    (void)key;
    return err_new(scene->calls == 4 ? ERR_INVALID : ERR_UNAVAILABLE, "no");
}

static void test_pauses_are_forgotten_by_giving_up(void **state)
{
    uint64_t times[64];
    struct scene scene;

    (void)state;
    open_scene(&scene, 1);
    scene.outcome = give_up_in_between;
    workqueue_add(scene.queue, "a");
    loop_advance(scene.loop, 10 * 1000);
    assert_int_equal(scene.calls, 4);
    workqueue_add(scene.queue, "a");
    loop_advance(scene.loop, 500);
    assert_int_equal(times_of(&scene, times, COUNT_OF(times)), scene.calls);
    check_pauses(times + 4, scene.calls - 4, 300000);
    assert_in_range(scene.calls, 6, 7);
    close_scene(&scene);
}

static struct err *fail_a(struct scene *scene, const char *key)
{
    (void)scene;
    return strcmp(key, "a") == 0 ? err_new(ERR_UNAVAILABLE, "no") : NULL;
}

static struct err *fail_all(struct scene *scene, const char *key)
{
    (void)scene, (void)key;
    return err_new(ERR_UNAVAILABLE, "no");
}

/* However long one has to wait by now, another one's first pause is the shortest. */
static void test_each_key_has_its_own_pauses(void **state)
{
    struct scene scene;

    (void)state;
    open_scene(&scene, 2);
    scene.outcome = fail_a;
    workqueue_add(scene.queue, "a");
    loop_advance(scene.loop, 3600 * 1000);
    scene.outcome = fail_all;
    scene.log[0] = '\0';
    workqueue_add(scene.queue, "b");
    loop_advance(scene.loop, 161); /* 10 of work, 100 to 150 of pause */
    scene.outcome = NULL;
    assert_string_equal(strrchr(scene.log, ':'), ":b ");
    assert_ptr_not_equal(strstr(scene.log, ":b "), strrchr(scene.log, ':'));
    close_scene(&scene);
}

static struct err *throttle_without_a_time(struct scene *scene, const char *key)
{
    (void)scene, (void)key;
    return err_throttled(0, "no time given");
}

static void test_throttling_without_a_time_is_no_hot_loop(void **state)
{
    struct scene scene;

    (void)state;
    open_scene(&scene, 1);
    scene.outcome = throttle_without_a_time;
    workqueue_add(scene.queue, "a");
    loop_advance(scene.loop, 1000);
    assert_in_range(scene.calls, 2, 10);
    close_scene(&scene);
}

/* What waits for its time is worked on at once if it changes; the pause is not forgotten. */
static void test_a_change_does_not_wait(void **state)
{
    struct scene scene;

    (void)state;
    open_scene(&scene, 1);
    scene.outcome = fail_for_long;
    workqueue_add(scene.queue, "a");
    loop_advance(scene.loop, 50);
    workqueue_add(scene.queue, "a");
    loop_advance(scene.loop, 5);     /* working */
    workqueue_add(scene.queue, "a"); /* so it comes right after the failure */
    loop_advance(scene.loop, 45);
    assert_string_equal(scene.log, "0:a 50:a 60:a ");
    loop_advance(scene.loop, 300); /* the third failure's pause is 400 ms */
    assert_string_equal(scene.log, "0:a 50:a 60:a ");
    loop_advance(scene.loop, 400);
    assert_int_equal(scene.calls, 4);
    close_scene(&scene);
}

/* ---- the end ---- */

static void test_closing_in_the_middle(void **state)
{
    struct scene scene;

    (void)state;
    open_scene(&scene, 2);
    workqueue_add(scene.queue, "a");
    workqueue_add(scene.queue, "b");
    workqueue_add(scene.queue, "c");
    workqueue_add_at(scene.queue, "d", 1000);
    loop_advance(scene.loop, 5);
    loop_spawn(scene.loop, "close", close_group, &scene.group);
    loop_advance(scene.loop, 1);
    assert_string_equal(scene.finished, "a:Canceled:5 b:Canceled:5 ");
    workqueue_add(scene.queue, "e"); /* harmless */
    loop_advance(scene.loop, 5000);
    assert_string_equal(scene.log, "0:a 0:b ");
    assert_int_equal(workqueue_depth(scene.queue), 3); /* c, d and e, for ever */
    close_scene(&scene);
}

/* ---- all of it, at random ---- */

enum { KEYS = 6, SEEDS = 150, TASKS = 3 };

/* Each add raises what is wanted of a key; work sees what was wanted when it began. */
struct world {
    struct scene scene;
    struct random random;
    unsigned wanted[KEYS], done[KEYS];
    bool working[KEYS];
    bool may_fail;
};

static struct err *random_outcome(struct world *world)
{
    if (!world->may_fail || random_below(&world->random, 2))
        return NULL;
    enum err_kind kind = (enum err_kind)random_below(&world->random, ERR_KIND_COUNT);
    if (kind == ERR_THROTTLED)
        return err_throttled(random_below(&world->random, 1000), "wait");
    return err_kind_retry(kind) == ERR_RETRY_NEVER ? NULL : err_new(kind, "no");
}

static struct err *world_work(struct task *self, void *ctx, const char *key)
{
    struct world *world = ctx;
    unsigned i = (unsigned)(key[0] - 'a'), wanted = world->wanted[i];

    if (world->working[i])
        fail_msg("%s is worked on twice at once", key);
    world->working[i] = true;
    assert_in_range(++world->scene.working, 1, TASKS);
    struct err *err = task_sleep(self, random_below(&world->random, 30));
    world->working[i] = false;
    world->scene.working--;
    if (!err)
        err = random_outcome(world);
    if (!err)
        world->done[i] = wanted;
    return err;
}

static void add_at_random(struct world *world)
{
    unsigned i = (unsigned)random_below(&world->random, KEYS);
    char key[] = {(char)('a' + i), '\0'};

    world->wanted[i]++;
    if (random_below(&world->random, 4))
        workqueue_add(world->scene.queue, key);
    else
        workqueue_add_at(world->scene.queue, key,
                         loop_now(world->scene.loop) + random_below(&world->random, 500));
}

static uint64_t running;

static void run_world(uint64_t seed)
{
    struct world world = {.random = {.state = seed}, .may_fail = true};

    world.scene.loop = loop_new_virtual(seed);
    group_init(&world.scene.group, world.scene.loop);
    world.scene.queue =
        workqueue_new(&world.scene.group,
                      &(struct workqueue_config){
                          .name = "test", .max_tasks = TASKS, .work = world_work, .ctx = &world});
    for (int i = 0; i < 200; i++) {
        add_at_random(&world);
        loop_advance(world.scene.loop, random_below(&world.random, 40));
    }
    world.may_fail = false;
    loop_advance(world.scene.loop, 3600 * 1000);
    for (int i = 0; i < KEYS; i++)
        assert_int_equal(world.done[i], world.wanted[i]);
    assert_int_equal(workqueue_depth(world.scene.queue), 0);
    close_scene(&world.scene);
}

static void test_random_adds_and_failures(void **state)
{
    (void)state;
    for (running = 1; running <= SEEDS; running++)
        run_world(running);
}

static int tell_seed(void **state)
{
    (void)state;
    if (running <= SEEDS)
        print_error("seed %u\n", (unsigned)running);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_in_their_order_and_once),
        cmocka_unit_test(test_a_key_that_is_added_while_it_is_worked_on),
        cmocka_unit_test(test_so_many_at_once),
        cmocka_unit_test(test_later),
        cmocka_unit_test(test_a_time_that_comes_while_it_is_worked_on),
        cmocka_unit_test(test_when_a_failure_is_tried_again),
        cmocka_unit_test(test_pauses_grow_and_are_forgotten_by_success),
        cmocka_unit_test(test_pauses_of_a_queue_that_is_in_a_hurry),
        cmocka_unit_test(test_pauses_are_forgotten_by_giving_up),
        cmocka_unit_test(test_each_key_has_its_own_pauses),
        cmocka_unit_test(test_throttling_without_a_time_is_no_hot_loop),
        cmocka_unit_test(test_a_change_does_not_wait),
        cmocka_unit_test(test_closing_in_the_middle),
        cmocka_unit_test_teardown(test_random_adds_and_failures, tell_seed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
