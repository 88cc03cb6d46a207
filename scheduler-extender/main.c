/* azdisk-scheduler-extender: tells kube-scheduler which nodes have a pod's disks attached. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/log.h"
#include "lib/http/probes.h"
#include "lib/kube/connection.h"
#include "lib/rt/malloc_tuning.h"
#include "scheduler-extender/credentials.h"
#include "scheduler-extender/informers.h"
#include "scheduler-extender/metrics.h"
#include "scheduler-extender/service.h"

#define USER_AGENT "azdisk-scheduler-extender/" VERSION

/* Everything that lives as long as the program, in the order in which it is made. */
struct program {
    struct flags flags;
    struct extender extender;
    struct kube_connection connection;
    struct task_group background; /* reflectors */

    struct credentials credentials;
    struct service *service;
    struct probes *metrics;

    bool stopping, failed;
    struct waiters stop;
};

static void stop_program(struct program *program, bool failed)
{
    program->stopping = true;
    program->failed |= failed;
    waiters_wake(&program->stop);
}

static void on_terminate(void *ctx)
{
    log_info("received a signal to terminate");
    stop_program(ctx, false);
}

/* ---- the pieces ---- */

static struct err *connect_cluster(struct program *program)
{
    struct extender *extender = &program->extender;

    TRY(kube_connect(extender->loop, program->flags.kubeconfig, USER_AGENT, &program->connection));
    extender->kube = program->connection.kube;
    return NULL;
}

/* Calls are answered, neutrally, while the cluster is still being read: see verbs.h. */
static struct err *is_ready(void *ctx)
{
    const struct program *program = ctx;

    if (informers_is_synced(&program->extender))
        return NULL;
    return err_new(ERR_UNAVAILABLE, "the cluster's objects have not been read yet");
}

static void refresh_metrics(void *ctx)
{
    const struct program *program = ctx;

    metrics_refresh(&program->extender);
}

static struct err *serve_calls(struct program *program)
{
    struct err *err = service_new(program->extender.loop,
                                  &(struct service_config){
                                      .extender = &program->extender,
                                      .address = program->flags.address,
                                      .certificate_pem = program->credentials.certificate,
                                      .key_pem = program->credentials.key,
                                      .client_ca_pem = program->credentials.client_ca,
                                      .max_request = (size_t)program->flags.max_request_bytes,
                                  },
                                  &program->service);

    return err ? err_wrap(err, "--address") : NULL;
}

/* On the loop's stack, which TLS needs. */
static void serve_calls_again(void *arg)
{
    struct program *program = arg;
    CLEANUP(err_freep) struct err *err = serve_calls(program);

    if (!err) {
        log_info("the certificates have changed; now serving with the new ones");
        return;
    }
    log_error("%s", err_message(err));
    stop_program(program, true);
}

static struct err *serve(struct program *program)
{
    const struct flags *flags = &program->flags;
    struct probes_config probes = {
        .address = flags->metrics_address,
        .metrics = EXTENDER_METRICS,
        .n_metrics = N_EXTENDER_METRICS,
        .ready = is_ready,
        .refresh = refresh_metrics,
        .ctx = program,
    };

    TRY(credentials_read(flags, &program->credentials));
    struct err *err = probes_new(program->extender.loop, &probes, &program->metrics);
    if (err)
        return err_wrap(err, "--metrics-address");
    return serve_calls(program);
}

/* Certificates expire; what has taken their place in the files is used from then on. */
static void reload(struct task *self, void *arg)
{
    struct program *program = arg;

    while (!task_is_cancelled(self)) {
        CLEANUP(credentials_fini) struct credentials read = {0};

        err_free(task_sleep(self, program->flags.tls_reload_interval_ms));
        CLEANUP(err_freep) struct err *err = credentials_read(&program->flags, &read);
        if (err)
            log_warning("%s; continuing with the certificates read before", err_message(err));
        if (err || task_is_cancelled(self) || credentials_equal(&read, &program->credentials))
            continue;
        service_close(self, TAKE_PTR(program->service));
        credentials_fini(&program->credentials);
        program->credentials = read;
        read = (struct credentials){0};
        loop_call(self, serve_calls_again, program);
    }
}

/* ---- the life of the program ---- */

static struct err *start(struct program *program)
{
    TRY(connect_cluster(program));
    TRY(serve(program)); /* first: what cannot be served needs no complaints about the cluster */
    informers_start(&program->extender, &program->background);
    if (program->credentials.certificate)
        group_spawn(&program->background, "certificates", reload, program);
    log_info("serving kube-scheduler on %s", program->flags.address);
    return NULL;
}

static void finish(struct task *self, struct program *program)
{
    group_close(self, &program->background);
    service_close(self, program->service);
    probes_close(self, program->metrics);
    informers_free(&program->extender);
    kube_disconnect(&program->connection);
    credentials_fini(&program->credentials);
}

static void run(struct task *self, void *arg)
{
    struct program *program = arg;
    CLEANUP(err_freep) struct err *err = start(program);

    if (err) {
        fprintf(stderr, "azdisk-scheduler-extender: %s\n", err_message(err));
        program->failed = true;
    }
    while (!err && !program->stopping)
        wait_uninterruptible(self, &program->stop);
    finish(self, program);
    loop_stop(program->extender.loop);
}

int main(int argc, char *argv[])
{
    static struct program program;
    static struct malloc_trimmer trimmer;
    CLEANUP(loop_freep) struct loop *loop = NULL;
    int status;

    malloc_use_one_arena();
    if (!flags_parse(argc, argv, &program.flags, &status))
        return status;
    log_setup((int)program.flags.verbosity, (enum log_format)program.flags.log_format);

    signal(SIGPIPE, SIG_IGN);
    loop = loop_new();
    program.extender.loop = loop;
    program.extender.settings = program.flags.settings;
    waiters_init(&program.stop);
    group_init(&program.background, loop);
    loop_on_signal(loop, SIGTERM, on_terminate, &program);
    loop_on_signal(loop, SIGINT, on_terminate, &program);
    loop_spawn(loop, "main", run, &program);
    malloc_trim_regularly(loop, &trimmer);
    loop_run(loop);
    return program.failed ? 1 : 0;
}
