/* server.h - a gRPC server (gRPC C core) whose methods are tasks of the loop.
 *
 * A program lists what it serves as data: services, and for each a table of method names and
 * handlers; paths and message types follow from the service's descriptor. A call becomes a task
 * that runs its handler with a decoded request and an empty response; what the handler returns
 * becomes the response or, by err.h's table, the gRPC status. A method that is in no table is
 * answered with UNIMPLEMENTED.
 *
 * gRPC's completion queue has a thread of its own, which does nothing but hand events to the loop.
 * When a caller gives up or its deadline passes, the task is cancelled; its handler sees CANCELED
 * from its next wait and has to leave what a retry can finish.
 *
 * Bounds: calls under way (more get RESOURCE_EXHAUSTED), 4 MiB a message, 2 KiB of an error's text.
 * Owner: the program. Everything here is for the thread of the loop, which must be a real one.
 */
#pragma once

#include <protobuf-c/protobuf-c.h>

#include "lib/base/arena.h"
#include "lib/base/err.h"
#include "lib/rt/loop.h"

struct rpc_server;

/* One call; valid while its handler runs. */
struct rpc_call {
    const char *method;  /* "/csi.v1.Identity/Probe" */
    void *ctx;           /* of the service */
    struct arena *arena; /* for what the response points to; freed after it was sent */
    uint64_t deadline;   /* loop_now() time, never later than the server's limit */
};

/* Fills in `response`, which is zeroed and initialised. */
typedef struct err *rpc_handler(struct task *self, struct rpc_call *call, const void *request,
                                void *response);

struct rpc_method {
    const char *name; /* "Probe", as in the service's descriptor */
    rpc_handler *handler;
};

struct rpc_service {
    const ProtobufCServiceDescriptor *descriptor;
    const struct rpc_method *methods;
    size_t n_methods;
    void *ctx;
};

/* How a call ended; valid while `finished` runs. */
struct rpc_outcome {
    const char *method;              /* "/csi.v1.Identity/Probe"; "unknown" for one not served */
    const ProtobufCMessage *request; /* NULL if none could be read */
    const struct err *err;           /* NULL for success */
    uint64_t duration_ms;
};

struct rpc_server_config {
    const char *const *endpoints; /* "unix:///csi/csi.sock", "/csi/csi.sock"; NULL at the end */
    const struct rpc_service *services;
    size_t n_services;
    unsigned max_calls;       /* under way at once; 0: 1000 */
    uint64_t max_duration_ms; /* also for callers that would wait longer; 0: 10 minutes */

    /* Called once for every call, before it is answered, to log and to count it. */
    void (*finished)(void *ctx, const struct rpc_outcome *outcome);
    void *finished_ctx;
};

/* Listens, with sockets of mode 0660. A socket that nobody listens on any more is replaced;
 * anything else at its path is an error: INVALID for an endpoint that could never be right,
 * UNAVAILABLE if it cannot be listened on; the message names it and says why. Needs a large stack:
 * not for tasks. */
struct err *rpc_server_new(struct loop *loop, const struct rpc_server_config *config,
                           struct rpc_server **ret_server) __attribute__((warn_unused_result));

/* Takes no new calls, gives those under way `grace_ms` to end, cancels the rest (their callers get
 * UNAVAILABLE), waits until every handler has returned, then frees. */
void rpc_server_close(struct task *self, struct rpc_server *server, uint64_t grace_ms);
