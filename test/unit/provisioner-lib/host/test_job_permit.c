/* When a program that writes to a disk may start, must end and is off the record, in virtual time:
 * the programs are functions here. */
#include "provisioner-lib/host/job.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

/* A job with all that it is asked and told, in a line. */
struct played {
    struct job job;
    struct job_permit permit;
    struct jobs *jobs;
    char story[128];
    const char *refusal;      /* of `begin` */
    bool loses_role_in_begin; /* and somebody says so */
    const char *lost;         /* why it is no longer permitted */
    const char *failure;      /* of the program */
    const char *unsure;       /* of the flush */
    uint64_t lasts_ms;        /* the program, unless it is asked to end */
    uint64_t deadline;
    struct err *err;
    bool ended;
};

static void tell(struct played *played, const char *what)
{
    size_t length = strlen(played->story);

    snprintf(played->story + length, sizeof played->story - length, "%s%s", length ? " " : "",
             what);
}

static struct err *error_of(const char *text)
{
    return text ? err_new(ERR_BUSY, "%s", text) : NULL;
}

static struct err *permit_begin(struct task *self, void *ctx, const char *program)
{
    struct played *played = ctx;

    tell(played, program);
    assert_ok(task_sleep(self, 10)); /* a write to the API server */
    if (played->loses_role_in_begin) {
        played->lost = "another node is the primary";
        jobs_reconsider(played->jobs);
    }
    return error_of(played->refusal);
}

static struct err *permit_check(void *ctx)
{
    const struct played *played = ctx;

    return error_of(played->lost);
}

static void permit_end(struct task *self, void *ctx, const struct err *unsure)
{
    (void)self;
    tell(ctx, unsure ? err_message(unsure) : "off");
}

static struct err *program(struct task *self, struct job *job)
{
    struct played *played = CONTAINER_OF(job, struct played, job);
    uint64_t end = loop_now(loop_of(self)) + played->lasts_ms;
    struct err *err = NULL;

    tell(played, "runs");
    while (!job->stop.why && loop_now(loop_of(self)) < end)
        err_free(wait_for_change(self, &job->stop.changed, end));
    err = subprocess_stop_reason(&job->stop);
    tell(played, err ? "stopped" : "ends");
    return err ? err : error_of(played->failure);
}

static struct err *flush(struct task *self, struct job *job)
{
    struct played *played = CONTAINER_OF(job, struct played, job);

    (void)self;
    tell(played, "flushes");
    return error_of(played->unsure);
}

static void run(struct task *self, void *arg)
{
    struct played *played = arg;

    played->err = jobs_run(self, played->jobs, &played->job, played->deadline);
    played->ended = true;
}

static void begin(struct jobs *jobs, struct played *played)
{
    played->permit = (struct job_permit){permit_begin, permit_check, permit_end, played};
    played->job = (struct job){.kind = JOB_FORMAT,
                               .program = "mkfs",
                               .permit = &played->permit,
                               .run = program,
                               .flush = flush};
    played->jobs = jobs;
    played->deadline = TIMER_NEVER;
    loop_spawn(jobs->loop, "job", run, played);
    loop_advance(jobs->loop, 0);
}

static void close_jobs(struct task *self, void *arg)
{
    jobs_close(self, arg);
}

static struct jobs *jobs_new(unsigned max_formats)
{
    static const struct memory_roots none = {"/none", "/none"};
    struct jobs *jobs = mem_alloc(sizeof *jobs);

    jobs_init(jobs, loop_new_virtual(1), max_formats, &none);
    return jobs;
}

static void jobs_free(struct jobs *jobs)
{
    loop_spawn(jobs->loop, "close", close_jobs, jobs);
    loop_advance(jobs->loop, 1000);
    loop_free(jobs->loop);
    free(jobs);
}

static const struct {
    struct played job;
    const char *story, *message; /* message NULL: it succeeds */
} rows[] = {
    {{.lasts_ms = 100}, "mkfs runs ends flushes off", NULL},
    {{.lasts_ms = 100, .failure = "bad blocks"}, "mkfs runs ends flushes off", "bad blocks"},
    /* nothing is on record, and nothing runs */
    {{.lasts_ms = 100, .refusal = "no answer"}, "mkfs", "no answer"},
    /* on record, and the role went while that was written */
    {{.lasts_ms = 100, .loses_role_in_begin = true},
     "mkfs flushes off",
     "another node is the primary"},
    /* something may still be written: it stays on record */
    {{.lasts_ms = 100, .unsure = "the device is in use"},
     "mkfs runs ends flushes the device is in use",
     "the device is in use"},
    {{.lasts_ms = 100, .failure = "bad blocks", .unsure = "the device is in use"},
     "mkfs runs ends flushes the device is in use",
     "bad blocks"},
};

static void test_what_is_asked_and_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct jobs *jobs = jobs_new(1);
        struct played played = rows[i].job;

        begin(jobs, &played);
        loop_advance(jobs->loop, 1000);
        assert_true(played.ended);
        assert_string_equal(played.story, rows[i].story);
        if (rows[i].message)
            assert_fails(played.err, ERR_BUSY, rows[i].message);
        else
            assert_ok(played.err);
        jobs_free(jobs);
    }
}

static void test_a_role_that_goes_ends_the_program(void **state)
{
    struct jobs *jobs = jobs_new(2);
    struct played ours = {.lasts_ms = 60 * 1000}, other = {.lasts_ms = 60 * 1000};

    (void)state;
    begin(jobs, &ours);
    begin(jobs, &other);
    loop_advance(jobs->loop, 1000);
    jobs_reconsider(jobs);
    loop_advance(jobs->loop, 1000);
    assert_string_equal(ours.story, "mkfs runs");
    ours.lost = "another node is the primary";
    jobs_reconsider(jobs);
    loop_advance(jobs->loop, 1000);
    assert_string_equal(ours.story, "mkfs runs stopped flushes off");
    assert_fails(ours.err, ERR_BUSY, "another node is the primary");
    assert_false(other.ended);
    loop_advance(jobs->loop, 60 * 1000);
    assert_ok(other.err);
    assert_string_equal(other.story, "mkfs runs ends flushes off");
    jobs_free(jobs);
}

static void test_so_many_at_once(void **state)
{
    enum { MOST = 2, N = 5 };
    struct jobs *jobs = jobs_new(MOST);
    struct played all[N];

    (void)state;
    for (int i = 0; i < N; i++) {
        all[i] = (struct played){.lasts_ms = 1000};
        begin(jobs, &all[i]);
    }
    for (int second = 0, ended = 0; ended < N; second++) {
        int running = 0;

        assert_in_range(second, 0, 10);
        loop_advance(jobs->loop, 1000);
        ended = 0;
        for (int i = 0; i < N; i++) {
            running += all[i].story[0] && !all[i].ended;
            ended += all[i].ended;
        }
        assert_in_range(running, 0, MOST);
    }
    for (int i = 0; i < N; i++)
        assert_ok(all[i].err);
    jobs_free(jobs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_asked_and_told),
        cmocka_unit_test(test_a_role_that_goes_ends_the_program),
        cmocka_unit_test(test_so_many_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
