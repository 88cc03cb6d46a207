/* azdisk-scheduler-extender: tells kube-scheduler which nodes have a pod's disks attached. */

#include <stdlib.h>

#include "lib/base/log.h"
#include "lib/kube/connection.h"
#include "lib/program/monitoring.h"
#include "lib/program/process.h"
#include "scheduler-extender/credentials.h"
#include "scheduler-extender/informers.h"
#include "scheduler-extender/metrics.h"
#include "scheduler-extender/service.h"

#define USER_AGENT "azdisk-scheduler-extender/" VERSION

/* Everything that lives as long as the program, in the order in which it is made. */
struct program {
    struct flags flags;
    struct process process;
    struct extender extender;
    struct kube_connection connection;
    struct task_group background; /* reflectors */

    struct credentials credentials;
    struct service *service;
    struct monitoring monitoring;
};

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
    process_stop(&program->process, true);
}

static struct err *serve(struct program *program)
{
    TRY(credentials_read(&program->flags, &program->credentials));
    TRY(monitoring_start(program->process.loop,
                         &(struct monitoring_config){
                             .metrics_address = program->flags.metrics_address,
                             .table = EXTENDER_METRICS,
                             .n_table = N_EXTENDER_METRICS,
                             .ready = is_ready,
                             .refresh = refresh_metrics,
                             .ctx = program,
                         },
                         &program->monitoring));
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
    monitoring_close(self, &program->monitoring);
    informers_free(&program->extender);
    kube_disconnect(&program->connection);
    credentials_fini(&program->credentials);
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
