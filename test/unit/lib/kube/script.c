#include "test/unit/lib/kube/script.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/list.h"
#include "lib/rt/wait.h"
#include "test/unit/expect.h"

struct scripted_stream {
    struct http_stream stream;
    struct script *script;
    const struct script_piece *piece; /* the next one */
    uint64_t due;                     /* when it comes */
    char *text;                       /* that the reader looks at */
};

char *script_text(const char *text)
{
    char *copy = mem_strdup(text);

    for (char *c = copy; c && *c; c++)
        if (*c == '\'')
            *c = '"';
    return copy;
}

bool script_matches(const char *pattern, const char *text)
{
    if (*pattern == '*')
        return script_matches(pattern + 1, text) || (*text && script_matches(pattern, text + 1));
    return *pattern == *text && (!*text || script_matches(pattern + 1, text + 1));
}

/* ---- streams ---- */

static struct err *wait_for_piece(struct task *self, struct scripted_stream *stream,
                                  uint64_t deadline)
{
    uint64_t now = loop_now(stream->script->loop);
    uint64_t until = stream->due < deadline ? stream->due : deadline;

    if (until > now)
        TRY(task_sleep(self, until - now));
    return stream->due <= deadline ? NULL : err_new(ERR_TIMEOUT, "timed out");
}

static struct err *read_stream(struct http_stream *base, struct task *self, uint64_t deadline,
                               const char **ret_data, size_t *ret_length)
{
    struct scripted_stream *stream = CONTAINER_OF(base, struct scripted_stream, stream);

    TRY(wait_for_piece(self, stream, deadline));
    if (!stream->piece->text)
        return err_new(ERR_UNAVAILABLE, "the connection broke");
    free(stream->text);
    *ret_data = stream->text = script_text(stream->piece->text);
    *ret_length = strlen(stream->text);
    if (*ret_length > 0)
        stream->due += (++stream->piece)->after_ms;
    return NULL;
}

static void close_stream(struct http_stream *base)
{
    struct scripted_stream *stream = CONTAINER_OF(base, struct scripted_stream, stream);

    free(stream->text);
    free(stream);
}

static struct http_stream *new_stream(struct script *script, const struct script_piece *pieces)
{
    struct scripted_stream *stream = mem_alloc(sizeof *stream);

    *stream = (struct scripted_stream){
        .stream = {.read = read_stream, .close = close_stream},
        .script = script,
        .piece = pieces,
        .due = loop_now(script->loop) + pieces->after_ms,
    };
    return &stream->stream;
}

/* ---- requests ---- */

/* A patch has a type of its own, by which the server knows what the body is. */
static void check_content_type(const struct http_request *request)
{
    const char *type = http_header_find(request->headers, request->n_headers, "Content-Type");

    if (!request->body)
        assert_null(type);
    else if (strcmp(request->method, "PATCH") == 0)
        assert_string_equal(type, request->body[0] == '[' ? "application/json-patch+json"
                                                          : "application/merge-patch+json");
    else
        assert_string_equal(type, "application/json");
}

/* All headers of a kind, in their order. */
static char *headers_of(const struct http_request *request, const char *prefix)
{
    char *text = mem_strdup("");

    for (size_t i = 0; i < request->n_headers; i++) {
        const struct http_header *header = &request->headers[i];

        if (strncmp(header->name, prefix, strlen(prefix)) != 0)
            continue;
        char *longer =
            mem_printf("%s%s%s: %s", text, *text ? ", " : "", header->name, header->value);
        free(text);
        text = longer;
    }
    return text;
}

static void check_request(const struct script_step *step, const struct http_request *request)
{
    const char *bearer = http_header_find(request->headers, request->n_headers, "Authorization");
    CLEANUP(freep) char *wanted = script_text(step->request);
    CLEANUP(freep)
    char *got = mem_printf("%s %s%s%s", request->method, request->url + strlen(SCRIPT_SERVER),
                           request->body ? " " : "", request->body ? request->body : "");
    CLEANUP(freep) char *authorization = step->token ? mem_printf("Bearer %s", step->token) : NULL;

    assert_memory_equal(request->url, SCRIPT_SERVER, strlen(SCRIPT_SERVER));
    if (!script_matches(wanted, got))
        fail_msg("asked for %s instead of %s", got, wanted);
    if (authorization)
        assert_string_equal(bearer, authorization);
    if (step->accept)
        assert_string_equal(http_header_find(request->headers, request->n_headers, "Accept"),
                            step->accept);
    CLEANUP(freep) char *as = headers_of(request, "Impersonate-");
    if (step->as)
        assert_string_equal(as, step->as);
    check_content_type(request);
}

static struct err *no_answer(struct task *self, struct script *script,
                             const struct http_request *request)
{
    script->unanswered++;
    TRY(task_sleep(self, request->deadline - loop_now(script->loop)));
    return err_new(ERR_TIMEOUT, "no answer");
}

/* An answer takes at least a moment, so that others run meanwhile. */
static struct err *wait_for_answer(struct task *self, struct script *script,
                                   const struct script_step *step, uint64_t deadline)
{
    uint64_t left = deadline - loop_now(script->loop);

    TRY(task_sleep(self, !step->takes_ms ? 1 : step->takes_ms < left ? step->takes_ms : left));
    return step->takes_ms <= left ? NULL : err_new(ERR_TIMEOUT, "too late");
}

static struct err *next_step(struct task *self, struct script *script,
                             const struct http_request *request, const struct script_step **ret)
{
    if (script->next == script->n)
        return no_answer(self, script, request);
    *ret = &script->steps[script->next];
    script->times[script->next++] = loop_now(script->loop);
    check_request(*ret, request);
    TRY(wait_for_answer(self, script, *ret, request->deadline));
    if ((*ret)->too_large)
        return err_new(ERR_EXHAUSTED, "the answer is too large");
    return (*ret)->status ? NULL : err_new(ERR_UNAVAILABLE, "the connection broke");
}

static void fill_response(const struct script_step *step, struct http_response *ret)
{
    *ret = (struct http_response){.status = step->status};
    ret->body = step->answer ? script_text(step->answer) : mem_strdup("");
    ret->body_length = strlen(ret->body);
    if (step->header)
        ARRAY_ADD(ret->headers, ret->n_headers) =
            (struct http_header){mem_strdup(step->header), mem_strdup(step->value)};
}

static struct err *exchange(struct http_transport *transport, struct task *self,
                            const struct http_request *request, struct http_response *ret)
{
    struct script *script = CONTAINER_OF(transport, struct script, transport);
    const struct script_step *step;

    TRY(next_step(self, script, request, &step));
    fill_response(step, ret);
    return NULL;
}

static struct err *open_stream(struct http_transport *transport, struct task *self,
                               const struct http_request *request,
                               struct http_response *ret_response, struct http_stream **ret_stream)
{
    struct script *script = CONTAINER_OF(transport, struct script, transport);
    const struct script_step *step;

    TRY(next_step(self, script, request, &step));
    fill_response(step, ret_response);
    if (step->status == 200)
        *ret_stream = new_stream(script, step->pieces);
    return NULL;
}

void script_init(struct script *script, struct loop *loop, const struct script_step *steps,
                 size_t n)
{
    assert_in_range(n, 0, SCRIPT_MAX_STEPS);
    *script = (struct script){
        .transport = {.exchange = exchange, .open = open_stream},
        .loop = loop,
        .steps = steps,
        .n = n,
    };
}

struct kube *script_client(struct script *script, const struct kube_config *config)
{
    char server[] = SCRIPT_SERVER;
    struct kube_config whole = config ? *config : (struct kube_config){0};

    whole.server = server;
    return kube_new(script->loop, &script->transport, &whole);
}
