#include "lib/rt/subprocess.h"

#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "lib/base/alloc.h"
#include "lib/base/duration.h"
#include "lib/rt/wait.h"

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
    struct waiters changed;
};

static void on_closed(uv_handle_t *handle)
{
    struct subprocess *subprocess = handle->data;

    subprocess->open_handles--;
    waiters_wake(&subprocess->changed);
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

    if (n > 0)
        keep_last(subprocess, buf->base, (size_t)n);
    else if (n < 0)
        uv_close((uv_handle_t *)stream, on_closed);
}

/* Both handles are open afterwards, even if it fails. */
static int spawn(struct subprocess *subprocess, uv_loop_t *uv, const char *const argv[])
{
    uv_file ends[2];
    int status = uv_pipe(ends, UV_NONBLOCK_PIPE, 0);

    if (status < 0)
        abort(); /* no more descriptors: nothing else would work either */

    uv_stdio_container_t stdio[3] = {
        {.flags = UV_IGNORE},
        {.flags = UV_INHERIT_FD, .data.fd = ends[1]},
        {.flags = UV_INHERIT_FD, .data.fd = ends[1]},
    };
    uv_process_options_t options = {
        .file = argv[0],
        .args = (char **)(uintptr_t)argv,
        .exit_cb = on_exit_of_process,
        .stdio = stdio,
        .stdio_count = 3,
        .flags = UV_PROCESS_DETACHED, /* a process group of its own */
    };

    uv_pipe_init(uv, &subprocess->pipe, 0);
    uv_pipe_open(&subprocess->pipe, ends[0]);
    subprocess->pipe.data = subprocess->process.data = subprocess;
    subprocess->open_handles = 2;
    status = uv_spawn(uv, &subprocess->process, &options);
    close(ends[1]);
    return status;
}

/* Until the process has exited and closed its output; TIMEOUT or CANCELED ends it by force. */
static struct err *supervise(struct task *self, struct subprocess *subprocess, uint64_t deadline)
{
    struct err *err = NULL;

    while (!err && subprocess->open_handles > 0)
        err = wait_for_change(self, &subprocess->changed, deadline);
    if (err && !subprocess->exited)
        kill(-subprocess->process.pid, SIGKILL); /* with the children that it started */
    while (!subprocess->exited)
        wait_through(self, &subprocess->changed);
    /* A grandchild may hold the pipe open for ever. */
    if (!uv_is_closing((uv_handle_t *)&subprocess->pipe))
        uv_close((uv_handle_t *)&subprocess->pipe, on_closed);
    while (subprocess->open_handles > 0)
        wait_through(self, &subprocess->changed);
    return err;
}

struct err *subprocess_run(struct task *self, const char *const argv[], uint64_t timeout_ms,
                           struct subprocess_result *ret)
{
    struct loop *loop = loop_of(self);
    CLEANUP(freep) struct subprocess *subprocess = mem_alloc(sizeof *subprocess);

    assert(loop_uv(loop));
    waiters_init(&subprocess->changed);

    int status = spawn(subprocess, loop_uv(loop), argv);
    if (status < 0) {
        uv_close((uv_handle_t *)&subprocess->process, on_closed);
        uv_close((uv_handle_t *)&subprocess->pipe, on_closed);
        while (subprocess->open_handles > 0)
            wait_through(self, &subprocess->changed);
        return err_new(status == UV_ENOENT ? ERR_NOT_FOUND : ERR_INTERNAL, "%s: %s", argv[0],
                       uv_strerror(status));
    }
    uv_read_start((uv_stream_t *)&subprocess->pipe, on_space_wanted, on_output);

    struct err *err = supervise(self, subprocess, loop_deadline(loop, timeout_ms));
    if (err) {
        char allowed[DURATION_SIZE];

        duration_format(timeout_ms, allowed);
        return err_wrap(err, "%s (allowed %s)", argv[0], allowed);
    }
    while (subprocess->length && subprocess->output[subprocess->length - 1] == '\n')
        subprocess->length--;
    subprocess->output[subprocess->length] = '\0';
    ret->exit_status = subprocess->exit_status;
    memcpy(ret->output, subprocess->output, subprocess->length + 1);
    return NULL;
}
