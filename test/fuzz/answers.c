#include "test/fuzz/answers.h"

#include <stdarg.h>

#include "lib/base/list.h"
#include "lib/base/log.h"
#include "lib/rt/wait.h"

void __wrap_log_write(enum log_level level, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void __wrap_log_write(enum log_level level, const char *file, int line, const char *format, ...)
{
    va_list args;

    (void)level, (void)file, (void)line;
    va_start(args, format);
    free(mem_vprintf(format, args));
    va_end(args);
}

/* The text up to a separator, which is cut off; the rest if there is none. */
static char *take_until(char **rest, const char *separator)
{
    char *begin = *rest, *end = begin ? strstr(begin, separator) : NULL;

    *rest = end ? end + strlen(separator) : NULL;
    if (end)
        *end = '\0';
    return begin;
}

static void take_header(char *line, struct http_response *ret)
{
    char *value = strchr(line, ':');

    if (!value || ret->n_headers == HTTP_MAX_HEADERS)
        return;
    *value++ = '\0';
    ARRAY_ADD(ret->headers, ret->n_headers) =
        (struct http_header){mem_strdup(line), mem_strdup(value + strspn(value, " "))};
}

static void take_answer(char *answer, struct http_response *ret)
{
    char *body = answer, *head = take_until(&body, "\n\n"), *line;

    *ret = (struct http_response){.status = (int)(strtoll(strsep(&head, "\n"), NULL, 10) % 1000)};
    while ((line = strsep(&head, "\n")))
        take_header(line, ret);
    ret->body = mem_strdup(body ? body : "");
    ret->body_length = strlen(ret->body);
}

static struct err *exchange(struct http_transport *transport, struct task *self,
                            const struct http_request *request, struct http_response *ret)
{
    struct answers *answers = CONTAINER_OF(transport, struct answers, transport);

    TRY(task_sleep(self, 1));
    if (request->may_send && !request->may_send(request->may_send_ctx))
        return err_new(ERR_CANCELED, "not sent");
    if (answers->token && strstr(request->url, "oauth2")) {
        *ret = (struct http_response){.status = 200, .body = mem_strdup(answers->token)};
        ret->body_length = strlen(ret->body);
        return NULL;
    }
    char *answer = take_until(&answers->rest, "\n---\n");
    if (!answer)
        return err_new(ERR_UNAVAILABLE, "the connection broke");
    answers->taken++;
    take_answer(answer, ret);
    return NULL;
}

void answers_init(struct answers *answers, const char *text)
{
    *answers = (struct answers){.transport = {.exchange = exchange}, .text = mem_strdup(text)};
    answers->rest = answers->text;
}

void answers_fini(struct answers *answers)
{
    free(answers->text);
}

struct returning {
    task_fn *fn;
    void *ctx;
    bool returned;
};

static void run(struct task *self, void *arg)
{
    struct returning *returning = arg;

    returning->fn(self, returning->ctx);
    returning->returned = true;
}

bool task_returns(struct loop *loop, task_fn *fn, void *ctx, uint64_t ms)
{
    struct returning returning = {fn, ctx, false};

    loop_spawn(loop, "input", run, &returning);
    loop_advance(loop, ms);
    return returning.returned;
}
