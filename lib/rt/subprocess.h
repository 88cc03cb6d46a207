/* subprocess.h - another program, run to its end.
 *
 * The program gets an argument vector (never a shell), no standard input, and one pipe for both of
 * its outputs, of which the last SUBPROCESS_OUTPUT bytes are kept. It is killed, with its children,
 * when its time is up or the calling task is cancelled, and the call returns only after it is gone.
 * Loop's thread, real loops only.
 */
#pragma once

#include "lib/rt/loop.h"

enum { SUBPROCESS_OUTPUT = 4096 };

struct subprocess_result {
    int exit_status;                    /* 128 + signal if it was killed */
    char output[SUBPROCESS_OUTPUT + 1]; /* what it printed last, without the final newline */
};

/* NOT_FOUND if there is no such program, TIMEOUT, CANCELED. Any exit status is a success here: the
 * caller knows what it means. */
struct err *subprocess_run(struct task *self, const char *const argv[], uint64_t timeout_ms,
                           struct subprocess_result *ret) __attribute__((warn_unused_result));
