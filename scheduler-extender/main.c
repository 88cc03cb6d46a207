/* azdisk-scheduler-extender: tells kube-scheduler which nodes have a pod's disks attached. */

#include <stdlib.h>

#include "lib/base/log.h"
#include "lib/kube/connection.h"
#include "lib/program/listener.h"
#include "lib/program/monitoring.h"
#include "lib/program/process.h"
#include "lib/program/shared_metrics.h"
#include "scheduler-extender/flags.h"
#include "scheduler-extender/informers.h"
#include "scheduler-extender/metrics.h"
#include "scheduler-extender/placement_service.h"
#include "scheduler-extender/service.h"

#define USER_AGENT "azdisk-scheduler-extender/" VERSION

/* Everything that lives as long as the program, in the order in which it is made. */
struct program {
    struct flags flags;
    struct process process;
    struct extender extender;
    struct kube_connection connection;
    struct task_group background; /* reflectors */

    struct monitoring monitoring;
    struct listener calls; /* of kube-scheduler */
    struct service *service;

    /* Of --placement-mode, unless it is none. */
    struct leader_watch *leader;
    struct overdue_gates *gates;
    struct listener reviews; /* of the API server; its certificate may come later */
    struct placement_service *placement;
};

/* ---- the pieces ---- */

static struct err *connect_cluster(struct program *program)
{
    struct extender *extender = &program->extender;

    TRY(kube_connect(extender->loop, program->flags.kubeconfig, NULL, USER_AGENT,
                     &program->connection));
    extender->kube = program->connection.kube;
    return NULL;
}

/* Calls are answered, neutrally, while the cluster is still being read: see verbs.h. */
static struct err *is_ready(void *ctx)
{
    const struct program *program = ctx;

    if (!informers_is_synced(&program->extender))
        return err_new(ERR_UNAVAILABLE, "the cluster's objects have not been read yet");
    if (program->flags.placement.mode != PLACEMENT_NONE && !program->placement)
        return err_new(ERR_UNAVAILABLE, "there is no certificate for the webhook yet");
    return NULL;
}

static void refresh_metrics(void *ctx)
{
    const struct program *program = ctx;

    metrics_refresh(&program->extender);
}

static void on_listener_failed(void *ctx)
{
    struct program *program = ctx;

    process_stop(&program->process, true);
}

static struct err *serve_metrics(struct program *program)
{
    const char *health_address = program->flags.health_address;

    return monitoring_start(&program->process,
                            &(struct monitoring_config){
                                .health_address = health_address[0] ? health_address : NULL,
                                .metrics_address = program->flags.metrics_address,
                                .metrics_files = program->flags.metrics_tls,
                                .reload_interval_ms = program->flags.tls_reload_interval_ms,
                                .table = EXTENDER_METRICS,
                                .n_table = N_EXTENDER_METRICS,
                                .ready = is_ready,
                                .refresh = refresh_metrics,
                                .ctx = program,
                            },
                            &program->monitoring);
}

/* ---- kube-scheduler's calls ---- */

static struct err *open_calls(void *ctx, const struct tls_pem *pem)
{
    struct program *program = ctx;
    struct err *err = service_new(program->extender.loop,
                                  &(struct service_config){
                                      .extender = &program->extender,
                                      .address = program->flags.address,
                                      .max_request = (size_t)program->flags.max_request_bytes,
                                  },
                                  pem, &program->service);

    return err ? err_wrap(err, "--address") : NULL;
}

static void close_calls(struct task *self, void *ctx)
{
    struct program *program = ctx;

    service_close(self, TAKE_PTR(program->service));
}

static struct err *serve_calls(struct program *program)
{
    const struct flags *flags = &program->flags;

    program->calls = (struct listener){
        .name = "kube-scheduler",
        .files = flags->tls,
        .reload_interval_ms = flags->tls_reload_interval_ms,
        .open = open_calls,
        .close = close_calls,
        .failed = on_listener_failed,
        .ctx = program,
    };
    return listener_start(&program->calls, &program->background);
}

/* ---- the API server's calls ---- */

static struct err *open_reviews(void *ctx, const struct tls_pem *pem)
{
    struct program *program = ctx;
    struct err *err = placement_service_new(program->extender.loop,
                                            &(struct placement_config){
                                                .extender = &program->extender,
                                                .rules = &program->flags.placement,
                                                .leader = program->leader,
                                                .gates = program->gates,
                                                .address = program->flags.placement_address,
                                            },
                                            pem, &program->placement);

    return err ? err_wrap(err, "--placement-address") : NULL;
}

static struct err *renew_reviews(void *ctx, const struct tls_pem *pem)
{
    const struct program *program = ctx;

    if (!program->placement)
        return NULL; /* the program ends */
    struct err *err = placement_service_renew(program->placement, pem);

    return err ? err_wrap(err, "--placement-tls-cert-file") : NULL;
}

static void close_reviews(struct task *self, void *ctx)
{
    struct program *program = ctx;

    placement_service_close(self, TAKE_PTR(program->placement));
}

/* What has once added gates goes on removing them in each mode that has a webhook. */
static struct err *serve_reviews(struct program *program)
{
    const struct flags *flags = &program->flags;
    struct kube *kube = program->extender.kube;
    struct loop *loop = program->extender.loop;

    if (flags->placement.mode == PLACEMENT_NONE)
        return NULL;
    program->gates = overdue_gates_start(
        loop, &program->background,
        &(struct overdue_gates_config){.kube = kube, .failed = metrics_watch_failed});
    if (flags->placement.mode == PLACEMENT_NOMINATE)
        program->leader =
            leader_watch_start(loop, &program->background,
                               &(struct leader_watch_config){.kube = kube,
                                                             .namespace_ = flags->lease_namespace,
                                                             .name = flags->lease_name,
                                                             .failed = metrics_watch_failed});
    program->reviews = (struct listener){
        .name = "the API server",
        .files = {"--placement-", flags->placement_cert_file, flags->placement_key_file, ""},
        .reload_interval_ms = flags->tls_reload_interval_ms,
        .may_wait = true,
        .open = open_reviews,
        .renew = renew_reviews,
        .close = close_reviews,
        .failed = on_listener_failed,
        .ctx = program,
    };
    return listener_start(&program->reviews, &program->background);
}

/* ---- the life of the program ---- */

static struct err *start(struct program *program)
{
    TRY(connect_cluster(program));
    TRY(serve_metrics(program));
    TRY(serve_calls(program)); /* what cannot be served needs no complaints about the cluster */
    TRY(serve_reviews(program));
    informers_start(&program->extender, &program->background);
    log_info("serving kube-scheduler on %s", program->flags.address);
    if (program->placement)
        log_info("serving the API server's webhook calls on %s", program->flags.placement_address);
    return NULL;
}

static void finish(struct task *self, struct program *program)
{
    close_reviews(self, program); /* no more gates from now on */
    if (program->gates)
        overdue_gates_leave(self, program->gates);
    group_close(self, &program->background);
    close_reviews(self, program); /* new certificates may have opened it again */
    close_calls(self, program);
    monitoring_close(self, &program->monitoring);
    overdue_gates_free(program->gates);
    leader_watch_free(program->leader);
    informers_free(&program->extender);
    kube_disconnect(&program->connection);
    listener_fini(&program->calls);
    listener_fini(&program->reviews);
}

static void run(struct task *self, void *arg)
{
    struct program *program = arg;
    CLEANUP(err_freep) struct err *err = start(program);

    if (err)
        process_fail(&program->process, err);
    process_wait_stop(self, &program->process);
    finish(self, program);
}

int main(int argc, char *argv[])
{
    static struct program program;
    int status;

    malloc_use_one_arena();
    if (!flags_parse(argc, argv, &program.flags, &status))
        return status;
    process_init(&program.process, "azdisk-scheduler-extender", &program.flags.log);
    program.extender.loop = program.process.loop;
    program.extender.settings = program.flags.settings;
    group_init(&program.background, program.process.loop);
    return process_run(&program.process, run, &program);
}
