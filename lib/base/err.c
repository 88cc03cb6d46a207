#include "lib/base/err.h"

#include <assert.h>
#include <stdarg.h>

#include "lib/base/alloc.h"
#include "lib/base/utf8.h"

struct err {
    enum err_kind kind;
    uint64_t retry_after_ms;
    char *message;
    char *code;
};

static const struct {
    int grpc_status;
    enum err_retry retry;
    bool transient;
    const char *reason;
} kinds[] = {
#define ERR_KIND_ROW(kind, grpc, retry, transient, reason)                                         \
    [ERR_##kind] = {grpc, retry, transient, reason},
    ERR_KINDS(ERR_KIND_ROW)
#undef ERR_KIND_ROW
};

/* Messages quote other programs and answers from the network, which may hold anything. */
static void make_one_line(char *text)
{
    utf8_repair(text);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = ' ';
}

static struct err *make(enum err_kind kind, uint64_t retry_after_ms, char *message)
{
    struct err *err = mem_alloc(sizeof *err);

    if (!message[0]) {
        free(message);
        message = mem_strdup(err_kind_reason(kind));
    }
    make_one_line(message);
    *err = (struct err){.kind = kind, .retry_after_ms = retry_after_ms, .message = message};
    return err;
}

struct err *err_new(enum err_kind kind, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    struct err *err = make(kind, 0, mem_vprintf(format, args));
    va_end(args);
    return err;
}

struct err *err_throttled(uint64_t after_ms, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    struct err *err = make(ERR_THROTTLED, after_ms, mem_vprintf(format, args));
    va_end(args);
    return err;
}

struct err *err_wrap(struct err *cause, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    CLEANUP(freep) char *context = mem_vprintf(format, args);
    va_end(args);

    char *joined = mem_printf("%s: %s", context, cause->message);
    make_one_line(joined);
    free(cause->message);
    cause->message = joined;
    return cause;
}

struct err *err_with_code(struct err *err, const char *code)
{
    char *copy = mem_strdup(code);

    free(err->code);
    err->code = copy;
    return err;
}

struct err *err_as(struct err *err, enum err_kind kind)
{
    err->kind = kind;
    return err;
}

void err_free(struct err *err)
{
    if (!err)
        return;
    free(err->message);
    free(err->code);
    free(err);
}

struct err *err_unless(struct err *err, enum err_kind kind)
{
    if (!err || err->kind != kind)
        return err;
    err_free(err);
    return NULL;
}

enum err_kind err_kind(const struct err *err)
{
    return err->kind;
}

const char *err_message(const struct err *err)
{
    return err->message;
}

const char *err_code(const struct err *err)
{
    return err->code;
}

uint64_t err_retry_after_ms(const struct err *err)
{
    return err->retry_after_ms;
}

int err_kind_grpc_status(enum err_kind kind)
{
    assert(kind < ERR_KIND_COUNT);
    return kinds[kind].grpc_status;
}

enum err_retry err_kind_retry(enum err_kind kind)
{
    assert(kind < ERR_KIND_COUNT);
    return kinds[kind].retry;
}

bool err_is_transient(const struct err *err)
{
    return kinds[err->kind].transient;
}

const char *err_kind_reason(enum err_kind kind)
{
    assert(kind < ERR_KIND_COUNT);
    return kinds[kind].reason;
}
