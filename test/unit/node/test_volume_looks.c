/* Looks at volumes whose disks answer, or hang until a gate is opened. */
#include "node/volume_looks.h"

#include <pthread.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

enum { PATIENCE_MS = 300, AGE_MS = 1000, MOST_LOOKS = 4, LONG_MS = 60 * 1000 };

#define ADVICE "the kernel's log says more; if it does not recover, restart the node"
#define HANGS "the disk at LUN 7 hangs: it has not answered for 0 s, and "

/* What the threads see. It outlives them. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool open;      /* nothing hangs any more */
    unsigned begun; /* looks */
    uint64_t used;  /* what a look finds */
    dev_t known;    /* what the last one was told */
} disks = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* By the path: "/hangs...", "/none...", or any other. */
static struct err *look(const struct usage_request *request, struct volume_usage *ret)
{
    const char *path = request->path;

    pthread_mutex_lock(&disks.lock);
    disks.begun++;
    disks.known = request->known;
    while (strncmp(path, "/hangs", 6) == 0 && !disks.open)
        pthread_cond_wait(&disks.changed, &disks.lock);
    uint64_t used = disks.used;
    pthread_mutex_unlock(&disks.lock);
    if (strncmp(path, "/none", 5) == 0)
        return err_new(ERR_NOT_FOUND, "nothing is mounted at %s", path);
    *ret = (struct volume_usage){
        .device = request->lun + 100, .has_amounts = true, .bytes = {.used = used}};
    return NULL;
}

static void set_open(bool open)
{
    pthread_mutex_lock(&disks.lock);
    disks.open = open;
    pthread_cond_broadcast(&disks.changed);
    pthread_mutex_unlock(&disks.lock);
}

static unsigned begun(void)
{
    pthread_mutex_lock(&disks.lock);
    unsigned n = disks.begun;
    pthread_mutex_unlock(&disks.lock);
    return n;
}

/* ---- a loop with a task that plays a scene ---- */

struct scene {
    struct loop *loop;
    struct volume_looks *looks;
    void (*play)(struct task *self, struct scene *scene);
};

static void scene_main(struct task *self, void *arg)
{
    struct scene *scene = arg;

    scene->play(self, scene);
    volume_looks_free(scene->looks);
    set_open(true);
    assert_ok(task_sleep(self, 1)); /* for what has been posted */
    loop_stop(scene->loop);
}

/* With little patience only what is about that: a machine may be busy. */
static void play(void (*fn)(struct task *self, struct scene *scene), uint64_t patience_ms)
{
    struct scene scene = {.loop = loop_new(), .play = fn};

    scene.looks = volume_looks_new(scene.loop, &(struct volume_looks_config){
                                                   .look = look,
                                                   .patience_ms = patience_ms,
                                                   .most_age_ms = AGE_MS,
                                                   .most_looks = MOST_LOOKS,
                                               });
    set_open(false);
    disks.begun = 0;
    disks.used = 1;
    loop_spawn(scene.loop, "scene", scene_main, &scene);
    loop_run(scene.loop);
    loop_free(scene.loop);
}

static uint64_t in(const struct scene *scene, uint64_t ms)
{
    return loop_now(scene->loop) + ms;
}

static struct err *see(struct task *self, struct scene *scene, const char *volume, const char *path,
                       struct volume_usage *ret)
{
    return volume_looks_see(self, scene->looks, volume, path, 7, in(scene, LONG_MS), ret);
}

static void assert_sees(struct task *self, struct scene *scene, const char *volume,
                        const char *path, uint64_t used)
{
    CLEANUP(usage_fini) struct volume_usage usage = {0};

    assert_ok(see(self, scene, volume, path, &usage));
    assert_int_equal(usage.bytes.used, used);
    assert_null(usage.trouble);
}

static void assert_sees_not(struct task *self, struct scene *scene, const char *volume,
                            const char *path, enum err_kind kind, const char *message)
{
    struct volume_usage usage;

    assert_fails(see(self, scene, volume, path, &usage), kind, message);
}

/* ---- disks that answer ---- */

static void each_is_new(struct task *self, struct scene *scene)
{
    assert_sees(self, scene, "v", "/v", 1);
    disks.used = 2;
    assert_int_equal(disks.known, 0);
    assert_sees(self, scene, "V", "/v", 2);
    assert_int_equal(disks.known, 107);
    assert_sees_not(self, scene, "v", "/none", ERR_NOT_FOUND, "nothing is mounted at /none");
    assert_sees(self, scene, "v", "/v", 2);
    assert_int_equal(disks.known, 0); /* not proven any more */
    assert_int_equal(begun(), 4);
    assert_int_equal(volume_looks_hung(scene->looks), 0);
}

static void test_each_is_new(void **state)
{
    (void)state;
    play(each_is_new, LONG_MS);
}

/* ---- a disk that hangs ---- */

struct caller {
    struct scene *scene;
    const char *path;
    char volume[16];
    uint64_t deadline;
    struct volume_usage usage;
    struct err *err;
    bool ended;
    uint64_t took;
};

static void calls(struct task *self, void *arg)
{
    struct caller *caller = arg;
    struct scene *scene = caller->scene;
    uint64_t came = loop_now(scene->loop);

    caller->err = volume_looks_see(self, scene->looks, caller->volume, caller->path, 7,
                                   caller->deadline, &caller->usage);
    caller->took = loop_now(scene->loop) - came;
    caller->ended = true;
}

static struct task *start(struct caller *caller, struct scene *scene, const char *volume,
                          const char *path)
{
    *caller = (struct caller){.scene = scene, .path = path, .deadline = in(scene, LONG_MS)};
    snprintf(caller->volume, sizeof caller->volume, "%s", volume);
    return loop_spawn(scene->loop, "caller", calls, caller);
}

static void await(struct task *self, const struct caller *caller)
{
    while (!caller->ended)
        assert_ok(task_sleep(self, 1));
}

static void make_hang(struct task *self, struct scene *scene, const char *volume, const char *path)
{
    set_open(true);
    assert_sees(self, scene, volume, path, 1);
    set_open(false);
}

/* The first waits for as long as its patience lasts, those after it no longer. */
static void one_look_for_all(struct task *self, struct scene *scene)
{
    struct caller callers[20];

    make_hang(self, scene, "v", "/hangs");
    for (unsigned i = 0; i < COUNT_OF(callers); i++)
        start(&callers[i], scene, "v", "/hangs");
    for (unsigned i = 0; i < COUNT_OF(callers); i++) {
        await(self, &callers[i]);
        assert_ok(callers[i].err);
        assert_true(i > 0 || callers[i].took >= PATIENCE_MS - 5);
        assert_int_equal(callers[i].usage.bytes.used, 1);
        assert_string_equal(callers[i].usage.trouble,
                            "the disk at LUN 7 hangs: it has not answered for 0 s, and this is "
                            "what was seen 0 s ago; " ADVICE);
        usage_fini(&callers[i].usage);
    }
    assert_int_equal(begun(), 2);
    assert_int_equal(volume_looks_hung(scene->looks), 1);

    start(&callers[0], scene, "v", "/hangs");
    await(self, &callers[0]);
    assert_ok(callers[0].err);
    assert_true(callers[0].took < PATIENCE_MS);
    usage_fini(&callers[0].usage);
    assert_sees_not(self, scene, "v", "/hangs/elsewhere", ERR_UNAVAILABLE,
                    HANGS "nothing was seen of it at /hangs/elsewhere lately; " ADVICE);

    set_open(true);
    disks.used = 2;
    while (volume_looks_hung(scene->looks) > 0)
        assert_ok(task_sleep(self, 1));
    assert_sees(self, scene, "v", "/hangs", 2);
}

static void test_one_look_for_all(void **state)
{
    (void)state;
    play(one_look_for_all, PATIENCE_MS);
}

/* A look that ends in time is everybody's at that path. */
static void a_slow_look(struct task *self, struct scene *scene)
{
    struct caller callers[3];

    start(&callers[0], scene, "v", "/hangs");
    start(&callers[1], scene, "v", "/hangs");
    start(&callers[2], scene, "v", "/hangs/elsewhere");
    while (begun() < 1)
        assert_ok(task_sleep(self, 1));
    set_open(true);
    for (unsigned i = 0; i < COUNT_OF(callers); i++) {
        await(self, &callers[i]);
        assert_ok(callers[i].err);
        assert_null(callers[i].usage.trouble);
    }
    assert_int_equal(begun(), 2);
}

static void test_a_slow_look(void **state)
{
    (void)state;
    play(a_slow_look, LONG_MS);
}

static void nothing_was_seen(struct task *self, struct scene *scene)
{
    struct caller caller;

    start(&caller, scene, "v", "/hangs");
    caller.deadline = in(scene, PATIENCE_MS / 4);
    await(self, &caller);
    assert_fails(caller.err, ERR_TIMEOUT, HANGS "nothing was seen of it at /hangs lately; " ADVICE);
    assert_sees_not(self, scene, "v", "/hangs", ERR_UNAVAILABLE,
                    HANGS "nothing was seen of it at /hangs lately; " ADVICE);
    struct task *task = start(&caller, scene, "w", "/hangs");
    assert_ok(task_sleep(self, 1));
    task_cancel(task);
    await(self, &caller);
    assert_int_equal(err_kind(caller.err), ERR_CANCELED);
    err_free(caller.err);
}

static void test_nothing_was_seen(void **state)
{
    (void)state;
    play(nothing_was_seen, PATIENCE_MS);
}

static void what_was_seen_grows_old(struct task *self, struct scene *scene)
{
    make_hang(self, scene, "v", "/hangs");
    CLEANUP(usage_fini) struct volume_usage usage = {0};

    assert_ok(see(self, scene, "v", "/hangs", &usage));
    assert_non_null(usage.trouble);
    assert_ok(task_sleep(self, AGE_MS));
    assert_sees_not(self, scene, "v", "/hangs", ERR_UNAVAILABLE,
                    "the disk at LUN 7 hangs: it has not answered for 1 s, and nothing was seen of "
                    "it at /hangs lately; " ADVICE);
}

static void test_what_was_seen_grows_old(void **state)
{
    (void)state;
    play(what_was_seen_grows_old, PATIENCE_MS);
}

/* ---- the others ---- */

enum { VOLUMES = 200 };

static void one_of_many(struct task *self, struct scene *scene)
{
    static struct caller callers[VOLUMES];
    char name[16];

    struct task *hanging = start(&callers[0], scene, "v", "/hangs");
    for (unsigned i = 1; i < VOLUMES; i++) {
        snprintf(name, sizeof name, "v%u", i);
        start(&callers[i], scene, name, "/well");
    }
    for (unsigned i = 1; i < VOLUMES; i++) {
        await(self, &callers[i]);
        assert_ok(callers[i].err);
        assert_null(callers[i].usage.trouble);
    }
    assert_false(callers[0].ended);
    task_cancel(hanging);
    await(self, &callers[0]);
    assert_int_equal(err_kind(callers[0].err), ERR_CANCELED);
    err_free(callers[0].err);
}

static void test_one_of_many(void **state)
{
    (void)state;
    play(one_of_many, LONG_MS);
}

static void too_many_hang(struct task *self, struct scene *scene)
{
    struct caller callers[MOST_LOOKS + 1];
    char name[16];

    for (unsigned i = 0; i < COUNT_OF(callers); i++) {
        snprintf(name, sizeof name, "v%u", i);
        start(&callers[i], scene, name, "/hangs");
    }
    for (unsigned i = 0; i < COUNT_OF(callers); i++) {
        await(self, &callers[i]);
        assert_int_equal(err_kind(callers[i].err), ERR_UNAVAILABLE);
        err_free(callers[i].err);
    }
    assert_int_equal(begun(), MOST_LOOKS);
    uint64_t before = loop_now(scene->loop);
    assert_sees_not(self, scene, "another", "/well", ERR_UNAVAILABLE,
                    "4 disks of this node hang, and there is no thread left to look at another");
    assert_true(loop_now(scene->loop) - before < PATIENCE_MS);
    set_open(true);
    while (volume_looks_hung(scene->looks) > 0)
        assert_ok(task_sleep(self, 1));
    assert_sees(self, scene, "another", "/well", 1);
}

static void test_too_many_hang(void **state)
{
    (void)state;
    play(too_many_hang, PATIENCE_MS);
}

/* ---- a volume that goes ---- */

static void a_volume_that_goes(struct task *self, struct scene *scene)
{
    make_hang(self, scene, "v", "/hangs");
    assert_ok(volume_looks_close(self, scene->looks, "V", in(scene, LONG_MS)));
    assert_sees_not(self, scene, "v", "/hangs", ERR_BUSY, "the volume is being unstaged");
    volume_looks_open(scene->looks, "v");
    assert_sees_not(self, scene, "v", "/hangs", ERR_UNAVAILABLE,
                    HANGS "nothing was seen of it at /hangs lately; " ADVICE); /* forgotten */
    assert_fails(volume_looks_close(self, scene->looks, "v", in(scene, 1)), ERR_UNAVAILABLE,
                 "the disk hangs: a look at it has not returned for 0 s");
    set_open(true);
    assert_ok(volume_looks_close(self, scene->looks, "v", in(scene, LONG_MS)));
    volume_looks_open(scene->looks, "v");
    assert_sees(self, scene, "v", "/hangs", 1);
    assert_int_equal(disks.known, 0);
    assert_ok(volume_looks_close(self, scene->looks, "unknown", in(scene, LONG_MS)));
    volume_looks_open(scene->looks, "unknown");
}

static void test_a_volume_that_goes(void **state)
{
    (void)state;
    play(a_volume_that_goes, PATIENCE_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_is_new),
        cmocka_unit_test(test_one_look_for_all),
        cmocka_unit_test(test_a_slow_look),
        cmocka_unit_test(test_nothing_was_seen),
        cmocka_unit_test(test_what_was_seen_grows_old),
        cmocka_unit_test(test_one_of_many),
        cmocka_unit_test(test_too_many_hang),
        cmocka_unit_test(test_a_volume_that_goes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
