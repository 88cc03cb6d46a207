/* job.h - programs that write to disks: who may run when, and how they are ended.
 *
 * mkfs and fsck run for minutes. Meanwhile the node may lose its role for the volume, and then
 * another node may write to the disk. So a job has a permit from whoever knows the role: it is
 * asked right before the program starts, after all waiting, and again whenever something has
 * changed; a program that has lost its permit is ended, in order if it does that in time. From
 * before its start until what it wrote is on the disk a job is on record with its permit.
 *
 * Formattings have a bound on their number, checks one on their memory; their turns come in the
 * order in which they were asked for. Owner: host.c. Loop's thread.
 */
#pragma once

#include "lib/rt/group.h"
#include "lib/rt/subprocess.h"
#include "provisioner-lib/host/memory_limit.h"

struct job_permit {
    /* Puts on record that the program is about to write to the disk. An error: it does not start,
     * and nothing is on record. */
    struct err *(*begin)(struct task *self, void *ctx, const char *program);
    /* Why the program has to end; NULL: it may go on. Does not yield. */
    struct err *(*check)(void *ctx);
    /* The program is gone. `unsure`: why what it wrote may not be on the disk yet, or NULL. */
    void (*end)(struct task *self, void *ctx, const struct err *unsure);
    void *ctx;
};

enum job_kind { JOB_FORMAT, JOB_CHECK };

/* Lives on the stack of who asks for it and waits for its end in any case. */
struct job {
    enum job_kind kind;
    const char *program;
    uint64_t memory; /* that it needs, in bytes; of JOB_CHECK */
    const struct job_permit *permit;
    struct err *(*run)(struct task *self, struct job *job);   /* heeds `stop` */
    struct err *(*flush)(struct task *self, struct job *job); /* what it has written */

    struct subprocess_stop stop;
    struct list link; /* in the jobs, in the order in which they were asked for */
    bool has_place, ended;
    struct err *err;
};

struct jobs {
    struct loop *loop;
    unsigned max_formats;
    struct memory_roots memory;
    struct list all;
    struct task_group running;
    struct waiters changed;
    bool stopping;
};

void jobs_init(struct jobs *jobs, struct loop *loop, unsigned max_formats,
               const struct memory_roots *memory);
/* When all have ended. */
void jobs_close(struct task *self, struct jobs *jobs);

/* Waits until `deadline` for its turn; then the job runs to its end, even if the caller is
 * cancelled. EXHAUSTED if it needs more memory than there can be. */
struct err *jobs_run(struct task *self, struct jobs *jobs, struct job *job, uint64_t deadline)
    __attribute__((warn_unused_result));

/* Asks all permits whether they still hold. */
void jobs_reconsider(struct jobs *jobs);

/* Asks all jobs to end, which are killed at `kill_at`; further ones are refused. */
void jobs_stop(struct jobs *jobs, uint64_t kill_at);
/* Until all have ended. */
void jobs_wait(struct task *self, struct jobs *jobs);
