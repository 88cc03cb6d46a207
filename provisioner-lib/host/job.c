#include "provisioner-lib/host/job.h"

#include <inttypes.h>

/* For a program that has lost its permit. Nobody else gets the disk meanwhile, because the job is
 * on record; e2fsck looks every now and then whether it is to end, and then writes what it has. */
enum { END_MS = 60 * 1000 };

void jobs_init(struct jobs *jobs, struct loop *loop, unsigned max_formats,
               const struct memory_roots *memory)
{
    *jobs = (struct jobs){.loop = loop, .max_formats = max_formats, .memory = *memory};
    list_init(&jobs->all);
    group_init(&jobs->running, loop);
    waiters_init(&jobs->changed);
}

void jobs_close(struct task *self, struct jobs *jobs)
{
    jobs_wait(self, jobs);
    group_close(self, &jobs->running);
}

/* ---- places ---- */

static struct job *job_of(struct list *link)
{
    return CONTAINER_OF(link, struct job, link);
}

static struct err *too_little(const struct job *job, const struct memory_limit *limit)
{
    const uint64_t mib = 1024 * 1024;
    uint64_t needed = job->memory / mib + 1, left = limit->programs / mib;

    if (!limit->container)
        return err_new(ERR_EXHAUSTED,
                       "%s needs about %" PRIu64 " MiB of memory, but this node has only %" PRIu64
                       " MiB left",
                       job->program, needed, left);
    return err_new(
        ERR_EXHAUSTED,
        "%s needs about %" PRIu64 " MiB of memory, but of the container's limit of %" PRIu64
        " MiB, only %" PRIu64 " MiB are available to it: raise the limit to %" PRIu64
        "Mi or more (linux.resources.azuredisk.limits.memory of the chart)",
        job->program, needed, limit->container / mib, left, needed + MEMORY_OF_PLUGIN / mib);
}

/* Whether the jobs of the same kind that run leave room for it. */
static struct err *find_room(const struct jobs *jobs, const struct job *job, unsigned n_running,
                             uint64_t memory_taken, bool *ret)
{
    struct memory_limit limit;

    *ret = n_running < jobs->max_formats;
    if (job->kind == JOB_FORMAT)
        return NULL;
    TRY(memory_limit_read(&jobs->memory, &limit));
    *ret = memory_taken + job->memory <= limit.programs;
    /* Without a limit, what is left is more when those that run have ended. */
    bool never = job->memory > limit.programs && (limit.container || n_running == 0);
    return never ? too_little(job, &limit) : NULL;
}

/* Nobody overtakes: one that needs much memory would wait for ever. */
static struct err *is_its_turn(struct jobs *jobs, const struct job *job, bool *ret)
{
    uint64_t memory = 0;
    unsigned n = 0;

    *ret = false;
    LIST_FOREACH(&jobs->all, link) {
        const struct job *other = job_of(link);

        if (other == job)
            break;
        if (other->kind != job->kind)
            continue;
        if (!other->has_place)
            return NULL;
        memory += other->memory;
        n++;
    }
    return find_room(jobs, job, n, memory, ret);
}

static struct err *take_place(struct task *self, struct jobs *jobs, struct job *job,
                              uint64_t deadline)
{
    for (;;) {
        if (jobs->stopping)
            return err_new(ERR_UNAVAILABLE, "the plug-in is stopping");
        TRY(subprocess_stop_reason(&job->stop));
        TRY(is_its_turn(jobs, job, &job->has_place));
        if (job->has_place)
            return NULL;
        struct err *err = wait_for_change(self, &jobs->changed, deadline);
        if (err)
            return err_wrap(err, "waiting to run %s", job->program);
    }
}

/* ---- one job ---- */

static struct err *run_permitted(struct task *self, struct job *job)
{
    const struct job_permit *permit = job->permit;

    TRY(permit->begin(self, permit->ctx, job->program));
    struct err *err = subprocess_stop_reason(&job->stop);
    if (!err)
        err = job->run(self, job);
    CLEANUP(err_freep) struct err *unsure = job->flush(self, job);
    permit->end(self, permit->ctx, unsure);
    return err ? err : TAKE_PTR(unsure);
}

struct running {
    struct jobs *jobs;
    struct job *job;
};

static void running_main(struct task *self, void *arg)
{
    struct running *running = arg;
    struct jobs *jobs = running->jobs;

    running->job->err = run_permitted(self, running->job);
    running->job->ended = true;
    waiters_wake(&jobs->changed);
}

static struct err *run(struct task *self, struct jobs *jobs, struct job *job)
{
    struct running running = {jobs, job};

    if (!group_spawn(&jobs->running, job->program, running_main, &running))
        return err_new(ERR_UNAVAILABLE, "the plug-in is stopping");
    while (!job->ended)
        wait_uninterruptible(self, &jobs->changed);
    return job->err;
}

struct err *jobs_run(struct task *self, struct jobs *jobs, struct job *job, uint64_t deadline)
{
    subprocess_stop_init(&job->stop);
    list_append(&jobs->all, &job->link);
    struct err *err = take_place(self, jobs, job, deadline);
    if (!err)
        err = run(self, jobs, job);
    list_remove(&job->link);
    waiters_wake(&jobs->changed);
    subprocess_stop_fini(&job->stop);
    return err;
}

/* ---- all of them ---- */

void jobs_reconsider(struct jobs *jobs)
{
    LIST_FOREACH(&jobs->all, link) {
        struct job *job = job_of(link);
        struct err *err = job->stop.why ? NULL : job->permit->check(job->permit->ctx);

        if (err)
            subprocess_stop_ask(&job->stop, loop_now(jobs->loop) + END_MS, err);
    }
    waiters_wake(&jobs->changed);
}

void jobs_stop(struct jobs *jobs, uint64_t kill_at)
{
    jobs->stopping = true;
    LIST_FOREACH(&jobs->all, link)
        subprocess_stop_ask(&job_of(link)->stop, kill_at,
                            err_new(ERR_UNAVAILABLE, "the plug-in is stopping"));
    waiters_wake(&jobs->changed);
}

void jobs_wait(struct task *self, struct jobs *jobs)
{
    while (!list_is_empty(&jobs->all))
        wait_uninterruptible(self, &jobs->changed);
}
