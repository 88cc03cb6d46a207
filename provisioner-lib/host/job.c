#include "provisioner-lib/host/job.h"

/* For a program that has lost its permit. Nobody else gets the disk meanwhile, because the job is
 * on record; e2fsck looks every now and then whether it is to end, and then writes what it has. */
enum { END_MS = 60 * 1000 };

void jobs_init(struct jobs *jobs, struct loop *loop, unsigned max_formats)
{
    *jobs = (struct jobs){.loop = loop, .max_formats = max_formats};
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

static bool is_next(struct jobs *jobs, const struct job *job)
{
    unsigned formats = 0;

    LIST_FOREACH(&jobs->all, link) {
        const struct job *other = job_of(link);

        if (other != job && other->kind == job->kind && !other->has_place)
            return false;
        if (other == job)
            break;
        formats += other->kind == JOB_FORMAT;
    }
    return job->kind != JOB_FORMAT || formats < jobs->max_formats;
}

static struct err *take_place(struct task *self, struct jobs *jobs, struct job *job,
                              uint64_t deadline)
{
    for (;;) {
        if (jobs->stopping)
            return err_new(ERR_UNAVAILABLE, "the plug-in is stopping");
        TRY(subprocess_stop_reason(&job->stop));
        if (is_next(jobs, job))
            break;
        struct err *err = wait_for_change(self, &jobs->changed, deadline);
        if (err)
            return err_wrap(err, "waiting to run %s", job->program);
    }
    job->has_place = true;
    return NULL;
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
        wait_through(self, &jobs->changed);
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
        wait_through(self, &jobs->changed);
}
