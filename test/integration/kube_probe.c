/* kube_probe - lib/kube against a real API server, for the tests beside this file.
 *
 *     kube_probe KUBECONFIG mirror NAMESPACE
 *         keeps a store of the namespace's Leases and prints each change of it:
 *         "put NAME VERSION HOLDER", "gone NAME", "synced"
 *     kube_probe KUBECONFIG lead NAMESPACE IDENTITY DURATION RENEW RETRY (milliseconds)
 *         stands for the Lease "leader"; while it leads, it writes its name into the Lease "work"
 *         ten times a second, through a guard. Prints "acquired", "lost", "released"
 *     kube_probe KUBECONFIG tell NAMESPACE NAME TIMES
 *         records the same event so many times about a Lease
 *
 * Each prints "failed REASON" where its part of lib/kube reports a failure, and ends well on
 * SIGTERM.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/http/leader_guard.h"
#include "lib/kube/connection.h"
#include "lib/kube/events.h"
#include "lib/kube/lease.h"
#include "lib/kube/reflector.h"

enum { WORK_PAUSE_MS = 100 };

struct probe {
    struct loop *loop;
    struct kube_connection connection;
    struct task_group group;
    char **arguments; /* those of the mode */
    bool stopping;
    struct waiters stop;

    struct store *store;
    struct lease *lease;
    struct leader_guard guard;
    struct kube *guarded;
};

static void on_terminate(void *ctx)
{
    struct probe *probe = ctx;

    probe->stopping = true;
    waiters_wake(&probe->stop);
}

static void wait_for_end(struct task *self, struct probe *probe)
{
    while (!probe->stopping)
        wait_uninterruptible(self, &probe->stop);
}

static void failed(void *ctx, const struct err *err)
{
    (void)ctx;
    printf("failed %s\n", err_message(err));
}

/* ---- mirror ---- */

static void watch_failed(void *ctx, const struct api_resource *resource, const struct err *err)
{
    (void)resource;
    failed(ctx, err);
}

static void print_change(void *ctx, struct kube_object *before, struct kube_object *after)
{
    (void)ctx;
    if (!after) {
        printf("gone %s\n", before->metadata->name);
        return;
    }
    const Api__LeaseSpec *spec = KUBE_AS(Api__Lease, after)->spec;
    printf("put %s %s %s\n", after->metadata->name, after->metadata->resource_version,
           spec && spec->holder_identity ? spec->holder_identity : "-");
}

static void tell_synced(struct task *self, void *arg)
{
    struct probe *probe = arg;
    struct err *err = store_wait_synced(self, probe->store, TIMER_NEVER);

    if (!err)
        printf("synced\n");
    err_free(err);
}

static void mirror(struct task *self, struct probe *probe)
{
    probe->store = store_new(&LEASES);
    store_observe(probe->store, print_change, probe);
    reflector_start(&probe->group, &(struct reflector_config){
                                       .kube = probe->connection.kube,
                                       .namespace_ = probe->arguments[0],
                                       .store = probe->store,
                                       .page_size = 7,
                                       .failed = watch_failed,
                                   });
    group_spawn(&probe->group, "synced", tell_synced, probe);
    wait_for_end(self, probe);
    group_close(self, &probe->group);
    store_free(probe->store);
}

/* ---- lead ---- */

static bool leads(void *ctx)
{
    const struct probe *probe = ctx;

    return probe->lease && lease_is_held(probe->lease);
}

/* As a reconciler that does not look before it writes; the guard does. */
static void work(struct task *self, void *arg)
{
    struct probe *probe = arg;
    CLEANUP(json_decrefp)
    json_t *patch = json_pack("{s:{s:s}}", "spec", "holderIdentity", probe->arguments[1]);

    while (!task_is_cancelled(self)) {
        CLEANUP(err_freep)
        struct err *err = kube_patch(self, probe->guarded, &LEASES, probe->arguments[0], "work",
                                     NULL, patch, NULL);

        if (err && err_kind(err) != ERR_CANCELED)
            failed(probe, err);
        err_free(task_sleep(self, WORK_PAUSE_MS));
    }
}

static void acquired(void *ctx)
{
    struct probe *probe = ctx;

    printf("acquired\n");
    group_spawn(&probe->group, "work", work, probe);
}

static void lost(void *ctx)
{
    printf("lost\n");
    on_terminate(ctx);
}

static void lead(struct task *self, struct probe *probe)
{
    leader_guard_init(&probe->guard, http_client_transport(probe->connection.http), leads, probe);
    probe->guarded = kube_new(probe->loop, &probe->guard.transport, &probe->connection.config);
    probe->lease =
        lease_new(probe->loop, &(struct lease_config){
                                   .kube = probe->connection.kube,
                                   .namespace_ = probe->arguments[0],
                                   .name = "leader",
                                   .identity = probe->arguments[1],
                                   .duration_ms = strtoull(probe->arguments[2], NULL, 10),
                                   .renew_deadline_ms = strtoull(probe->arguments[3], NULL, 10),
                                   .retry_period_ms = strtoull(probe->arguments[4], NULL, 10),
                                   .acquired = acquired,
                                   .lost = lost,
                                   .failed = failed,
                                   .ctx = probe,
                               });
    wait_for_end(self, probe);
    group_close(self, &probe->group);
    lease_release(self, TAKE_PTR(probe->lease));
    kube_free(probe->guarded);
    printf("released\n");
}

/* ---- tell ---- */

static void tell(struct task *self, struct probe *probe)
{
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;
    struct err *err = kube_get(self, probe->connection.kube, &LEASES, probe->arguments[0],
                               probe->arguments[1], &object);

    if (err) {
        failed(probe, err);
        err_free(err);
        return;
    }
    struct events *events = events_new(&probe->group, &(struct events_config){
                                                          .kube = probe->connection.kube,
                                                          .controller = "disk.csi.azure.com",
                                                          .instance = "kube-probe",
                                                          .failed = failed,
                                                          .ctx = probe,
                                                      });
    for (unsigned long times = strtoul(probe->arguments[2], NULL, 10); times > 0; times--)
        events_record(events, &LEASES, object->metadata, EVENT_WARNING, "Probed", "Probing",
                      "told by %s", "kube_probe");
    wait_for_end(self, probe);
    group_close(self, &probe->group);
    events_free(events);
}

/* ---- the program ---- */

static const struct mode {
    const char *name;
    int n_arguments;
    void (*run)(struct task *self, struct probe *probe);
} modes[] = {{"mirror", 1, mirror}, {"lead", 5, lead}, {"tell", 3, tell}};

static const struct mode *mode_of(int argc, char *argv[])
{
    for (size_t i = 0; argc > 2 && i < COUNT_OF(modes); i++)
        if (strcmp(modes[i].name, argv[2]) == 0 && argc == 3 + modes[i].n_arguments)
            return &modes[i];
    return NULL;
}

struct start {
    struct probe *probe;
    const struct mode *mode;
};

static void run(struct task *self, void *arg)
{
    const struct start *start = arg;

    start->mode->run(self, start->probe);
}

int main(int argc, char *argv[])
{
    CLEANUP(loop_freep) struct loop *loop = loop_new();
    struct probe probe = {.loop = loop, .arguments = argv + 3};
    struct start start = {&probe, mode_of(argc, argv)};

    if (!start.mode) {
        fprintf(stderr, "usage: %s KUBECONFIG mirror|lead|tell ARGUMENTS\n", argv[0]);
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    group_init(&probe.group, loop);
    waiters_init(&probe.stop);
    CLEANUP(err_freep)
    struct err *err = kube_connect(loop, argv[1], NULL, "kube-probe", &probe.connection);
    if (err) {
        fprintf(stderr, "%s\n", err_message(err));
        return 1;
    }
    loop_on_signal(loop, SIGTERM, on_terminate, &probe);
    loop_spawn(loop, start.mode->name, run, &start);
    loop_run(loop);
    kube_disconnect(&probe.connection);
    return 0;
}
