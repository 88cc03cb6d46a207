#include "lib/rt/subprocess.h"

#include <errno.h>
#include <fcntl.h>

#include "lib/base/alloc.h"
#include "lib/rt/wait.h"
#include "test/unit/expect.h"

static const uint64_t LONG = 60 * 1000; /* milliseconds; nothing here is to take so long */

struct run {
    const char *const *argv;
    uint64_t timeout_ms, grace_ms;
    struct subprocess_stop *stop;
    const char *const *environment;
    struct buffer *answer;
    struct subprocess_result result;
    struct err *err;
    bool ended;
};

static void runs(struct task *self, void *arg)
{
    struct run *run = arg;
    const struct subprocess_request request = {
        .argv = run->argv,
        .timeout_ms = run->timeout_ms,
        .grace_ms = run->grace_ms,
        .stop = run->stop,
        .environment = run->environment,
        .answer = run->answer,
    };

    run->err = subprocess_run(self, &request, &run->result);
    run->ended = true;
}

static void run_alone(struct run *run)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new();

    loop_spawn(loop, "caller", runs, run);
    loop_run(loop);
    assert_true(run->ended);
}

#define ARGV(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_exit_status_and_output(void **state)
{
    const struct {
        const char *const *argv;
        int exit_status;
        const char *output;
    } rows[] = {
        {ARGV("true"), 0, ""},
        {ARGV("false"), 1, ""},
        {ARGV("sh", "-c", "echo out; echo err >&2; echo out; exit 7"), 7, "out\nerr\nout"},
        {ARGV("sh", "-c", "kill -9 $$"), 128 + 9, ""},
        {ARGV("sh", "-c", "kill -15 $$"), 128 + 15, ""},
        {ARGV("cat"), 0, ""}, /* there is no standard input */
        {ARGV("printf", "%s", "$HOME; *"), 0, "$HOME; *"},
        {ARGV("printf", "a\n\nb\n\n"), 0, "a\n\nb"},
        {ARGV("grep", "SigBlk", "/proc/self/status"), 0, "SigBlk:\t0000000000000000"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct run run = {.argv = rows[i].argv, .timeout_ms = LONG};

        run_alone(&run);
        assert_ok(run.err);
        assert_int_equal(run.result.exit_status, rows[i].exit_status);
        assert_string_equal(run.result.output, rows[i].output);
    }
}

static void test_the_end_of_a_long_output_is_kept(void **state)
{
    static const struct {
        const char *script;
        size_t length;
        const char *end;
    } rows[] = {
        {"printf %4095d 7", 4095, " 7"},
        {"printf %4096d 7", 4096, " 7"},
        {"printf x%4096d 7", 4096, " 7"},
        {"seq 100000", 4095, "\n99999\n100000"}, /* and the newline that is dropped */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct run run = {.argv = ARGV("sh", "-c", rows[i].script), .timeout_ms = LONG};

        run_alone(&run);
        assert_ok(run.err);
        assert_int_equal(strlen(run.result.output), rows[i].length);
        assert_string_equal(run.result.output + rows[i].length - strlen(rows[i].end), rows[i].end);
    }
}

static void test_the_environment(void **state)
{
    struct run run = {.argv = ARGV("env"),
                      .timeout_ms = LONG,
                      .environment = ARGV("PATH=/usr/bin:/bin", "A=b c")};

    (void)state;
    run_alone(&run);
    assert_ok(run.err);
    assert_string_equal(run.result.output, "PATH=/usr/bin:/bin\nA=b c");
}

/* What it says to the person goes where this program's own errors go. */
static void test_an_answer(void **state)
{
    CLEANUP(buffer_fini) struct buffer answer;
    struct run run = {.argv = ARGV("sh", "-c", "echo hint >/dev/stderr; seq 2000; exit 3"),
                      .timeout_ms = LONG,
                      .answer = &answer};

    (void)state;
    buffer_init(&answer, 1024 * 1024);
    run_alone(&run);
    assert_ok(run.err);
    assert_int_equal(run.result.exit_status, 3);
    assert_string_equal(run.result.output, "");
    assert_int_equal(answer.length,
                     8893); /* of 4 * 2000 digits and newlines, less the short ones */
    assert_memory_equal(answer.data, "1\n2\n", 4);
    assert_string_equal(answer.data + answer.length - 5, "2000\n");
}

static void test_an_answer_that_is_too_long(void **state)
{
    CLEANUP(buffer_fini) struct buffer answer;
    struct run run = {.argv = ARGV("seq", "2000"), .timeout_ms = LONG, .answer = &answer};

    (void)state;
    buffer_init(&answer, 100);
    run_alone(&run);
    assert_fails(run.err, ERR_OUT_OF_RANGE, "seq: its output is longer than 100 bytes");
}

/* It is in this program's process group, which must not be ended. */
static void test_who_gives_no_answer_is_killed_alone(void **state)
{
    CLEANUP(buffer_fini) struct buffer answer;
    struct run run = {.argv = ARGV("sleep", "1000"), .timeout_ms = 20, .answer = &answer};

    (void)state;
    buffer_init(&answer, 100);
    run_alone(&run);
    assert_fails(run.err, ERR_TIMEOUT, "sleep (time limit 20ms): timed out");
}

static void test_what_cannot_be_started(void **state)
{
    struct run missing = {.argv = ARGV("/no/such/mkfs"), .timeout_ms = LONG};
    struct run no_program = {.argv = ARGV("/etc/passwd"), .timeout_ms = LONG};

    (void)state;
    run_alone(&missing);
    assert_fails(missing.err, ERR_NOT_FOUND, "/no/such/mkfs: no such file or directory");
    run_alone(&no_program);
    assert_fails(no_program.err, ERR_INTERNAL, "/etc/passwd: permission denied");
}

static void test_it_is_killed_when_its_time_is_up(void **state)
{
    struct run run = {.argv = ARGV("sleep", "1000"), .timeout_ms = 20, .result.exit_status = 42};

    (void)state;
    run_alone(&run);
    assert_fails(run.err, ERR_TIMEOUT, "sleep (time limit 20ms): timed out");
    assert_int_equal(run.result.exit_status, 42); /* untouched */
}

/* A program that has exited, but left a child which keeps its output open. */
static void test_an_output_that_stays_open_is_not_waited_for(void **state)
{
    struct run run = {.argv = ARGV("sh", "-c", "sleep 2 & echo done"), .timeout_ms = 50};

    (void)state;
    run_alone(&run);
    assert_fails(run.err, ERR_TIMEOUT, "sh (time limit 50ms): timed out");
}

struct canceller {
    struct task *task;
    struct run *run;
    int ready_fd;
};

/* Cancels the other task as soon as its subprocess has written a byte to the pipe. */
static void cancels_when_ready(struct task *self, void *arg)
{
    struct canceller *canceller = arg;
    char byte;

    while (read(canceller->ready_fd, &byte, 1) < 0) {
        assert_int_equal(errno, EAGAIN);
        assert_false(canceller->run->ended);
        assert_ok(task_sleep(self, 1));
    }
    task_cancel(canceller->task);
}

/* Every process that the subprocess started holds the writing end of the pipe; that it ends says
 * that all are gone. */
static void test_cancelling_kills_it_and_its_children(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new();
    int ends[2];
    char byte;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    CLEANUP(freep)
    char *script = mem_printf("(printf x >/proc/self/fd/%d; sleep 1000) & wait", ends[1]);
    struct run run = {.argv = ARGV("sh", "-c", script), .timeout_ms = LONG};
    struct canceller canceller = {loop_spawn(loop, "caller", runs, &run), &run, ends[0]};

    loop_spawn(loop, "canceller", cancels_when_ready, &canceller);
    loop_run(loop);
    assert_fails(run.err, ERR_CANCELED, "sh: caller was cancelled");
    close(ends[1]);
    fcntl(ends[0], F_SETFL, 0);
    assert_int_equal(read(ends[0], &byte, 1), 0);
    close(ends[0]);
}

/* ---- an end in order ---- */

enum { WAIT_FOR_EVER, LEAVE_AT_ONCE, LEAVE_WHEN_TOLD };

/* What a program does at SIGTERM. It says "r" when it is ready, "t" when it has got the signal, and
 * "e" when it has ended in order, by lines on its file descriptor 9. */
static const char *const at_sigterm[] = {
    [WAIT_FOR_EVER] = ":",
    [LEAVE_AT_ONCE] = "echo e >&9; exit 3",
    [LEAVE_WHEN_TOLD] = "read go <&8; echo e >&9; exit 3",
};

struct ending {
    struct run run;
    struct subprocess_stop stop;
    struct task *caller;
    int said[2], told[2];
    char *script;
};

static void ending_setup(struct ending *ending, struct loop *loop, int behaviour)
{
    *ending = (struct ending){.run = {.timeout_ms = LONG}};
    subprocess_stop_init(&ending->stop);
    assert_int_equal(pipe(ending->said), 0);
    assert_int_equal(pipe(ending->told), 0);
    fcntl(ending->said[0], F_SETFD, FD_CLOEXEC);
    fcntl(ending->told[1], F_SETFD, FD_CLOEXEC);
    fcntl(ending->said[0], F_SETFL, O_NONBLOCK);
    ending->script = mem_printf(
        "exec 9>/proc/self/fd/%d 8</proc/self/fd/%d; trap 'echo t >&9; %s' TERM; echo r >&9; "
        "while :; do sleep 0.01; done",
        ending->said[1], ending->told[0], at_sigterm[behaviour]);
    ending->run.argv = mem_copy(ARGV("sh", "-c", ending->script), 4 * sizeof(char *));
    ending->run.stop = &ending->stop;
    ending->caller = loop_spawn(loop, "caller", runs, &ending->run);
}

static void ending_teardown(struct ending *ending)
{
    free((void *)(uintptr_t)ending->run.argv);
    free(ending->script);
    for (int i = 0; i < 2; i++) {
        close(ending->said[i]);
        close(ending->told[i]);
    }
    subprocess_stop_fini(&ending->stop);
}

static void await_word(struct task *self, const struct ending *ending, char word)
{
    char line[2];

    while (read(ending->said[0], line, 2) != 2)
        assert_ok(task_sleep(self, 1));
    assert_int_equal(line[0], word);
}

static void await_end(struct task *self, const struct ending *ending)
{
    while (!ending->run.ended)
        assert_ok(task_sleep(self, 1));
}

static uint64_t in(const struct task *self, uint64_t ms)
{
    return loop_now(loop_of(self)) + ms;
}

static void play(task_fn *scene)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new();

    loop_spawn(loop, "scene", scene, loop);
    loop_run(loop);
}

/* However long the program takes to end, as long as it is not time for SIGKILL. */
static void stopped_in_order(struct task *self, void *loop)
{
    struct ending ending;

    ending_setup(&ending, loop, LEAVE_WHEN_TOLD);
    await_word(self, &ending, 'r');
    subprocess_stop_ask(&ending.stop, in(self, LONG), err_new(ERR_UNAVAILABLE, "enough"));
    await_word(self, &ending, 't');
    assert_ok(task_sleep(self, 50));
    assert_false(ending.run.ended);
    /* Once more: the reason stays. */
    subprocess_stop_ask(&ending.stop, in(self, LONG), err_new(ERR_BUSY, "again"));
    assert_int_equal(write(ending.told[1], "\n", 1), 1);
    await_word(self, &ending, 'e');
    await_end(self, &ending);
    assert_fails(ending.run.err, ERR_UNAVAILABLE, "sh: enough");
    ending_teardown(&ending);
}

static void test_stopped_in_order(void **state)
{
    (void)state;
    play(stopped_in_order);
}

/* One that does not heed SIGTERM, and is given less time after a while. */
static void killed_when_it_does_not_end(struct task *self, void *loop)
{
    struct ending ending;

    ending_setup(&ending, loop, WAIT_FOR_EVER);
    await_word(self, &ending, 'r');
    subprocess_stop_ask(&ending.stop, in(self, LONG), err_new(ERR_BUSY, "enough"));
    await_word(self, &ending, 't');
    subprocess_stop_ask(&ending.stop, in(self, 20), err_new(ERR_BUSY, "now"));
    await_end(self, &ending);
    assert_fails(ending.run.err, ERR_BUSY, "sh: enough");
    ending_teardown(&ending);
}

static void test_killed_when_it_does_not_end(void **state)
{
    (void)state;
    play(killed_when_it_does_not_end);
}

static void cancelled_with_grace(struct task *self, void *loop)
{
    struct ending ending;

    ending_setup(&ending, loop, LEAVE_AT_ONCE);
    ending.run.grace_ms = LONG;
    await_word(self, &ending, 'r');
    task_cancel(ending.caller);
    await_word(self, &ending, 't');
    await_word(self, &ending, 'e');
    await_end(self, &ending);
    assert_fails(ending.run.err, ERR_CANCELED, "sh: caller was cancelled");
    ending_teardown(&ending);
}

static void test_cancelled_with_grace(void **state)
{
    (void)state;
    play(cancelled_with_grace);
}

static void stopped_before_the_start(struct task *self, void *loop)
{
    struct ending ending;

    ending_setup(&ending, loop, LEAVE_AT_ONCE);
    subprocess_stop_ask(&ending.stop, in(self, LONG), err_new(ERR_BUSY, "too late"));
    await_end(self, &ending);
    assert_fails(ending.run.err, ERR_BUSY, "sh: too late");
    assert_int_equal(read(ending.said[0], &(char){0}, 1), -1); /* it has said nothing */
    ending_teardown(&ending);
}

static void test_stopped_before_the_start(void **state)
{
    (void)state;
    play(stopped_before_the_start);
}

static void test_many_at_once(void **state)
{
    enum { N = 20 };
    CLEANUP(loop_freep) struct loop *loop = loop_new();
    struct run runs_of_test[N];
    char numbers[N][16];
    const char *argv[N][3];

    (void)state;
    for (int i = 0; i < N; i++) {
        snprintf(numbers[i], sizeof numbers[i], "%d", i);
        memcpy(argv[i], ARGV("echo", numbers[i]), sizeof argv[i]);
        runs_of_test[i] = (struct run){.argv = argv[i], .timeout_ms = LONG};
        loop_spawn(loop, "caller", runs, &runs_of_test[i]);
    }
    loop_run(loop);
    for (int i = 0; i < N; i++) {
        assert_ok(runs_of_test[i].err);
        assert_string_equal(runs_of_test[i].result.output, numbers[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exit_status_and_output),
        cmocka_unit_test(test_the_end_of_a_long_output_is_kept),
        cmocka_unit_test(test_the_environment),
        cmocka_unit_test(test_an_answer),
        cmocka_unit_test(test_an_answer_that_is_too_long),
        cmocka_unit_test(test_who_gives_no_answer_is_killed_alone),
        cmocka_unit_test(test_what_cannot_be_started),
        cmocka_unit_test(test_it_is_killed_when_its_time_is_up),
        cmocka_unit_test(test_an_output_that_stays_open_is_not_waited_for),
        cmocka_unit_test(test_cancelling_kills_it_and_its_children),
        cmocka_unit_test(test_stopped_in_order),
        cmocka_unit_test(test_killed_when_it_does_not_end),
        cmocka_unit_test(test_cancelled_with_grace),
        cmocka_unit_test(test_stopped_before_the_start),
        cmocka_unit_test(test_many_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
