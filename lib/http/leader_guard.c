#include "lib/http/leader_guard.h"

#include <string.h>

#include "lib/base/list.h"

/* The guard's leave, and that of whoever made the request. */
struct leave {
    const struct leader_guard *guard;
    const struct http_request *request;
};

static bool may_send(void *ctx)
{
    const struct leave *leave = ctx;
    const struct http_request *request = leave->request;

    return leave->guard->allowed(leave->guard->ctx) &&
           (!request->may_send || request->may_send(request->may_send_ctx));
}

static struct err *exchange(struct http_transport *transport, struct task *self,
                            const struct http_request *request, struct http_response *ret)
{
    struct leader_guard *guard = CONTAINER_OF(transport, struct leader_guard, transport);
    struct leave leave = {guard, request};
    struct http_request guarded = *request;

    if (request->changes_nothing || !request->method || strcmp(request->method, "GET") == 0)
        return http_exchange(self, guard->inner, request, ret);
    if (!guard->allowed(guard->ctx))
        return err_new(ERR_CANCELED, "%s was not sent: this process is no longer the leader",
                       request->method);
    /* And once more when it has a connection, which may take a while. */
    guarded.may_send = may_send;
    guarded.may_send_ctx = &leave;
    return http_exchange(self, guard->inner, &guarded, ret);
}

static struct err *open_stream(struct http_transport *transport, struct task *self,
                               const struct http_request *request,
                               struct http_response *ret_response, struct http_stream **ret_stream)
{
    struct leader_guard *guard = CONTAINER_OF(transport, struct leader_guard, transport);

    return guard->inner->open(guard->inner, self, request, ret_response, ret_stream);
}

void leader_guard_init(struct leader_guard *guard, struct http_transport *inner,
                       bool (*allowed)(void *ctx), void *ctx)
{
    *guard = (struct leader_guard){
        .transport = {.exchange = exchange, .open = open_stream},
        .inner = inner,
        .allowed = allowed,
        .ctx = ctx,
    };
}
