#include "test/unit/test/sim/kube/stage.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/json/parse.h"

struct play {
    struct stage stage;
    void (*body)(struct task *self, struct stage *stage);
};

static void run(struct task *self, void *arg)
{
    struct play *play = arg;

    play->body(self, &play->stage);
    kube_server_close(self, play->stage.server);
}

void stage_play(void (*body)(struct task *self, struct stage *stage))
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    const struct kube_config config = {.server = (char *)(uintptr_t) "http://kube"};
    struct kube_server *server = kube_server_new(loop);
    struct kube *kube = kube_new(loop, kube_server_http(server), &config);
    struct play play = {.stage = {loop, server, kube}, .body = body};

    loop_spawn(loop, "test", run, &play);
    loop_run(loop);
    kube_free(kube);
}

static char *quoted(const char *text)
{
    char *copy = mem_strdup(text);

    for (char *c = copy; c && *c; c++)
        if (*c == '\'')
            *c = '"';
    return copy;
}

json_t *stage_json(const char *text)
{
    CLEANUP(freep) char *copy = quoted(text);
    json_t *json = NULL;

    assert_ok(json_parse_here(copy, strlen(copy), &json));
    return json;
}

void stage_create(struct stage *stage, const struct api_resource *resource, const char *namespace_,
                  const char *json)
{
    CLEANUP(json_decrefp) json_t *object = stage_json(json);

    assert_ok(kube_server_create(stage->server, resource, namespace_, object));
}

void stage_patch(struct stage *stage, const struct api_resource *resource, const char *namespace_,
                 const char *name, const char *subresource, const char *json)
{
    CLEANUP(json_decrefp) json_t *patch = stage_json(json);

    assert_ok(kube_server_patch(stage->server, resource, namespace_, name, subresource, patch));
}

const char *stage_value(struct stage *stage, const struct api_resource *resource,
                        const char *namespace_, const char *name, const char *path)
{
    static char number[32];
    const json_t *value = kube_server_get(stage->server, resource, namespace_, name);

    assert_non_null(value);
    for (const char *rest = path; rest; rest = strchr(rest, '.') ? strchr(rest, '.') + 1 : NULL)
        value = json_object_getn(value, rest, strcspn(rest, "."));
    if (json_is_integer(value)) {
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value));
        return number;
    }
    return json_is_string(value) ? json_string_value(value) : "";
}

static struct http_request request_of(struct stage *stage, const char *method, const char *url,
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
        .deadline = loop_deadline(stage->loop, 60 * 1000),
    };
}

int stage_ask(struct task *self, struct stage *stage, const char *method, const char *path,
              const char *body, char **ret_body)
{
    CLEANUP(http_response_finip) struct http_response response = {0};
    CLEANUP(freep) char *url = mem_printf("http://kube%s", path);
    CLEANUP(freep) char *text = quoted(body);
    struct http_request request = request_of(stage, method, url, text);

    assert_ok(http_exchange(self, kube_server_http(stage->server), &request, &response));
    *ret_body = TAKE_PTR(response.body);
    return response.status;
}

struct http_stream *stage_watch(struct task *self, struct stage *stage, const char *path)
{
    CLEANUP(http_response_finip) struct http_response response = {0};
    CLEANUP(freep) char *url = mem_printf("http://kube%s", path);
    struct http_request request = request_of(stage, "GET", url, NULL);
    struct http_transport *http = kube_server_http(stage->server);
    struct http_stream *stream = NULL;

    assert_ok(http->open(http, self, &request, &response, &stream));
    assert_int_equal(response.status, 200);
    return stream;
}

void stage_expect_line_at(struct task *self, struct stage *stage, struct http_stream *stream,
                          const char *text, const char *file, int line)
{
    CLEANUP(freep) char *wanted = quoted(text);
    const char *data;
    size_t length;

    expect_ok(stream->read(stream, self, loop_deadline(stage->loop, 60 * 1000), &data, &length),
              file, line);
    CLEANUP(freep) char *got = mem_strndup(data, length);
    if (length > 0 && strstr(got, wanted) && got[length - 1] == '\n')
        return;
    print_error("expected %s\ngot %s\n", wanted, got);
    _fail(file, line);
}
