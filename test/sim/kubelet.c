#include "test/sim/kubelet.h"

#include "lib/base/alloc.h"
#include "lib/rt/backoff.h"
#include "test/sim/node_fence.h"
#include "test/sim/node_stage.h"
#include "test/sim/running_job.h"
#include "test/sim/world.h"

enum {
    SEEN_MOST_MS = 1000, /* until a new pod, or its end, is looked at */
    GRACE_MOST_MS = 10 * 1000,
    UNMOUNT_LEAST_MS = 50,
    UNMOUNT_MOST_MS = 1000,
    RETRY_LEAST_MS = 500,
    RETRY_MOST_MS = 122 * 1000,
};

struct pod_worker {
    struct pod *pod;
    struct machine *machine;
    struct task *task;                 /* NULL: not begun */
    bool abandoned;                    /* by the machine's end; its mounts are gone */
    bool starting;                     /* its volumes are being brought up */
    struct mount *mounts[POD_VOLUMES]; /* NULL: it does not use that one */
    struct mount *claimed;             /* one that a call to the plug-in is about; NULL: none */
    size_t n_published;                /* of the mounts, from the first */
};

static bool must_end(const struct pod_worker *worker)
{
    return machine_is_connected(worker->machine) && worker->pod->deleting;
}

static struct err *wait_for_news(struct task *self, struct pod_worker *worker)
{
    return machine_wait(self, worker->machine, TIMER_NEVER);
}

/* Nothing moves on a machine that stands still. */
static struct err *work(struct task *self, struct pod_worker *worker, uint64_t least, uint64_t most)
{
    TRY(task_sleep(self, world_draw(worker->pod->world, least, most)));
    while (worker->machine->frozen)
        TRY(wait_for_news(self, worker));
    return NULL;
}

static struct err *ends(void)
{
    return err_new(ERR_PRECONDITION, "the pod ends");
}

/* ---- up ---- */

/* For a pod that is to end, only what is mounted already. */
static void claim_volumes(struct pod_worker *worker)
{
    struct pod *pod = worker->pod;

    for (size_t i = 0; i < pod->n_volumes; i++) {
        const struct mount *found = machine_mount(worker->machine, pod->volumes[i]);

        if (must_end(worker) && !(found && found->staged))
            continue;
        worker->mounts[i] = machine_use(worker->machine, pod->volumes[i]);
        worker->mounts[i]->users++;
    }
    machine_report_in_use(worker->machine);
}

static bool is_attached(const struct machine *machine, const struct volume *volume)
{
    const struct publication *publication = publication_find(machine, volume);

    return machine_is_connected(machine) && publication && publication->attached &&
           publication->reported && !publication->deleting && machine_reports(machine, volume);
}

static struct err *await_attached(struct task *self, struct pod_worker *worker,
                                  const struct volume *volume)
{
    while (!is_attached(worker->machine, volume)) {
        if (must_end(worker))
            return ends();
        TRY(wait_for_news(self, worker));
    }
    return NULL;
}

/* There is one call at a time for a volume. */
static struct err *claim(struct task *self, struct pod_worker *worker, struct mount *mount)
{
    while (mount->busy) {
        if (must_end(worker))
            return ends();
        TRY(wait_for_news(self, worker));
    }
    mount->busy = true;
    worker->claimed = mount;
    return NULL;
}

static void release(struct pod_worker *worker)
{
    worker->claimed->busy = false;
    worker->claimed = NULL;
    waiters_wake(&worker->machine->changed);
}

static struct err *stage_and_publish(struct task *self, struct pod_worker *worker,
                                     struct mount *mount)
{
    TRY(node_stage(self, mount));
    TRY(work(self, worker, 10, 300));
    mount->published++;
    worker->n_published++;
    return NULL;
}

static struct err *bring_up_volume(struct task *self, struct pod_worker *worker, size_t i)
{
    struct pod *pod = worker->pod;

    pod->waits_for = "a volume to be attached";
    TRY(await_attached(self, worker, pod->volumes[i]));
    pod->waits_for = "a volume to be staged";
    TRY(claim(self, worker, worker->mounts[i]));
    struct err *err = stage_and_publish(self, worker, worker->mounts[i]);
    if (!err || err_kind(err) != ERR_CANCELED) /* then the mount is gone */
        release(worker);
    return err;
}

static struct err *bring_up(struct task *self, struct pod_worker *worker)
{
    while (worker->n_published < worker->pod->n_volumes) {
        if (must_end(worker))
            return ends();
        TRY(bring_up_volume(self, worker, worker->n_published));
    }
    return NULL;
}

static struct err *pause_before_retry(struct task *self, struct pod_worker *worker,
                                      struct backoff *backoff)
{
    struct loop *loop = loop_of(self);
    uint64_t until = loop_now(loop) + backoff_next(backoff, loop_random(loop));

    while (!must_end(worker)) {
        struct err *err = machine_wait(self, worker->machine, until);

        if (err && err_kind(err) == ERR_TIMEOUT) {
            err_free(err);
            return NULL;
        }
        TRY(err);
    }
    return NULL;
}

static struct err *start(struct task *self, struct pod_worker *worker)
{
    struct backoff backoff = {.least_ms = RETRY_LEAST_MS, .most_ms = RETRY_MOST_MS};
    struct pod *pod = worker->pod;

    for (;;) {
        struct err *err = bring_up(self, worker);

        if (!err)
            break;
        if (err_kind(err) == ERR_CANCELED)
            return err;
        if (!must_end(worker))
            sim_note(pod->world->sim, "pod %s on %s: %s", pod->name, worker->machine->name,
                     err_message(err));
        err_free(err);
        if (must_end(worker))
            return NULL;
        TRY(pause_before_retry(self, worker, &backoff));
    }
    pod->runs = true;
    pod->waits_for = "nothing";
    pod->running_since = world_now(pod->world);
    sim_note(pod->world->sim, "pod %s runs on %s", pod->name, worker->machine->name);
    pod_write_phase(pod, "Running");
    waiters_wake(&pod->world->pods_changed);
    return NULL;
}

/* ---- down ---- */

static struct err *unpublish(struct task *self, struct pod_worker *worker)
{
    while (worker->n_published > 0) {
        TRY(work(self, worker, UNMOUNT_LEAST_MS, UNMOUNT_MOST_MS));
        worker->mounts[--worker->n_published]->published--;
    }
    return NULL;
}

static struct err *unstage(struct task *self, struct pod_worker *worker, struct mount *mount)
{
    mount->users--;
    if (mount->users > 0 || mount->busy)
        return NULL; /* whoever is busy with it is its user */
    mount->busy = true;
    TRY(work(self, worker, UNMOUNT_LEAST_MS, UNMOUNT_MOST_MS));
    while (running_job_find(worker->machine, mount->volume)) /* the plug-in is busy with it */
        TRY(wait_for_news(self, worker));
    node_unstage(mount);
    mount->busy = false;
    if (mount->users == 0)
        mount_free(mount);
    machine_report_in_use(worker->machine);
    waiters_wake(&worker->machine->changed);
    return NULL;
}

static struct err *stop(struct task *self, struct pod_worker *worker)
{
    struct pod *pod = worker->pod;

    if (pod->runs)
        TRY(work(self, worker, 100, GRACE_MOST_MS));
    pod->runs = false;
    while (worker->machine->plugin_gone)
        TRY(wait_for_news(self, worker));
    TRY(unpublish(self, worker));
    while (!machine_is_connected(worker->machine))
        TRY(wait_for_news(self, worker));
    pod_remove(pod);
    for (size_t i = 0; i < pod->n_volumes; i++)
        if (worker->mounts[i])
            TRY(unstage(self, worker, worker->mounts[i]));
    return NULL;
}

/* ---- the worker ---- */

static struct err *live(struct task *self, struct pod_worker *worker)
{
    TRY(work(self, worker, 10, SEEN_MOST_MS));
    while (!machine_is_connected(worker->machine))
        TRY(wait_for_news(self, worker));
    claim_volumes(worker);
    worker->starting = true;
    TRY(start(self, worker));
    worker->starting = false;
    while (!must_end(worker))
        TRY(wait_for_news(self, worker));
    TRY(work(self, worker, 10, SEEN_MOST_MS));
    return stop(self, worker);
}

static void run(struct task *self, void *arg)
{
    struct pod_worker *worker = arg;

    worker->task = self;
    if (!worker->abandoned)
        err_free(live(self, worker));
    if (worker->pod->worker == worker)
        worker->pod->worker = NULL;
    free(worker);
}

void kubelet_start_pod(struct pod *pod)
{
    struct pod_worker *worker;

    if (!pod->machine->up || pod->worker)
        return;
    worker = mem_alloc(sizeof *worker);
    worker->pod = pod;
    worker->machine = pod->machine;
    if (group_spawn(&pod->world->sim->tasks, "kubelet", run, worker))
        pod->worker = worker;
    else
        free(worker);
}

void kubelet_start(struct machine *machine)
{
    LIST_FOREACH(&machine->world->pods, link) {
        if (POD_OF(link)->machine == machine)
            kubelet_start_pod(POD_OF(link));
    }
}

static void abandon(struct pod *pod, const struct machine *machine)
{
    struct pod_worker *worker = pod->worker;

    if (!worker || worker->machine != machine)
        return;
    pod->worker = NULL;
    pod->runs = false;
    pod->waits_for = "its machine";
    worker->abandoned = true;
    if (worker->task)
        task_cancel(worker->task);
}

/* What is mounted is found again, and not forgotten. */
static bool is_forgotten(const struct pod *pod, const struct machine *machine)
{
    const struct pod_worker *worker = pod->worker;

    if (!worker || worker->machine != machine || !worker->starting)
        return false;
    for (size_t i = 0; i < pod->n_volumes; i++)
        if (worker->mounts[i] && worker->mounts[i]->staged)
            return false;
    return true;
}

static void forget(struct pod *pod, const struct machine *machine)
{
    struct pod_worker *worker = pod->worker;

    if (!is_forgotten(pod, machine))
        return;
    if (worker->claimed)
        worker->claimed->busy = false;
    for (size_t i = 0; i < pod->n_volumes; i++)
        if (worker->mounts[i] && --worker->mounts[i]->users == 0 && !worker->mounts[i]->busy)
            mount_free(worker->mounts[i]);
    abandon(pod, machine);
}

void kubelet_restart(struct machine *machine)
{
    sim_note(machine->world->sim, "kubelet of %s is restarted", machine->name);
    LIST_FOREACH(&machine->world->pods, link)
        forget(POD_OF(link), machine);
    LIST_FOREACH(&machine->world->former_pods, link)
        forget(POD_OF(link), machine);
    machine_report_in_use(machine);
    waiters_wake(&machine->changed);
    kubelet_start(machine);
}

void kubelet_die(struct machine *machine)
{
    LIST_FOREACH(&machine->world->pods, link)
        abandon(POD_OF(link), machine);
    LIST_FOREACH(&machine->world->former_pods, link)
        abandon(POD_OF(link), machine);
}
