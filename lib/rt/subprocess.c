#include "lib/rt/subprocess.h"

#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "lib/base/alloc.h"
#include "lib/base/duration.h"

/* Lives on the heap because libuv's handles do until their close callbacks have run. */
struct subprocess {
    uv_process_t process;
    uv_pipe_t pipe;
    unsigned open_handles;
    bool exited;
    int exit_status;
    char output[SUBPROCESS_OUTPUT + 1];
    size_t length;
    char piece[1024];
    struct buffer *answer; /* NULL: `output` has it */
    bool too_long;         /* for the answer */
    struct timer kill;     /* when it has not ended by itself */
    struct subprocess_stop own_stop, *stop;
};

static void on_closed(uv_handle_t *handle)
{
    struct subprocess *subprocess = handle->data;

    subprocess->open_handles--;
    waiters_wake(&subprocess->stop->changed);
}

static void on_exit_of_process(uv_process_t *process, int64_t status, int signal_number)
{
    struct subprocess *subprocess = process->data;

    subprocess->exited = true;
    subprocess->exit_status = signal_number ? 128 + signal_number : (int)status;
    uv_close((uv_handle_t *)process, on_closed);
}

static void on_space_wanted(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    struct subprocess *subprocess = handle->data;

    (void)suggested;
    *buf = uv_buf_init(subprocess->piece, sizeof subprocess->piece);
}

static void keep_last(struct subprocess *subprocess, const char *data, size_t length)
{
    size_t total = subprocess->length + length;

    if (total > SUBPROCESS_OUTPUT) {
        size_t drop = total - SUBPROCESS_OUTPUT;

        memmove(subprocess->output, subprocess->output + drop, subprocess->length - drop);
        subprocess->length -= drop;
    }
    memcpy(subprocess->output + subprocess->length, data, length);
    subprocess->length += length;
}

static void on_output(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct subprocess *subprocess = stream->data;

    if (n > 0 && subprocess->answer)
        subprocess->too_long |= !buffer_append(subprocess->answer, buf->base, (size_t)n);
    else if (n > 0)
        keep_last(subprocess, buf->base, (size_t)n);
    else if (n < 0)
        uv_close((uv_handle_t *)stream, on_closed);
}

/* Both handles are open afterwards, even if it fails. */
static int spawn(struct subprocess *subprocess, uv_loop_t *uv,
                 const struct subprocess_request *request)
{
    uv_file ends[2];
    int status = uv_pipe(ends, UV_NONBLOCK_PIPE, 0);

    if (status < 0)
        abort(); /* no more descriptors: nothing else would work either */

    uv_stdio_container_t stdio[3] = {
        {.flags = request->answer ? UV_INHERIT_FD : UV_IGNORE, .data.fd = STDIN_FILENO},
        {.flags = UV_INHERIT_FD, .data.fd = ends[1]},
        {.flags = UV_INHERIT_FD, .data.fd = request->answer ? STDERR_FILENO : ends[1]},
    };
    uv_process_options_t options = {
        .file = request->argv[0],
        .args = (char **)(uintptr_t)request->argv,
        .env = (char **)(uintptr_t)request->environment,
        .exit_cb = on_exit_of_process,
        .stdio = stdio,
        .stdio_count = 3,
        .flags = request->answer ? 0 : UV_PROCESS_DETACHED, /* a process group of its own */
    };

    uv_pipe_init(uv, &subprocess->pipe, 0);
    uv_pipe_open(&subprocess->pipe, ends[0]);
    subprocess->pipe.data = subprocess->process.data = subprocess;
    subprocess->open_handles = 2;
    status = uv_spawn(uv, &subprocess->process, &options);
    close(ends[1]);
    return status;
}

/* ---- its end ---- */

void subprocess_stop_init(struct subprocess_stop *stop)
{
    *stop = (struct subprocess_stop){.kill_at = TIMER_NEVER};
    waiters_init(&stop->changed);
}

void subprocess_stop_fini(struct subprocess_stop *stop)
{
    err_free(stop->why);
}

void subprocess_stop_ask(struct subprocess_stop *stop, uint64_t kill_at, struct err *why)
{
    if (stop->why)
        err_free(why);
    else
        stop->why = why;
    if (kill_at < stop->kill_at)
        stop->kill_at = kill_at;
    waiters_wake(&stop->changed);
}

struct err *subprocess_stop_reason(const struct subprocess_stop *stop)
{
    return stop->why ? err_new(err_kind(stop->why), "%s", err_message(stop->why)) : NULL;
}

/* With the children that it started, if they are a group of their own. */
static void signal_all(const struct subprocess *subprocess, int signal)
{
    if (!subprocess->exited)
        kill(subprocess->answer ? subprocess->process.pid : -subprocess->process.pid, signal);
}

static void kill_all(void *ctx)
{
    signal_all(ctx, SIGKILL);
}

static void end(struct task *self, struct subprocess *subprocess, uint64_t kill_at)
{
    struct loop *loop = loop_of(self);

    signal_all(subprocess, kill_at > loop_now(loop) ? SIGTERM : SIGKILL);
    while (!subprocess->exited) {
        uint64_t due = kill_at < subprocess->stop->kill_at ? kill_at : subprocess->stop->kill_at;

        loop_start_timer(loop, &subprocess->kill, due, kill_all, subprocess);
        wait_uninterruptible(self, &subprocess->stop->changed);
    }
    loop_stop_timer(loop, &subprocess->kill);
}

/* Until the process has exited and closed its output, or has to end before. */
static struct err *supervise(struct task *self, struct subprocess *subprocess, uint64_t deadline,
                             uint64_t grace_ms)
{
    struct err *err = NULL;

    while (!err && subprocess->open_handles > 0) {
        err = subprocess_stop_reason(subprocess->stop);
        if (err)
            end(self, subprocess, subprocess->stop->kill_at);
        else if ((err = wait_for_change(self, &subprocess->stop->changed, deadline)))
            end(self, subprocess, loop_deadline(loop_of(self), grace_ms));
    }
    /* A grandchild may hold the pipe open for ever. */
    if (!uv_is_closing((uv_handle_t *)&subprocess->pipe))
        uv_close((uv_handle_t *)&subprocess->pipe, on_closed);
    while (subprocess->open_handles > 0)
        wait_uninterruptible(self, &subprocess->stop->changed);
    return err;
}

/* ---- its life ---- */

static struct err *start(struct task *self, struct subprocess *subprocess,
                         const struct subprocess_request *request)
{
    uv_loop_t *uv = loop_uv(loop_of(self));

    assert(uv);
    TRY(subprocess_stop_reason(subprocess->stop));
    int status = spawn(subprocess, uv, request);
    if (status >= 0) {
        uv_read_start((uv_stream_t *)&subprocess->pipe, on_space_wanted, on_output);
        return NULL;
    }
    uv_close((uv_handle_t *)&subprocess->process, on_closed);
    uv_close((uv_handle_t *)&subprocess->pipe, on_closed);
    while (subprocess->open_handles > 0)
        wait_uninterruptible(self, &subprocess->stop->changed);
    return err_new(status == UV_ENOENT ? ERR_NOT_FOUND : ERR_INTERNAL, "%s", uv_strerror(status));
}

static struct err *run(struct task *self, const struct subprocess_request *request,
                       struct subprocess *subprocess)
{
    char allowed[DURATION_SIZE];

    struct err *err = start(self, subprocess, request);
    if (!err) {
        uint64_t deadline = loop_deadline(loop_of(self), request->timeout_ms);

        err = supervise(self, subprocess, deadline, request->grace_ms);
    }
    if (!err && subprocess->too_long)
        err = err_new(ERR_OUT_OF_RANGE, "its output is longer than %zu bytes",
                      subprocess->answer->limit);
    if (!err)
        return NULL;
    if (err_kind(err) != ERR_TIMEOUT)
        return err_wrap(err, "%s", request->argv[0]);
    duration_format(request->timeout_ms, allowed);
    return err_wrap(err, "%s (time limit %s)", request->argv[0], allowed);
}

struct err *subprocess_run(struct task *self, const struct subprocess_request *request,
                           struct subprocess_result *ret)
{
    CLEANUP(freep) struct subprocess *subprocess = mem_alloc(sizeof *subprocess);

    subprocess_stop_init(&subprocess->own_stop);
    subprocess->stop = request->stop ? request->stop : &subprocess->own_stop;
    subprocess->answer = request->answer;
    struct err *err = run(self, request, subprocess);
    explicit_bzero(subprocess->piece, sizeof subprocess->piece); /* answers may be secrets */
    if (err)
        return err;
    while (subprocess->length && subprocess->output[subprocess->length - 1] == '\n')
        subprocess->length--;
    subprocess->output[subprocess->length] = '\0';
    ret->exit_status = subprocess->exit_status;
    memcpy(ret->output, subprocess->output, subprocess->length + 1);
    return NULL;
}
