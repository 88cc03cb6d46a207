/* bench.h - the frame of tests that make real calls over a unix socket.
 *
 * The server runs on the loop, as in a program; the caller's side of a test is a script on a thread
 * of its own, which blocks. What a script sees it keeps (bench_end); the test looks at it when both
 * sides have ended.
 */
#pragma once

#include <semaphore.h>
#include <stdbool.h>

#include "lib/rpc/server.h"
#include "lib/rt/wait.h"
#include "test/unit/lib/rpc/bench.pb-c.h"
#include "test/unit/lib/rpc/client.h"

#define WORK "/bench.Bench/Work"

enum {
    LONG_MS = 60 * 1000, /* never reached */
    MAX_REPLIES = 64,
};

struct bench {
    char folder[32];
    char *path;
    struct loop *loop;
    struct rpc_server *server;
    unsigned max_calls;
    uint64_t max_duration_ms, grace_ms;

    /* the caller's side */
    void (*script)(struct bench *bench);
    struct client *client;
    struct client_reply replies[MAX_REPLIES];
    size_t n_replies;
    sem_t started; /* posted by every handler that begins to wait */

    /* the loop's side */
    bool scripted, released;
    struct waiters changed;
    uint64_t time_left; /* of the last call, when it began */
    unsigned n_waiting, most_waiting;
    unsigned n_cancelled; /* handlers that saw it */
    unsigned n_finished, n_finished_by_kind[ERR_KIND_COUNT], n_finished_well;
    unsigned n_finished_unread; /* of them, without a request */
    char *last_method;
};

int bench_setup(void **state);
int bench_teardown(void **state);

/* Both sides, until both have ended and the server is closed. */
void bench_run(struct bench *bench, void (*script)(struct bench *bench));
struct err *bench_new_server(struct bench *bench, const char *const *endpoints,
                             struct rpc_server **ret_server);

/* For scripts. */
#define ORDER(of, ...)                                                                             \
    ((Bench__Order){PROTOBUF_C_MESSAGE_INIT(&bench__order__descriptor),                            \
                    .kind = BENCH__ORDER__KIND__##of, __VA_ARGS__})
#define NO_TEXT .text = (char *)(uintptr_t)protobuf_c_empty_string

struct client_call *bench_begin(struct bench *bench, Bench__Order order, unsigned timeout_ms);
void bench_end(struct bench *bench, struct client_call *call);
void bench_wait_until_started(struct bench *bench, unsigned n);

/* For loop_post by scripts. */
void bench_release(void *arg);
void bench_begin_close(void *arg);

/* For the test, afterwards: what the i-th call that the script ended was answered. */
void expect_status(const struct bench *bench, size_t i, int status, const char *text);
void expect_report(const struct bench *bench, size_t i, const char *text);
