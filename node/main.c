/* azdisk-node: serves CSI's Node service on one node. */

#include <stdlib.h>
#include <sys/prctl.h>

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/kube/connection.h"
#include "lib/program/csi_call.h"
#include "lib/program/csi_driver.h"
#include "lib/program/monitoring.h"
#include "lib/program/process.h"
#include "lib/rpc/endpoint.h"
#include "node/csi_service.h"
#include "node/fence_watch.h"
#include "node/flags.h"
#include "node/heartbeat.h"
#include "node/informers.h"
#include "node/left_mount.h"
#include "node/metrics.h"
#include "node/node_lease.h"
#include "node/preempt_request.h"
#include "node/registration.h"
#include "node/replica_check.h"
#include "node/replica_disk.h"
#include "node/running_job.h"
#include "node/startup_taint.h"
#include "node/volume_looks.h"

#define USER_AGENT "azdisk-node/" VERSION

/* Kubernetes kills the container 30 seconds after it asked it to end, unless the pod says otherwise
 * (terminationGracePeriodSeconds). */
enum {
    PROGRAMS_MS = 20 * 1000,      /* for mkfs and fsck to end in order */
    SHUTDOWN_GRACE_MS = 5 * 1000, /* for calls, then */
    GOODBYE_MS = 5 * 1000,        /* for the last heartbeat and the Lease, meanwhile */
};

/* Of what NodeGetVolumeStats says: kubelet asks once a minute. */
static const struct volume_looks_config LOOKS = {
    .roots = {"/sys", "/dev"},
    .look = usage_look,
    .patience_ms = 5 * 1000,
    .most_age_ms = 10 * 60 * 1000,
    .most_looks = 64, /* as many disks as a VM can have: none waits for others that hang */
};

/* Everything that lives as long as the program, in the order in which it is made. */
struct program {
    struct flags flags;
    struct process process;
    struct node node;
    struct monitoring monitoring;
    struct kube_connection connection;
    struct http_client *metadata_http;
    struct task_group background; /* reflectors */
    struct task_group heart;
    struct csi_identity identity;
    char *registration; /* endpoint */
    struct rpc_server *csi;
    struct err *csi_err; /* why there is none */
};

/* ---- the pieces ---- */

static struct err *is_ready(void *ctx)
{
    const struct program *program = ctx;

    if (!program->node.attachments)
        return err_new(ERR_UNAVAILABLE, "the plug-in is starting");
    return node_check_ready(&program->node);
}

static void refresh_metrics(void *ctx)
{
    const struct program *program = ctx;

    if (program->node.attachments)
        metrics_refresh(&program->node);
}

static struct err *serve_probes(struct program *program)
{
    const char *metrics_address = program->flags.metrics_address;

    return monitoring_start(&program->process,
                            &(struct monitoring_config){
                                .health_address = program->flags.health_address,
                                .metrics_address = metrics_address[0] ? metrics_address : NULL,
                                .metrics_files = program->flags.metrics_tls,
                                .reload_interval_ms = program->flags.tls_reload_interval_ms,
                                .table = NODE_METRICS,
                                .n_table = N_NODE_METRICS,
                                .ready = is_ready,
                                .refresh = refresh_metrics,
                                .ctx = program,
                            },
                            &program->monitoring);
}

static struct err *connect_all(struct program *program)
{
    struct node *node = &program->node;

    TRY(kube_connect(node->loop, program->flags.kubeconfig, NULL, USER_AGENT,
                     &program->connection));
    node->kube = program->connection.kube;
    TRY(http_client_new(node->loop,
                        &(struct http_client_config){.user_agent = USER_AGENT, .proxy = ""},
                        &program->metadata_http));
    node->metadata = http_client_transport(program->metadata_http);
    return NULL;
}

/* What has been done with a volume is logged where it was done. */
static void call_finished(void *ctx, const struct rpc_outcome *outcome)
{
    const struct program *program = ctx;

    csi_call_count(program->node.settings.driver_name, outcome);
    csi_call_log(outcome, LOG_DEBUG);
}

static bool is_synced(void *ctx)
{
    const struct node *node = ctx;

    return store_is_synced(node->attachments);
}

/* gRPC would say less, and not which flag it is. */
static struct err *check_endpoint(const char *flag, const char *endpoint)
{
    const char *path;
    struct err *err = endpoint_path(endpoint, &path);

    if (!err)
        err = endpoint_check(path);
    return err ? err_wrap(err, "%s", flag) : NULL;
}

/* On the loop's own stack, because gRPC's start needs a large one. */
static void serve_csi(void *arg)
{
    struct program *program = arg;
    struct node *node = &program->node;
    const char *const endpoints[] = {program->flags.endpoint, program->registration, NULL};

    program->identity = csi_driver_identity(node->settings.driver_name, is_synced, node);
    const struct rpc_service services[] = {csi_identity_service(&program->identity),
                                           csi_node_service(node), registration_service(node)};
    program->csi_err = rpc_server_new(node->loop,
                                      &(struct rpc_server_config){
                                          .endpoints = endpoints,
                                          .services = services,
                                          .n_services = COUNT_OF(services),
                                          .finished = call_finished,
                                          .finished_ctx = program,
                                      },
                                      &program->csi);
}

/* ---- the life of the program ---- */

static struct err *start(struct task *self, struct program *program)
{
    struct node *node = &program->node;

    TRY(serve_probes(program));
    TRY(connect_all(program));
    node->host =
        host_new(node->loop, &(struct host_config){
                                 .roots = {"/sys", "/dev"},
                                 .max_formats = (unsigned)program->flags.max_concurrent_format,
                                 .memory = {"/sys/fs/cgroup", "/proc"},
                             });
    node->looks = volume_looks_new(node->loop, &LOOKS);
    program->registration =
        registration_endpoint(program->flags.registration_dir, node->settings.driver_name);
    TRY(check_endpoint("--endpoint", program->flags.endpoint));
    TRY(check_endpoint("--registration-dir", program->registration));
    informers_start(node, &program->background);
    running_job_start(node, &program->background);
    replica_disks_start(node, &program->background);
    preempt_requests_start(node, &program->background);
    fence_watch_start(node, &program->background);
    left_mounts_start(node, &program->background);
    node_lease_start(node, &program->heart);
    replica_checks_start(node, &program->background);
    loop_call(self, serve_csi, program);
    TRY(TAKE_PTR(program->csi_err));
    node->serving = true;
    registration_start(node, &program->background, program->registration);
    if (node->settings.remove_not_ready_taint)
        startup_taint_start(node, &program->background);
    heartbeat_start(node, &program->heart);
    log_info("serving CSI on %s", program->flags.endpoint);
    return NULL;
}

static void say_goodbye(struct task *self, struct program *program)
{
    struct task_group *heart = &program->heart;
    uint64_t deadline = loop_now(program->node.loop) + GOODBYE_MS;

    while (heart->n_members > 0) {
        CLEANUP(err_freep) struct err *err = wait_for_change(self, &heart->ended, deadline);

        if (err)
            break;
    }
    group_close(self, heart);
}

static void finish(struct task *self, struct program *program)
{
    struct node *node = &program->node;

    node_stop(node);
    if (node->host)
        host_stop(node->host, loop_now(node->loop) + PROGRAMS_MS);
    say_goodbye(self, program);
    if (node->host)
        host_wait(self, node->host);
    if (program->csi)
        rpc_server_close(self, program->csi, SHUTDOWN_GRACE_MS);
    monitoring_close(self, &program->monitoring);
    volume_looks_free(node->looks);
    group_close(self, &program->background);
    if (node->host)
        host_close(self, node->host);
    http_client_free(program->metadata_http);
    informers_free(node);
    kube_disconnect(&program->connection);
    free(program->registration);
    free(node->registration_error);
    free(node->zone);
    free(node->cluster_id);
}

static void run(struct task *self, void *arg)
{
    struct program *program = arg;
    CLEANUP(err_freep) struct err *err = start(self, program);

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
    prctl(PR_SET_DUMPABLE, 0); /* a core would contain the secrets of the calls under way */
    process_init(&program.process, "azdisk-node", &program.flags.log);
    program.node.loop = program.process.loop;
    program.node.settings = program.flags.settings;
    waiters_init(&program.node.changed);
    list_init(&program.node.replica_disks);
    list_init(&program.node.replica_checks);
    list_init(&program.node.left_mounts);
    group_init(&program.background, program.process.loop);
    group_init(&program.heart, program.process.loop);
    return process_run(&program.process, run, &program);
}
