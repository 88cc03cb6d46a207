/* calls.h - the calls of one server, from arrival to answer.
 *
 * A few empty calls always lie ready at gRPC; one that arrives is replaced at once, so that gRPC
 * never holds callers back. Every call that arrives has a task, and the task owns it: it waits for
 * the request, runs the handler, answers, and frees the call when gRPC has nothing left to say
 * about it. Part of server.h; loop's thread.
 */
#pragma once

#include <grpc/grpc.h>

#include "lib/base/list.h"
#include "lib/rpc/completion_queue.h"
#include "lib/rpc/server.h"
#include "lib/rt/wait.h"

enum { LARGEST_MESSAGE = 4 * 1024 * 1024 };

/* A method as it is called. */
struct route {
    char *path;
    const ProtobufCMessageDescriptor *request, *response;
    rpc_handler *handler;
    void *ctx;
};

struct calls {
    struct loop *loop;
    grpc_server *core;
    struct completion_queue *queue;
    struct route *routes;
    size_t n_routes;
    unsigned max_calls;
    uint64_t max_duration_ms;
    void (*finished)(void *ctx, const struct rpc_outcome *outcome);
    void *finished_ctx;

    bool cancelled;    /* those under way were told to end */
    unsigned n_ready;  /* at gRPC */
    unsigned n_served; /* not answered yet */
    unsigned n_under_way;
    struct list under_way;
    struct waiters changed; /* woken when n_ready or n_under_way has become less */
};

/* Lays calls ready. Everything above `cancelled` is set. */
void calls_start(struct calls *calls);
void calls_cancel(struct calls *calls);
bool calls_are_over(const struct calls *calls);
