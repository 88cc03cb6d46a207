#include "lib/program/process.h"

#include <signal.h>
#include <stdio.h>

#include "lib/base/log.h"

void process_stop(struct process *process, bool failed)
{
    process->stopping = true;
    process->failed |= failed;
    waiters_wake(&process->stop);
}

void process_fail(struct process *process, const struct err *err)
{
    fprintf(stderr, "%s: %s\n", process->name, err_message(err));
    process_stop(process, true);
}

void process_wait_stop(struct task *self, struct process *process)
{
    while (!process->stopping)
        wait_uninterruptible(self, &process->stop);
}

static void on_terminate(void *ctx)
{
    log_info("received a signal to terminate");
    process_stop(ctx, false);
}

/* A peer that has gone is an error of the write to it. */
void process_init(struct process *process, const char *name, const struct log_flags *log)
{
    *process = (struct process){.name = name};
    log_flags_apply(log);
    signal(SIGPIPE, SIG_IGN);
    process->loop = loop_new();
    waiters_init(&process->stop);
    loop_on_signal(process->loop, SIGTERM, on_terminate, process);
    loop_on_signal(process->loop, SIGINT, on_terminate, process);
    malloc_trim_regularly(process->loop, &process->trimmer);
}

static void run_and_end(struct task *self, void *arg)
{
    struct process *process = arg;

    process->run(self, process->arg);
    loop_stop(process->loop);
}

int process_run(struct process *process, task_fn *run, void *arg)
{
    process->run = run;
    process->arg = arg;
    loop_spawn(process->loop, "main", run_and_end, process);
    loop_run(process->loop);
    loop_free(process->loop);
    process->loop = NULL;
    return process->failed ? 1 : 0;
}
