#include "lib/rpc/calls.h"

#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/slice.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/utf8.h"
#include "lib/rpc/unpack.h"

enum {
    READY_CALLS = 16,

    /* On its way a byte may become three, and gRPC's receivers refuse more than 8 KiB. */
    LONGEST_TEXT = 2048,
};

struct call {
    struct rpc_call seen; /* by the handler */
    struct calls *calls;
    struct list link;
    struct task *task;
    const struct route *route; /* NULL: not served */
    bool is_refused;           /* too many are served */
    uint64_t arrival;
    struct timer timer; /* for the deadline */

    grpc_call *core;
    grpc_call_details details;
    grpc_metadata_array metadata;
    grpc_byte_buffer *request, *response; /* as they travel; NULL if none */
    ProtobufCMessage *decoded;            /* the request, in the arena; NULL until it is read */
    int is_given_up;                      /* by its caller; valid once the call is closed */
    struct err *err;                      /* to be answered instead of the response */
    grpc_slice text;                      /* of err */

    struct completion_event arrived, received, closed, sent;
    bool is_received;
    unsigned n_expected; /* of the last three, those that have not come */
    struct waiters changed;
};

static void call_free(struct call *call)
{
    grpc_call_details_destroy(&call->details);
    grpc_metadata_array_destroy(&call->metadata);
    grpc_byte_buffer_destroy(call->request);
    grpc_byte_buffer_destroy(call->response);
    grpc_slice_unref(call->text);
    if (call->core)
        grpc_call_unref(call->core);
    arena_free(call->seen.arena);
    err_free(call->err);
    free(call);
}

/* ---- what gRPC is asked and what it says ---- */

static void start(struct call *call, const grpc_op *ops, size_t n, struct completion_event *event)
{
    if (grpc_call_start_batch(call->core, ops, n, event, NULL) != GRPC_CALL_OK)
        abort(); /* only misuse is refused */
}

static void note_event(struct call *call)
{
    call->n_expected--;
    waiters_wake(&call->changed);
}

static void on_received(struct completion_event *event)
{
    struct call *call = CONTAINER_OF(event, struct call, received);

    call->is_received = true;
    note_event(call);
}

static void on_sent(struct completion_event *event)
{
    note_event(CONTAINER_OF(event, struct call, sent));
}

/* A call is closed when its answer has left, or sooner if its caller gives up. */
static void on_closed(struct completion_event *event)
{
    struct call *call = CONTAINER_OF(event, struct call, closed);

    if (call->is_given_up)
        task_cancel(call->task);
    note_event(call);
}

static void on_deadline(void *ctx)
{
    struct call *call = ctx;

    task_cancel(call->task);
}

/* ---- messages ---- */

/* What the request came in is freed, because a call may wait for long. */
static struct err *unpack(struct call *call)
{
    grpc_byte_buffer_reader reader;

    if (!call->request || !grpc_byte_buffer_reader_init(&reader, call->request))
        return err_new(ERR_INVALID, "%s: the call contains no request", call->route->path);

    grpc_slice bytes = grpc_byte_buffer_reader_readall(&reader);
    grpc_byte_buffer_reader_destroy(&reader);
    grpc_byte_buffer_destroy(TAKE_PTR(call->request));
    struct err *err = rpc_unpack(call->route->request, GRPC_SLICE_START_PTR(bytes),
                                 GRPC_SLICE_LENGTH(bytes), call->seen.arena, &call->decoded);
    grpc_slice_unref(bytes);
    return err ? err_wrap(err, "%s", call->route->path) : NULL;
}

static struct err *pack(struct call *call, const ProtobufCMessage *response)
{
    size_t size = protobuf_c_message_get_packed_size(response);

    if (size > LARGEST_MESSAGE)
        return err_new(ERR_EXHAUSTED, "%s: the answer has %zu bytes, but at most %d can be sent",
                       call->route->path, size, LARGEST_MESSAGE);

    grpc_slice bytes = grpc_slice_malloc(size);
    protobuf_c_message_pack(response, GRPC_SLICE_START_PTR(bytes));
    call->response = grpc_raw_byte_buffer_create(&bytes, 1);
    grpc_slice_unref(bytes);
    return NULL;
}

static grpc_slice status_text(const char *text)
{
    return grpc_slice_from_copied_buffer(text, utf8_cut(text, LONGEST_TEXT));
}

/* ---- the life of a call ---- */

static struct err *serve(struct task *self, struct call *call)
{
    const struct route *route = call->route;
    ProtobufCMessage *response;

    if (call->is_refused)
        return err_new(ERR_EXHAUSTED, "too many calls: %u are already in progress",
                       call->calls->max_calls);
    if (!route)
        return err_new(ERR_UNIMPLEMENTED, "unknown method %.*s",
                       (int)GRPC_SLICE_LENGTH(call->details.method),
                       (const char *)GRPC_SLICE_START_PTR(call->details.method));

    while (!call->is_received)
        TRY(wait_for_change(self, &call->changed, TIMER_NEVER));
    if (!call->received.ok)
        return err_new(ERR_CANCELED, "%s ended before its request arrived", route->path);
    TRY(unpack(call));
    response = arena_alloc(call->seen.arena, route->response->sizeof_message);
    protobuf_c_message_init(route->response, response);
    TRY(route->handler(self, &call->seen, call->decoded, response));
    return pack(call, response);
}

/* A handler knows only that it was cancelled; its caller should hear why. */
static struct err *explain(const struct call *call, struct err *err)
{
    if (!err || err_kind(err) != ERR_CANCELED)
        return err;

    CLEANUP(err_freep) struct err *cancelled = err;
    if (loop_now(call->calls->loop) >= call->seen.deadline)
        return err_new(ERR_TIMEOUT, "the deadline of the call has passed: %s",
                       err_message(cancelled));
    if (call->calls->cancelled)
        return err_new(ERR_UNAVAILABLE, "the server is stopping: %s", err_message(cancelled));
    return TAKE_PTR(cancelled);
}

/* This and call_end run on the loop's stack, which is large enough for gRPC. */
static void send_answer(void *arg)
{
    struct call *call = arg;
    struct err *err = call->err;
    grpc_op ops[3] = {{.op = GRPC_OP_SEND_INITIAL_METADATA},
                      {.op = GRPC_OP_SEND_STATUS_FROM_SERVER},
                      {.op = GRPC_OP_SEND_MESSAGE}};

    if (err) {
        call->text = status_text(err_message(err));
        ops[1].data.send_status_from_server.status =
            (grpc_status_code)err_kind_grpc_status(err_kind(err));
        ops[1].data.send_status_from_server.status_details = &call->text;
    }
    ops[2].data.send_message.send_message = call->response;
    start(call, ops, err ? 2 : 3, &call->sent);
}

static void call_end(void *arg)
{
    struct call *call = arg;

    call->calls->n_under_way--;
    waiters_wake(&call->calls->changed);
    call_free(call);
}

static void call_main(struct task *self, void *arg)
{
    struct call *call = arg;
    struct calls *calls = call->calls;
    struct loop *loop = calls->loop;

    call->err = explain(call, serve(self, call));
    calls->n_served -= !call->is_refused;
    loop_stop_timer(loop, &call->timer);
    calls->finished(calls->finished_ctx, &(struct rpc_outcome){
                                             .method = call->seen.method,
                                             .request = call->decoded,
                                             .err = call->err,
                                             .duration_ms = loop_now(loop) - call->arrival,
                                         });

    loop_post(loop, send_answer, call);
    while (call->n_expected > 0)
        wait_uninterruptible(self, &call->changed);
    list_remove(&call->link);
    loop_post(loop, call_end, call);
}

static const struct route *find_route(const struct calls *calls, grpc_slice path)
{
    for (size_t i = 0; i < calls->n_routes; i++)
        if (grpc_slice_str_cmp(path, calls->routes[i].path) == 0)
            return &calls->routes[i];
    return NULL;
}

static uint64_t deadline_of(const struct call *call)
{
    gpr_timespec left =
        gpr_time_sub(gpr_convert_clock_type(call->details.deadline, GPR_CLOCK_MONOTONIC),
                     gpr_now(GPR_CLOCK_MONOTONIC));
    int32_t left_ms = gpr_time_to_millis(left); /* INT32_MAX for a deadline that never comes */
    uint64_t wanted_ms = left_ms > 0 ? (uint64_t)left_ms : 0;
    uint64_t longest_ms = call->calls->max_duration_ms;

    return call->arrival + (wanted_ms < longest_ms ? wanted_ms : longest_ms);
}

static void calls_lay_ready(struct calls *calls);

static void on_arrived(struct completion_event *event)
{
    struct call *call = CONTAINER_OF(event, struct call, arrived);
    struct calls *calls = call->calls;
    grpc_op closing = {.op = GRPC_OP_RECV_CLOSE_ON_SERVER,
                       .data.recv_close_on_server.cancelled = &call->is_given_up};
    grpc_op receiving = {.op = GRPC_OP_RECV_MESSAGE,
                         .data.recv_message.recv_message = &call->request};

    calls->n_ready--;
    if (!event->ok) { /* a server that is closing gives it back unused */
        waiters_wake(&calls->changed);
        call_free(call);
        return;
    }
    calls_lay_ready(calls);

    call->is_refused = calls->n_served >= calls->max_calls;
    calls->n_served += !call->is_refused;
    call->route = find_route(calls, call->details.method);
    call->arrival = loop_now(calls->loop);
    call->n_expected = 3;
    call->seen = (struct rpc_call){.method = call->route ? call->route->path : "unknown",
                                   .ctx = call->route ? call->route->ctx : NULL,
                                   .arena = arena_new(),
                                   .deadline = deadline_of(call)};
    list_append(&calls->under_way, &call->link);
    calls->n_under_way++;
    call->task = loop_spawn(calls->loop, call->seen.method, call_main, call);
    loop_start_timer(calls->loop, &call->timer, call->seen.deadline, on_deadline, call);
    start(call, &closing, 1, &call->closed);
    start(call, &receiving, 1, &call->received);
}

static void calls_lay_ready(struct calls *calls)
{
    struct call *call = mem_alloc(sizeof *call);

    call->calls = calls;
    call->arrived.handle = on_arrived;
    call->received.handle = on_received;
    call->closed.handle = on_closed;
    call->sent.handle = on_sent;
    call->text = grpc_empty_slice();
    waiters_init(&call->changed);
    grpc_call_details_init(&call->details);
    grpc_metadata_array_init(&call->metadata);
    calls->n_ready++;
    if (grpc_server_request_call(calls->core, &call->core, &call->details, &call->metadata,
                                 calls->queue->core, calls->queue->core,
                                 &call->arrived) != GRPC_CALL_OK)
        abort();
}

void calls_start(struct calls *calls)
{
    list_init(&calls->under_way);
    waiters_init(&calls->changed);
    for (unsigned i = 0; i < READY_CALLS; i++)
        calls_lay_ready(calls);
}

void calls_cancel(struct calls *calls)
{
    calls->cancelled = true;
    LIST_FOREACH(&calls->under_way, link)
        task_cancel(CONTAINER_OF(link, struct call, link)->task);
}

bool calls_are_over(const struct calls *calls)
{
    return calls->n_ready == 0 && calls->n_under_way == 0;
}
