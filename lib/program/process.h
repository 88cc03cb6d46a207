/* process.h - the life of a program that runs until it is told to end: signals, loop, exit status.
 *
 * main calls malloc_use_one_arena first, reads its flags, makes the process, then its own parts on
 * `loop`, and returns what process_run returns. SIGTERM and SIGINT ask the process to stop; the
 * task that process_run was given waits for that and then closes, in an order that only it knows.
 *
 * Owner: the program, of which there is one. For the loop's thread.
 */
#pragma once

#include "lib/program/shared_flags.h"
#include "lib/rt/loop.h"
#include "lib/rt/malloc_tuning.h"
#include "lib/rt/wait.h"

struct process {
    const char *name; /* "azdisk-node" */
    struct loop *loop;
    bool stopping; /* somebody has asked for it */
    bool failed;   /* the exit status will be 1 */

    /* Private. */
    struct waiters stop;
    struct malloc_trimmer trimmer;
    task_fn *run;
    void *arg;
};

/* Sets up the log, too. The process stays where it is until process_run has returned. */
void process_init(struct process *process, const char *name, const struct log_flags *log);

/* Runs the loop until the task run(arg) has returned, frees the loop, returns the exit status. */
int process_run(struct process *process, task_fn *run, void *arg);

void process_stop(struct process *process, bool failed);
/* Says on stderr what is wrong, and stops. */
void process_fail(struct process *process, const struct err *err);
/* Returns once the process is stopping, at once if it is already. */
void process_wait_stop(struct task *self, struct process *process);
