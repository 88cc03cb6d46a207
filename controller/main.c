/* azdisk-controller: serves CSI's Controller service, and reconciles while it leads. */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "controller/app.h"
#include "controller/cloud_config.h"
#include "controller/csi/service.h"
#include "controller/flags.h"
#include "controller/metrics.h"
#include "controller/node_lock.h"
#include "controller/user_agent.h"
#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/kube/connection.h"
#include "lib/program/csi_call.h"
#include "lib/program/csi_driver.h"
#include "lib/program/monitoring.h"
#include "lib/program/process.h"
#include "provisioner-lib/azure/azure.h"

#define USER_AGENT "azdisk-controller/" VERSION

enum { SHUTDOWN_GRACE_MS = 5 * 1000 };

/* Everything that lives as long as the program, in the order in which it is made. */
struct program {
    struct flags flags;
    struct process process;
    struct app app;
    struct kube_connection connection;
    struct azure_config azure_config;
    struct http_client *cloud_http, *metadata_http;

    struct node_lock *node_lock;
    struct csi_identity csi_identity;
    struct rpc_server *csi;
    struct monitoring monitoring;

    bool serving;
};

static void on_lease_lost(void *ctx)
{
    struct program *program = ctx;

    process_stop(&program->process, true);
}

/* ---- the pieces ---- */

static struct err *connect_cluster(struct program *program)
{
    struct kube_connection *connection = &program->connection;

    TRY(kube_connect(program->process.loop, program->flags.kubeconfig, NULL, USER_AGENT,
                     connection));
    app_connect_cluster(&program->app, connection->kube, http_client_transport(connection->http),
                        &connection->config);
    return NULL;
}

static struct err *connect_cloud(struct program *program)
{
    const char *ca_file = getenv("SSL_CERT_FILE");
    const char *configured = program->azure_config.user_agent;
    CLEANUP(freep) char *agent = user_agent_for_azure(&program->flags, configured, USER_AGENT);

    TRY(http_client_new(program->process.loop,
                        &(struct http_client_config){.user_agent = agent, .ca_file = ca_file},
                        &program->cloud_http));
    TRY(http_client_new(program->process.loop,
                        &(struct http_client_config){.user_agent = USER_AGENT, .proxy = ""},
                        &program->metadata_http));
    app_connect_cloud(&program->app, &program->azure_config,
                      http_client_transport(program->cloud_http),
                      http_client_transport(program->metadata_http));
    return NULL;
}

static void call_finished(void *ctx, const struct rpc_outcome *outcome)
{
    const struct program *program = ctx;
    const char *driver_name = program->flags.settings.driver_name;

    csi_call_count(driver_name, outcome);
    metrics_count_operation(driver_name, &program->azure_config, outcome->method, !outcome->err,
                            outcome->duration_ms);
    csi_call_log(outcome, LOG_INFO);
}

/* What the sidecars ask before they begin; kubelet asks /readyz. */
static bool may_sidecars_work(void *ctx)
{
    const struct program *program = ctx;

    return program->serving && node_lock_is_held(program->node_lock);
}

static struct err *serve_csi(struct program *program)
{
    const char *const endpoints[] = {program->flags.endpoint, NULL};

    program->csi_identity =
        csi_driver_identity(program->flags.settings.driver_name, may_sidecars_work, program);
    const struct rpc_service services[] = {csi_identity_service(&program->csi_identity),
                                           csi_controller_service(&program->app.controller)};
    struct err *err = rpc_server_new(program->process.loop,
                                     &(struct rpc_server_config){
                                         .endpoints = endpoints,
                                         .services = services,
                                         .n_services = COUNT_OF(services),
                                         .finished = call_finished,
                                         .finished_ctx = program,
                                     },
                                     &program->csi);
    return err ? err_wrap(err, "--endpoint") : NULL;
}

static struct err *is_ready(void *ctx)
{
    const struct program *program = ctx;

    return program->serving
               ? NULL
               : err_new(ERR_UNAVAILABLE, "the cluster's objects have not been read yet");
}

static void refresh_metrics(void *ctx)
{
    const struct program *program = ctx;

    if (!program->serving)
        return;
    metrics_refresh(&program->app.controller, app_leads(&program->app));
    azure_cloud_refresh_metrics(program->app.controller.cloud);
}

static struct err *serve_probes(struct program *program)
{
    return monitoring_start(&program->process,
                            &(struct monitoring_config){
                                .health_address = program->flags.health_address,
                                .metrics_address = program->flags.metrics_address,
                                .metrics_patient = true,
                                .metrics_files = program->flags.metrics_tls,
                                .reload_interval_ms = program->flags.tls_reload_interval_ms,
                                .table = CONTROLLER_METRICS,
                                .n_table = N_CONTROLLER_METRICS,
                                .ready = is_ready,
                                .refresh = refresh_metrics,
                                .ctx = program,
                            },
                            &program->monitoring);
}

/* ---- the life of the program ---- */

/* What initialises TLS and gRPC needs more stack than a task has. */
struct piece {
    struct program *program;
    struct err *(*make)(struct program *program);
    struct err *err;
};

static void make_piece(void *arg)
{
    struct piece *piece = arg;

    piece->err = piece->make(piece->program);
}

static struct err *make(struct task *self, struct program *program,
                        struct err *(*fn)(struct program *program))
{
    struct piece piece = {.program = program, .make = fn};

    loop_call(self, make_piece, &piece);
    return piece.err;
}

static struct err *start(struct task *self, struct program *program)
{
    struct app *app = &program->app;

    TRY(make(self, program, serve_probes));
    TRY(make(self, program, connect_cluster));
    TRY(cloud_config_load(self, program->connection.kube, &program->flags, &program->azure_config));
    TRY(make(self, program, connect_cloud));
    TRY(app_read_cluster(self, app));
    CLEANUP(freep)
    char *name = mem_printf("%s/%s", program->flags.lease_namespace, program->flags.lease_name);
    program->node_lock = node_lock_new(program->process.loop, name);
    TRY(make(self, program, serve_csi));
    program->serving = true;
    app_campaign(app, on_lease_lost, program);
    log_info("serving CSI on %s", program->flags.endpoint);
    return NULL;
}

static void finish(struct task *self, struct program *program)
{
    program->serving = false;
    app_resign(self, &program->app);
    if (program->csi)
        rpc_server_close(self, program->csi, SHUTDOWN_GRACE_MS);
    node_lock_free(program->node_lock);
    monitoring_close(self, &program->monitoring);
    app_close(self, &program->app);
    http_client_free(program->cloud_http);
    http_client_free(program->metadata_http);
    azure_config_fini(&program->azure_config);
    kube_disconnect(&program->connection);
}

static void start_until_done(struct task *self, void *arg)
{
    struct program *program = arg;
    struct err *err = start(self, program);

    if (err && !program->process.stopping)
        process_fail(&program->process, err);
    err_free(err);
}

/* Starting may wait for a cluster that does not answer; the wish to end must not. */
static void run(struct task *self, void *arg)
{
    struct program *program = arg;
    struct task_group starting;

    group_init(&starting, program->process.loop);
    group_spawn(&starting, "start", start_until_done, program);
    process_wait_stop(self, &program->process);
    group_close(self, &starting);
    finish(self, program);
}

int main(int argc, char *argv[])
{
    static struct program program;
    static char host[256];
    int status;

    cloud_config_guard_memory();
    malloc_use_one_arena();
    if (!flags_parse(argc, argv, &program.flags, &status))
        return status;
    if (!program.flags.pod_name[0] && gethostname(host, sizeof host - 1) == 0)
        program.flags.pod_name = host;

    process_init(&program.process, "azdisk-controller", &program.flags.log);
    app_init(&program.app, program.process.loop, &program.flags);
    return process_run(&program.process, run, &program);
}
