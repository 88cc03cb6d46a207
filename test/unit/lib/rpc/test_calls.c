/* What callers are answered, and what becomes of calls that end early. */
#include "lib/rpc/server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/base/alloc.h"
#include "test/unit/lib/rpc/bench.h"

enum { LARGEST_MESSAGE = 4 * 1024 * 1024 };

/* ---- answers ---- */

static void ask_for_answers(struct bench *bench)
{
    static char text[] = "Grüße";

    bench_end(bench, bench_begin(bench, ORDER(ANSWER, .text = text), LONG_MS));
    bench_end(bench, bench_begin(bench, ORDER(ANSWER, NO_TEXT), LONG_MS));
    bench_end(bench, client_begin(bench->client, WORK, "", 0, LONG_MS));
    bench_end(bench, bench_begin(bench, ORDER(ANSWER_NULL, NO_TEXT), LONG_MS));
}

static void test_answers(void **state)
{
    struct bench *bench = *state;

    bench_run(bench, ask_for_answers);
    expect_report(bench, 0, "Grüße");
    expect_report(bench, 1, "");
    expect_report(bench, 2, "");
    expect_report(bench, 3, "");
    assert_int_equal(bench->n_finished_well, 4);
    assert_int_equal(bench->n_finished_unread, 0);
    assert_string_equal(bench->last_method, WORK);
}

static void ask_for_every_error(struct bench *bench)
{
    for (int kind = 0; kind < ERR_KIND_COUNT; kind++) {
        CLEANUP(freep) char *text = mem_printf("error %d", kind);

        bench_end(bench, bench_begin(bench, ORDER(FAIL, .number = kind, .text = text), LONG_MS));
    }
}

static void test_every_error_has_its_status(void **state)
{
    struct bench *bench = *state;

    bench_run(bench, ask_for_every_error);
    for (int kind = 0; kind < ERR_KIND_COUNT; kind++) {
        CLEANUP(freep) char *text = mem_printf("error %d", kind);

        expect_status(bench, (size_t)kind, err_kind_grpc_status((enum err_kind)kind), text);
        assert_null(bench->replies[kind].message);
        assert_int_equal(bench->n_finished_by_kind[kind], 1);
    }
    assert_int_equal(bench->n_finished, ERR_KIND_COUNT);
}

static void ask_for_long_errors(struct bench *bench)
{
    CLEANUP(freep) char *text = mem_alloc(20001);

    for (size_t i = 0; i < 10000; i++)
        snprintf(text + 2 * i, 3, "ß");
    bench_end(bench,
              bench_begin(bench, ORDER(FAIL, .number = ERR_INTERNAL, .text = text), LONG_MS));
    text[1] = 'x'; /* from here on, characters begin at odd places */
    bench_end(bench,
              bench_begin(bench, ORDER(FAIL, .number = ERR_INTERNAL, .text = text + 1), LONG_MS));
}

static void test_a_long_error_is_cut_between_characters(void **state)
{
    struct bench *bench = *state;

    bench_run(bench, ask_for_long_errors);
    expect_status(bench, 0, 13, "ßßß");
    assert_int_equal(strlen(bench->replies[0].text), 2048);
    expect_status(bench, 1, 13, "xßß");
    assert_int_equal(strlen(bench->replies[1].text), 2047);
}

/* ---- bad calls ---- */

static void ask_wrongly(struct bench *bench)
{
    static const struct {
        const char *method, *bytes;
    } rows[] = {
        {"/bench.Bench/Unserved", ""}, {"/bench.Other/Work", ""}, {"Work", ""},
        {WORK, "\xff\xff\xff"},        {WORK, "\x1a\x05no"},      {WORK, NULL},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++)
        bench_end(bench, client_begin(bench->client, rows[i].method, rows[i].bytes,
                                      rows[i].bytes ? strlen(rows[i].bytes) : 0, LONG_MS));
}

static void test_bad_calls(void **state)
{
    struct bench *bench = *state;

    bench_run(bench, ask_wrongly);
    expect_status(bench, 0, 12, "unknown method /bench.Bench/Unserved");
    expect_status(bench, 1, 12, "unknown method /bench.Other/Work");
    expect_status(bench, 2, 12, "");
    expect_status(bench, 3, 3, WORK ": the request is not a bench.Order");
    expect_status(bench, 4, 3, WORK ": the request is not a bench.Order");
    expect_status(bench, 5, 3, WORK ": the call contains no request");
    assert_int_equal(bench->n_finished, bench->n_replies);
    assert_int_equal(bench->n_finished_unread, bench->n_replies);
}

static void ask_unknown(struct bench *bench)
{
    bench_end(bench, client_begin(bench->client, "/a/b", "", 0, LONG_MS));
}

static void test_an_unknown_method_is_no_label(void **state)
{
    struct bench *bench = *state;

    bench_run(bench, ask_unknown);
    assert_string_equal(bench->last_method, "unknown");
}

static void ask_largely(struct bench *bench)
{
    CLEANUP(freep) char *text = mem_alloc(LARGEST_MESSAGE + 1);

    memset(text, 'x', LARGEST_MESSAGE);
    bench_end(bench, bench_begin(bench, ORDER(ANSWER, .text = text), LONG_MS));
    bench_end(bench,
              bench_begin(bench, ORDER(ANSWER_LARGE, .number = LARGEST_MESSAGE, NO_TEXT), LONG_MS));
    bench_end(bench, bench_begin(bench, ORDER(ANSWER_LARGE, .number = LARGEST_MESSAGE / 2, NO_TEXT),
                                 LONG_MS));
}

static void test_large_messages(void **state)
{
    struct bench *bench = *state;

    bench_run(bench, ask_largely);
    expect_status(bench, 0, 8, "larger than max");
    expect_status(bench, 1, 8, "at most 4194304 can be sent");
    expect_status(bench, 2, 0, "");
    assert_true(bench->replies[2].size > LARGEST_MESSAGE / 2);
    assert_int_equal(bench->n_finished, 3);
}

/* ---- many calls ---- */

static void ask_1000_times(struct bench *bench)
{
    struct client_call *calls[1000];
    unsigned n_well = 0;

    for (size_t i = 0; i < 1000; i++)
        calls[i] = bench_begin(bench, ORDER(WAIT, NO_TEXT), LONG_MS);
    bench_wait_until_started(bench, 1000);
    bench_end(bench, bench_begin(bench, ORDER(ANSWER, NO_TEXT), LONG_MS));
    loop_post(bench->loop, bench_release, bench);
    for (size_t i = 0; i < 1000; i++) {
        struct client_reply reply;

        client_end(calls[i], &reply);
        n_well += reply.status == 0;
        client_reply_fini(&reply);
    }
    bench_end(bench, bench_begin(bench, ORDER(ANSWER, NO_TEXT), LONG_MS));
    bench->replies[bench->n_replies++].status = (int)n_well;
}

static void test_1000_at_once_and_no_more(void **state)
{
    struct bench *bench = *state;

    bench_run(bench, ask_1000_times);
    expect_status(bench, 0, 8, "too many calls: 1000 are already in progress");
    expect_report(bench, 1, "");
    assert_int_equal(bench->replies[2].status, 1000);
    assert_int_equal(bench->most_waiting, 1000);
    assert_int_equal(bench->n_finished, 1002);
    assert_int_equal(bench->n_finished_well, 1001);
}

static void ask_twice_at_once(struct bench *bench)
{
    struct client_call *call = bench_begin(bench, ORDER(WAIT, NO_TEXT), LONG_MS);

    bench_wait_until_started(bench, 1);
    bench_end(bench, bench_begin(bench, ORDER(ANSWER, NO_TEXT), LONG_MS));
    loop_post(bench->loop, bench_release, bench);
    bench_end(bench, call);
}

static void test_a_smaller_limit(void **state)
{
    struct bench *bench = *state;

    bench->max_calls = 1;
    bench_run(bench, ask_twice_at_once);
    expect_status(bench, 0, 8, "too many calls: 1 are already in progress");
    expect_report(bench, 1, "");
}

/* ---- calls that end early ---- */

/* Again, if the time was over before the call arrived. */
static void ask_briefly(struct bench *bench)
{
    do
        bench_end(bench, bench_begin(bench, ORDER(WAIT, NO_TEXT), 50));
    while (sem_trywait(&bench->started) < 0);
}

/* Its caller hangs up at the same moment, so either end may be seen first; of one that did so
 * before its request had arrived, gRPC says that it has none. */
static void test_a_callers_deadline_cancels(void **state)
{
    struct bench *bench = *state;

    bench_run(bench, ask_briefly);
    expect_status(bench, 0, 4, "");
    assert_in_range(bench->time_left, 0, 50);
    assert_in_range(bench->n_cancelled, 1, bench->n_finished);
    assert_int_equal(bench->n_finished, bench->n_finished_by_kind[ERR_TIMEOUT] +
                                            bench->n_finished_by_kind[ERR_CANCELED] +
                                            bench->n_finished_by_kind[ERR_INVALID]);
    assert_in_range(bench->n_finished_by_kind[ERR_INVALID], 0, bench->n_finished_unread);
}

static void ask_patiently(struct bench *bench)
{
    bench_end(bench, bench_begin(bench, ORDER(WAIT, NO_TEXT), LONG_MS));
}

static void test_the_servers_limit_cancels(void **state)
{
    struct bench *bench = *state;

    bench->max_duration_ms = 500; /* the handler has begun by then, on a loaded machine too */
    bench_run(bench, ask_patiently);
    expect_status(bench, 0, 4, "the deadline of the call has passed");
    assert_int_equal(bench->n_cancelled, 1);
    assert_int_equal(bench->n_finished_by_kind[ERR_TIMEOUT], 1);
}

static void ask_and_cancel(struct bench *bench)
{
    struct client_call *call = bench_begin(bench, ORDER(WAIT, NO_TEXT), LONG_MS);

    bench_wait_until_started(bench, 1);
    client_cancel(call);
    bench_end(bench, call);
}

static void test_a_caller_that_gives_up_cancels(void **state)
{
    struct bench *bench = *state;

    bench_run(bench, ask_and_cancel);
    expect_status(bench, 0, 1, "");
    assert_int_equal(bench->n_cancelled, 1);
    assert_int_equal(bench->n_finished, 1);
    assert_int_equal(bench->n_finished_by_kind[ERR_CANCELED], 1);
}

static void ask_and_hang_up(struct bench *bench)
{
    struct client_call *call = bench_begin(bench, ORDER(WAIT_UNINTERRUPTIBLE, NO_TEXT), LONG_MS);

    bench_wait_until_started(bench, 1);
    client_cancel(call);
    bench_end(bench, call);
    loop_post(bench->loop, bench_release, bench);
}

static void test_an_answer_that_nobody_waits_for(void **state)
{
    struct bench *bench = *state;

    bench_run(bench, ask_and_hang_up);
    expect_status(bench, 0, 1, "");
    assert_int_equal(bench->n_finished_well, 1);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, bench_setup, bench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_answers),
        TEST(test_every_error_has_its_status),
        TEST(test_a_long_error_is_cut_between_characters),
        TEST(test_bad_calls),
        TEST(test_an_unknown_method_is_no_label),
        TEST(test_large_messages),
        TEST(test_1000_at_once_and_no_more),
        TEST(test_a_smaller_limit),
        TEST(test_a_callers_deadline_cancels),
        TEST(test_the_servers_limit_cancels),
        TEST(test_a_caller_that_gives_up_cancels),
        TEST(test_an_answer_that_nobody_waits_for),
    };

    alarm(120); /* nothing here waits that long, unless for ever */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
