/* azdisk-scheduler-extender: tells kube-scheduler which nodes have a pod's disks attached. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/file.h"
#include "lib/base/log.h"
#include "lib/http/certificates.h"
#include "lib/http/probes.h"
#include "lib/kube/connection.h"
#include "lib/rt/heap.h"
#include "scheduler-extender/flags.h"
#include "scheduler-extender/metrics.h"
#include "scheduler-extender/mirror.h"
#include "scheduler-extender/service.h"

#define USER_AGENT "azdisk-scheduler-extender/" VERSION

enum { LARGEST_PEM = 1024 * 1024 };

/* Everything that lives as long as the program, in the order in which it is made. */
struct program {
    struct flags flags;
    struct extender extender;
    struct kube_connection connection;
    struct task_group background; /* reflectors */

    char *certificate_pem, *key_pem; /* NULL: plain HTTP */
    struct service *service;
    struct probes *metrics;

    bool stopping, failed;
    struct waiters stop;
};

static void on_terminate(void *ctx)
{
    struct program *program = ctx;

    log_info("asked to end");
    program->stopping = true;
    waiters_wake(&program->stop);
}

/* ---- the pieces ---- */

static struct err *connect_cluster(struct program *program)
{
    struct extender *extender = &program->extender;

    TRY(kube_connect(extender->loop, program->flags.kubeconfig, USER_AGENT, &program->connection));
    extender->kube = program->connection.kube;
    return NULL;
}

static struct err *read_pem(const char *flag, const char *path, char **ret_pem)
{
    size_t length;
    struct err *err = file_read(path, LARGEST_PEM, ret_pem, &length);

    return err ? err_wrap(err, "%s", flag) : NULL;
}

static struct err *read_certificate(struct program *program)
{
    const struct flags *flags = &program->flags;

    if (!flags->tls_cert_file[0])
        return NULL;
    TRY(read_pem("--tls-cert-file", flags->tls_cert_file, &program->certificate_pem));
    TRY(read_pem("--tls-key-file", flags->tls_key_file, &program->key_pem));
    struct err *err = certificates_check_pair(program->certificate_pem, program->key_pem);
    return err ? err_wrap(err, "--tls-cert-file %s, --tls-key-file %s", flags->tls_cert_file,
                          flags->tls_key_file)
               : NULL;
}

/* Calls are answered, neutrally, while the cluster is still being read: see placement.h. */
static struct err *is_ready(void *ctx)
{
    const struct program *program = ctx;

    if (mirror_is_synced(&program->extender))
        return NULL;
    return err_new(ERR_UNAVAILABLE, "the cluster has not been read yet");
}

static void refresh_metrics(void *ctx)
{
    const struct program *program = ctx;

    metrics_refresh(&program->extender);
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

    TRY(read_certificate(program));
    struct err *err = probes_new(program->extender.loop, &probes, &program->metrics);
    if (err)
        return err_wrap(err, "--metrics-address");
    err = service_new(program->extender.loop,
                      &(struct service_config){
                          .extender = &program->extender,
                          .address = flags->address,
                          .certificate_pem = program->certificate_pem,
                          .key_pem = program->key_pem,
                          .max_request = (size_t)flags->max_request_bytes,
                      },
                      &program->service);
    return err ? err_wrap(err, "--address") : NULL;
}

/* ---- the life of the program ---- */

static struct err *start(struct program *program)
{
    TRY(connect_cluster(program));
    TRY(serve(program)); /* first: what cannot be served needs no complaints about the cluster */
    mirror_start(&program->extender, &program->background);
    log_info("serving kube-scheduler on %s", program->flags.address);
    return NULL;
}

static void finish(struct task *self, struct program *program)
{
    service_close(self, program->service);
    probes_close(self, program->metrics);
    group_close(self, &program->background);
    mirror_free(&program->extender);
    kube_disconnect(&program->connection);
    free(program->certificate_pem);
    free(program->key_pem);
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
        wait_through(self, &program->stop);
    finish(self, program);
    loop_stop(program->extender.loop);
}

int main(int argc, char *argv[])
{
    static struct program program;
    static struct heap_trimmer trimmer;
    CLEANUP(loop_freep) struct loop *loop = NULL;
    int status;

    heap_setup();
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
    heap_trim_regularly(loop, &trimmer);
    loop_run(loop);
    return program.failed ? 1 : 0;
}
