#include "test/unit/scheduler-extender/watched.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

static struct watched *watched_of(struct http_transport *transport)
{
    return CONTAINER_OF(transport, struct watched, transport);
}

static char *with_double_quotes(char *text)
{
    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    return text;
}

static void answer(struct http_response *ret, int status, char *body)
{
    ret->status = status;
    ret->body = body;
    ret->body_length = strlen(body);
}

static void take_patch(struct watched *watched, struct task *self,
                       const struct http_request *request)
{
    size_t length = strlen(watched->patches);

    assert_string_equal(request->method, "PATCH");
    watched->n_patches++;
    snprintf(watched->patches + length, sizeof watched->patches - length, "%lld %s %s\n",
             (long long)(loop_wall_us(watched->loop) / 100000 % 1000), strstr(request->url, "/api"),
             request->body);
    if (++watched->under_way > watched->most_under_way)
        watched->most_under_way = watched->under_way;
    err_free(task_sleep(self, PATCH_MS));
    watched->under_way--;
}

static struct err *exchange(struct http_transport *transport, struct task *self,
                            const struct http_request *request, struct http_response *ret)
{
    struct watched *watched = watched_of(transport);

    if (request->body) {
        take_patch(watched, self, request);
        answer(ret, watched->patch_status,
               mem_strdup(watched->patch_status == 200 ? "{}" : "{\"kind\":\"Status\"}"));
        return NULL;
    }
    answer(ret, 200,
           with_double_quotes(
               mem_printf("{'metadata':{'resourceVersion':'9'},'items':[%s]}", watched->items)));
    return NULL;
}

static struct err *read_events(struct http_stream *stream, struct task *self, uint64_t deadline,
                               const char **ret_data, size_t *ret_length)
{
    struct watched *watched = CONTAINER_OF(stream, struct watched, stream);

    while (!watched->event)
        TRY(wait_for_change(self, &watched->said, deadline));
    free(watched->read);
    watched->read = TAKE_PTR(watched->event);
    *ret_data = watched->read;
    *ret_length = strlen(watched->read);
    return NULL;
}

static void close_stream(struct http_stream *stream)
{
    (void)stream;
}

static struct err *open_watch(struct http_transport *transport, struct task *self,
                              const struct http_request *request,
                              struct http_response *ret_response, struct http_stream **ret_stream)
{
    (void)self, (void)request;
    ret_response->status = 200;
    *ret_stream = &watched_of(transport)->stream;
    return NULL;
}

void watched_init(struct watched *watched, const char *items)
{
    char server[] = "https://server";

    *watched = (struct watched){.items = items, .patch_status = 200};
    watched->transport = (struct http_transport){exchange, open_watch};
    watched->stream = (struct http_stream){read_events, close_stream};
    waiters_init(&watched->said);
    watched->loop = loop_new_virtual(0);
    watched->kube =
        kube_new(watched->loop, &watched->transport, &(struct kube_config){.server = server});
    group_init(&watched->group, watched->loop);
}

void watched_say(struct watched *watched, const char *type, const char *object)
{
    assert_null(watched->event);
    watched->event = with_double_quotes(mem_printf("{'type':'%s','object':%s}\n", type, object));
    waiters_wake(&watched->said);
    loop_advance(watched->loop, 1);
}

static void stop(struct task *self, void *arg)
{
    struct watched *watched = arg;

    group_close(self, &watched->group);
}

void watched_fini(struct watched *watched)
{
    loop_spawn(watched->loop, "stop", stop, watched);
    loop_run(watched->loop);
    kube_free(watched->kube);
    loop_free(watched->loop);
    free(watched->event);
    free(watched->read);
}
