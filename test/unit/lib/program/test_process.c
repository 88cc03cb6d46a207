#include "lib/program/process.h"

#include "test/unit/captured_stderr.h"
#include "test/unit/expect.h"

static const struct log_flags quiet = {.verbosity = 0};

struct scene {
    struct process process;
    void (*act)(struct task *self, struct scene *scene);
    bool waited, stopping;
};

static void run(struct task *self, void *arg)
{
    struct scene *scene = arg;

    scene->act(self, scene);
    process_wait_stop(self, &scene->process);
    scene->waited = true;
    scene->stopping = scene->process.stopping;
}

/* The exit status of a process that does this and then waits for its end. */
static int status_of(void (*act)(struct task *self, struct scene *scene))
{
    struct scene scene = {.act = act};

    process_init(&scene.process, "test", &quiet);
    int status = process_run(&scene.process, run, &scene);
    assert_true(scene.waited && scene.stopping);
    assert_null(scene.process.loop);
    return status;
}

static void send_sigterm(struct task *self, struct scene *scene)
{
    (void)self;
    assert_false(scene->process.stopping);
    raise(SIGTERM);
}

static void send_sigint(struct task *self, struct scene *scene)
{
    (void)self, (void)scene;
    raise(SIGINT);
}

static void stop_well(struct task *self, struct scene *scene)
{
    (void)self;
    process_stop(&scene->process, false);
}

static void break_down(struct task *self, struct scene *scene)
{
    CLEANUP(err_freep) struct err *err = err_new(ERR_INVALID, "no such host");

    (void)self;
    process_fail(&scene->process, err);
}

static void stop_again(struct task *self, struct scene *scene)
{
    (void)self;
    process_stop(&scene->process, true);
    process_stop(&scene->process, false);
}

static void test_how_a_process_ends(void **state)
{
    (void)state;
    assert_int_equal(status_of(send_sigterm), 0);
    assert_int_equal(status_of(send_sigint), 0);
    assert_int_equal(status_of(stop_well), 0);
    assert_int_equal(status_of(break_down), 1);
    assert_int_equal(status_of(stop_again), 1); /* a failure stays one */
}

static void test_a_failure_is_told(void **state)
{
    struct captured_stderr capture = capture_stderr();

    (void)state;
    status_of(break_down);
    CLEANUP(freep) char *text = captured_text(capture);
    assert_string_equal(text, "test: no such host\n");
}

static void write_to_nobody(struct task *self, struct scene *scene)
{
    int pipes[2];

    (void)self;
    assert_int_equal(pipe(pipes), 0);
    close(pipes[0]);
    assert_int_equal(write(pipes[1], "x", 1), -1);
    close(pipes[1]);
    process_stop(&scene->process, false);
}

static void test_a_peer_that_is_gone_ends_nothing(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_DFL);
    assert_int_equal(status_of(write_to_nobody), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_how_a_process_ends),
        cmocka_unit_test(test_a_failure_is_told),
        cmocka_unit_test(test_a_peer_that_is_gone_ends_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
