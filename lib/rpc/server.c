#include "lib/rpc/server.h"

#include <errno.h>
#include <grpc/grpc_security.h>
#include <grpc/support/log.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/rpc/calls.h"
#include "lib/rpc/endpoint.h"

enum {
    MAX_CALLS = 1000,
    MAX_DURATION_MS = 10 * 60 * 1000,
    LAST_ANSWERS_MS = 1000, /* for callers that do not read what they are answered */
};

struct rpc_server {
    struct calls calls;
    struct completion_queue queue;
    struct completion_event shut_down;
    bool is_shut_down, is_gone;
};

/* ---- set-up ---- */

static void log_core(gpr_log_func_args *args)
{
    if (log_enabled(LOG_DEBUG))
        log_write(LOG_DEBUG, args->file, args->line, "gRPC: %s", args->message);
}

static const ProtobufCMethodDescriptor *method_of(const ProtobufCServiceDescriptor *service,
                                                  const char *name)
{
    const ProtobufCMethodDescriptor *method =
        protobuf_c_service_descriptor_get_method_by_name(service, name);

    if (!method)
        abort(); /* a table names a method that does not exist */
    return method;
}

static void add_routes(struct calls *calls, const struct rpc_service *service)
{
    for (size_t i = 0; i < service->n_methods; i++) {
        const struct rpc_method *row = &service->methods[i];
        const ProtobufCMethodDescriptor *method = method_of(service->descriptor, row->name);

        ARRAY_ADD(calls->routes, calls->n_routes) = (struct route){
            .path = mem_printf("/%s/%s", service->descriptor->name, row->name),
            .request = method->input,
            .response = method->output,
            .handler = row->handler,
            .ctx = service->ctx,
        };
    }
}

static grpc_server *core_new(unsigned max_calls)
{
    static char max_message[] = GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH;
    static char max_streams[] = GRPC_ARG_MAX_CONCURRENT_STREAMS;
    /* Beyond the second limit a connection has to wait, so that refusals have a bound too. */
    grpc_arg args[] = {
        {.type = GRPC_ARG_INTEGER, .key = max_message, .value.integer = LARGEST_MESSAGE},
        {.type = GRPC_ARG_INTEGER, .key = max_streams, .value.integer = 2 * (int)max_calls},
    };

    return grpc_server_create(&(grpc_channel_args){COUNT_OF(args), args}, NULL);
}

static struct err *listen_on(grpc_server *core, const char *endpoint)
{
    const char *path;

    TRY(endpoint_path(endpoint, &path));
    TRY(endpoint_check(path));

    CLEANUP(freep) char *address = mem_printf("unix:%s", path);
    grpc_server_credentials *credentials = grpc_insecure_server_credentials_create();
    int port = grpc_server_add_http2_port(core, address, credentials);
    grpc_server_credentials_release(credentials);
    if (!port)
        return err_new(ERR_UNAVAILABLE,
                       "%s: gRPC cannot listen on it (run with -v=5 to log the reason)", path);
    if (chmod(path, 0660) < 0)
        return err_new(ERR_UNAVAILABLE, "%s: %s", path, strerror(errno));
    return NULL;
}

/* What is left of a server without calls and queue. */
static void end_core(struct rpc_server *server)
{
    grpc_server_destroy(server->calls.core);
    grpc_shutdown_blocking();
}

static void server_free(struct rpc_server *server)
{
    for (size_t i = 0; i < server->calls.n_routes; i++)
        free(server->calls.routes[i].path);
    free(server->calls.routes);
    free(server);
}

/* Ends a server that has not started. */
static void abandon(struct rpc_server *server)
{
    gpr_timespec never = gpr_inf_future(GPR_CLOCK_REALTIME);
    grpc_completion_queue *queue = server->queue.core;

    grpc_server_shutdown_and_notify(server->calls.core, queue, NULL);
    grpc_completion_queue_shutdown(queue);
    while (grpc_completion_queue_next(queue, never, NULL).type != GRPC_QUEUE_SHUTDOWN)
        ;
    grpc_completion_queue_destroy(queue);
    end_core(server);
    server_free(server);
}

static struct rpc_server *server_make(struct loop *loop, const struct rpc_server_config *config)
{
    struct rpc_server *server = mem_alloc(sizeof *server);
    struct calls *calls = &server->calls;

    gpr_set_log_function(log_core);
    grpc_init();
    calls->loop = loop;
    calls->max_calls = config->max_calls ? config->max_calls : MAX_CALLS;
    calls->max_duration_ms = config->max_duration_ms ? config->max_duration_ms : MAX_DURATION_MS;
    calls->finished = config->finished;
    calls->finished_ctx = config->finished_ctx;
    for (size_t i = 0; i < config->n_services; i++)
        add_routes(calls, &config->services[i]);
    completion_queue_init(&server->queue, loop);
    calls->queue = &server->queue;
    calls->core = core_new(calls->max_calls);
    grpc_server_register_completion_queue(calls->core, server->queue.core, NULL);
    return server;
}

struct err *rpc_server_new(struct loop *loop, const struct rpc_server_config *config,
                           struct rpc_server **ret_server)
{
    struct rpc_server *server = server_make(loop, config);

    for (const char *const *endpoint = config->endpoints; *endpoint; endpoint++) {
        struct err *err = listen_on(server->calls.core, *endpoint);

        if (err) {
            abandon(server);
            return err;
        }
    }
    completion_queue_start(&server->queue);
    grpc_server_start(server->calls.core);
    calls_start(&server->calls);
    *ret_server = server;
    return NULL;
}

/* ---- the end: each step of gRPC's on the loop's stack ---- */

static void on_shut_down(struct completion_event *event)
{
    struct rpc_server *server = CONTAINER_OF(event, struct rpc_server, shut_down);

    server->is_shut_down = true;
    waiters_wake(&server->calls.changed);
}

static void shut_down(void *arg)
{
    struct rpc_server *server = arg;

    server->shut_down.handle = on_shut_down;
    grpc_server_shutdown_and_notify(server->calls.core, server->queue.core, &server->shut_down);
}

static void cut_off(void *arg)
{
    struct rpc_server *server = arg;

    grpc_server_cancel_all_calls(server->calls.core);
}

static void on_queue_ended(void *ctx)
{
    struct rpc_server *server = ctx;

    end_core(server);
    server->is_gone = true;
    waiters_wake(&server->calls.changed);
}

static void stop_queue(void *arg)
{
    struct rpc_server *server = arg;

    completion_queue_stop(&server->queue, on_queue_ended, server);
}

static void wait_until_over(struct task *self, struct calls *calls, uint64_t ms)
{
    uint64_t deadline = loop_now(calls->loop) + ms;

    while (!calls_are_over(calls)) {
        CLEANUP(err_freep) struct err *err = wait_for_change(self, &calls->changed, deadline);

        if (err)
            return;
    }
}

void rpc_server_close(struct task *self, struct rpc_server *server, uint64_t grace_ms)
{
    struct calls *calls = &server->calls;

    loop_post(calls->loop, shut_down, server);
    wait_until_over(self, calls, grace_ms);
    calls_cancel(calls);
    wait_until_over(self, calls, LAST_ANSWERS_MS);
    loop_post(calls->loop, cut_off, server);
    while (!calls_are_over(calls) || !server->is_shut_down)
        wait_uninterruptible(self, &calls->changed);
    loop_post(calls->loop, stop_queue, server);
    while (!server->is_gone)
        wait_uninterruptible(self, &calls->changed);
    server_free(server);
}
