/* simulated_api - the simulated API server (test/sim/kube) for test_simulated_api.py.
 *
 * Each line of the input is an order, and each has one line as its answer:
 *     {"method": M, "path": P, "body": {...}}  -> {"status": S, "body": {...}}
 *     {"watch": P, "events": N}                -> [event, ...], at most N, fewer if the watch ends
 *     {"compact": true}                        -> {}
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/json/parse.h"
#include "test/sim/kube/server.h"

enum { LIMIT_MS = 60 * 1000 };

static struct http_request request_of(const struct loop *loop, const char *method, const char *url,
                                      const char *body)
{
    static const struct http_header merge[] = {{"Content-Type", "application/merge-patch+json"}};

    return (struct http_request){
        .method = method,
        .url = url,
        .headers = merge,
        .n_headers = 1,
        .body = body,
        .body_length = body ? strlen(body) : 0,
        .deadline = loop_deadline(loop, LIMIT_MS),
    };
}

static json_t *parsed(const char *text, size_t length)
{
    json_t *json = json_loadb(text, length, JSON_DECODE_ANY, NULL);

    return json ? json : json_stringn(text, length);
}

static struct err *exchange(struct task *self, struct kube_server *server, const json_t *order,
                            json_t **ret)
{
    CLEANUP(http_response_finip) struct http_response response = {0};
    const json_t *body = json_object_get(order, "body");
    CLEANUP(freep) char *text = body ? json_to_text(body) : NULL;
    struct http_request request =
        request_of(loop_of(self), json_string_value(json_object_get(order, "method")),
                   json_string_value(json_object_get(order, "path")), text);

    TRY(http_exchange(self, kube_server_http(server), &request, &response));
    *ret = json_pack("{s:i, s:o}", "status", response.status, "body",
                     parsed(response.body, response.body_length));
    return NULL;
}

static struct err *watch(struct task *self, struct kube_server *server, const json_t *order,
                         json_t **ret)
{
    CLEANUP(http_response_finip) struct http_response response = {0};
    CLEANUP(http_stream_closep) struct http_stream *stream = NULL;
    CLEANUP(json_decrefp) json_t *events = json_array();
    struct http_request request =
        request_of(loop_of(self), "GET", json_string_value(json_object_get(order, "watch")), NULL);
    struct http_transport *http = kube_server_http(server);
    json_int_t most = json_integer_value(json_object_get(order, "events"));

    TRY(http->open(http, self, &request, &response, &stream));
    if (!stream)
        return err_new(ERR_INVALID, "HTTP %d: %s", response.status, response.body);
    while ((json_int_t)json_array_size(events) < most) {
        const char *data;
        size_t length;

        TRY(stream->read(stream, self, loop_deadline(loop_of(self), LIMIT_MS), &data, &length));
        if (length == 0)
            break;
        json_array_append_new(events, parsed(data, length));
    }
    *ret = TAKE_PTR(events);
    return NULL;
}

static struct err *obey(struct task *self, struct kube_server *server, const json_t *order,
                        json_t **ret)
{
    if (json_object_get(order, "watch"))
        return watch(self, server, order, ret);
    if (json_object_get(order, "method"))
        return exchange(self, server, order, ret);
    kube_server_compact(server);
    *ret = json_object();
    return NULL;
}

static void serve(struct task *self, void *arg)
{
    struct kube_server *server = arg;
    CLEANUP(freep) char *line = NULL;
    size_t size = 0;

    while (getline(&line, &size, stdin) > 0) {
        CLEANUP(json_decrefp) json_t *order = parsed(line, strlen(line));
        CLEANUP(json_decrefp) json_t *answer = NULL;
        CLEANUP(err_freep) struct err *err = obey(self, server, order, &answer);

        if (err)
            answer = json_pack("{s:s}", "error", err_message(err));
        CLEANUP(freep) char *text = json_to_text(answer);
        puts(text);
        fflush(stdout);
    }
    kube_server_close(self, server);
}

int main(void)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(1);

    loop_spawn(loop, "server", serve, kube_server_new(loop));
    loop_run(loop);
    return 0;
}
