/* subprocess.h - another program, run to its end.
 *
 * The program gets an argument vector (never a shell), no standard input, and one pipe for both of
 * its outputs, of which the last SUBPROCESS_OUTPUT bytes are kept. One that is asked for an answer
 * may talk to the person before the terminal instead. When its time is up, the calling
 * task is cancelled or somebody asks it to stop, the program gets SIGTERM, so that it can end in
 * order, and SIGKILL when it has not done so by a given time; its children get the same signals.
 * The call returns only after the program is gone. Loop's thread, real loops only.
 */
#pragma once

#include "lib/base/buffer.h"
#include "lib/rt/loop.h"
#include "lib/rt/wait.h"

enum { SUBPROCESS_OUTPUT = 4096 };

/* By which others end a program. Owned by whoever runs it, for longer than the program runs. */
struct subprocess_stop {
    struct err *why;  /* NULL: nobody has asked */
    uint64_t kill_at; /* loop_now() time of the SIGKILL */
    struct waiters changed;
};

void subprocess_stop_init(struct subprocess_stop *stop);
void subprocess_stop_fini(struct subprocess_stop *stop);
/* The first reason and the earliest `kill_at` count. Takes `why`. */
void subprocess_stop_ask(struct subprocess_stop *stop, uint64_t kill_at, struct err *why);
/* An error of the kind and with the words of `why`; NULL if nobody has asked. */
struct err *subprocess_stop_reason(const struct subprocess_stop *stop)
    __attribute__((warn_unused_result));

struct subprocess_request {
    const char *const *argv;
    uint64_t timeout_ms;
    uint64_t grace_ms;            /* from SIGTERM to SIGKILL, when its time is up or the task is
                                     cancelled; 0: SIGKILL at once */
    struct subprocess_stop *stop; /* NULL: nobody else ends it */

    const char *const *environment; /* "NAME=VALUE"s that end in NULL; NULL: this program's own */
    /* NULL, or what all of its standard output goes to, which is OUT_OF_RANGE if it is more than
     * fits. It has this program's standard input and error then, and is in its process group, so
     * that Ctrl-C ends both. */
    struct buffer *answer;
};

struct subprocess_result {
    int exit_status;                    /* 128 + signal if it was killed */
    char output[SUBPROCESS_OUTPUT + 1]; /* what it printed last, without the final newline; ""
                                           if there is an answer */
};

/* NOT_FOUND if there is no such program, TIMEOUT, CANCELED, or the reason why it was asked to stop;
 * if that came before the start, nothing is started. Any exit status is a success here: the caller
 * knows what it means. */
struct err *subprocess_run(struct task *self, const struct subprocess_request *request,
                           struct subprocess_result *ret) __attribute__((warn_unused_result));
