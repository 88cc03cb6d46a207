#include "test/sim/controller_process.h"

#include <string.h>

#include "controller/app.h"
#include "controller/csi/service.h"
#include "lib/base/alloc.h"
#include "test/sim/azure_side.h"
#include "test/sim/invariant.h"
#include "test/sim/invariant_pace.h"
#include "test/sim/sim.h"

#define API_SERVER "https://kubernetes.default.svc"

enum { MOST_SKEW_MS = 2000 };

struct controller_process {
    struct process process;
    struct sim *sim;
    char *name;
    struct flags flags;
    struct app app;
    struct kube_config kube_config;
    struct azure_config azure_config;
    struct network_link *to_kube, *to_azure;
    struct pace *kube_pace, *azure_pace; /* before the links */
    struct kube *kube;
    struct task_group calls; /* of CSI */
    bool serving, stopping, ended;
    struct waiters stop;
};

/* ---- its life ---- */

static void stop_process(struct controller_process *process)
{
    process->stopping = true;
    waiters_wake(&process->stop);
}

static void lease_lost(void *ctx)
{
    struct controller_process *process = ctx;

    sim_note(process->sim, "%s lost the lease and ends", process->name);
    stop_process(process);
}

static void start_until_done(struct task *self, void *arg)
{
    struct controller_process *process = arg;
    struct err *err = app_read_cluster(self, &process->app);

    if (!err) {
        process->serving = true;
        app_campaign(&process->app, lease_lost, process);
    }
    err_free(err);
}

static void run(struct task *self, void *arg)
{
    struct controller_process *process = arg;
    struct task_group starting;

    group_init(&starting, process->process.loop);
    group_spawn(&starting, "start", start_until_done, process);
    while (!process->stopping)
        wait_uninterruptible(self, &process->stop);
    process->serving = false;
    group_close(self, &starting);
    app_resign(self, &process->app);
    group_close(self, &process->calls);
    app_close(self, &process->app);
    process->ended = true;
}

/* As the program has them without arguments. */
static void read_flags(struct flags *ret)
{
    static char program[] = "azdisk-controller";
    char *const arguments[] = {program, NULL};
    int status;

    if (!flags_parse(1, arguments, ret, &status))
        abort();
}

static void connect_servers(struct controller_process *process)
{
    struct sim *sim = process->sim;
    struct loop *loop = process->process.loop;

    process->kube_config = (struct kube_config){.server = mem_strdup(API_SERVER),
                                                .namespace_ = mem_strdup("azure-disk-csi")};
    process->to_kube =
        network_link_new(&process->process, kube_server_http(sim->kube), &sim->to_kube);
    process->to_azure =
        network_link_new(&process->process, azure_side_http(sim->azure_side), &sim->to_azure);
    process->kube_pace = pace_new(sim, network_link_http(process->to_kube), NULL);
    process->azure_pace = pace_new(sim, network_link_http(process->to_azure), &process->flags);
    process->kube = kube_new(loop, pace_http(process->kube_pace), &process->kube_config);
    azure_side_config(&process->azure_config);
    app_connect_cluster(&process->app, process->kube, pace_http(process->kube_pace),
                        &process->kube_config);
    app_connect_cloud(&process->app, &process->azure_config, pace_http(process->azure_pace),
                      pace_http(process->azure_pace));
}

struct controller_process *controller_process_start(struct sim *sim, const char *name)
{
    struct controller_process *process = mem_alloc(sizeof *process);

    process->sim = sim;
    process->name = mem_strdup(name);
    read_flags(&process->flags);
    process->flags.pod_name = process->name;
    process->flags.settings.node_grace_period_ms = sim->node_grace_ms;
    process->flags.settings.placement = sim->landscape.gates ? PLACEMENT_NOMINATE : PLACEMENT_NONE;
    process_start(&process->process, &sim->clockwork,
                  random_below(loop_random(sim->loop), MOST_SKEW_MS));
    app_init(&process->app, process->process.loop, &process->flags);
    group_init(&process->calls, process->process.loop);
    waiters_init(&process->stop);
    connect_servers(process);
    loop_spawn(process->process.loop, "main", run, process);
    sim_note(sim, "%s starts", name);
    return process;
}

static void close_links(struct task *self, void *arg)
{
    struct controller_process *process = arg;

    pace_free(process->kube_pace);
    pace_free(process->azure_pace);
    network_link_close(self, process->to_kube);
    network_link_close(self, process->to_azure);
    azure_config_fini(&process->azure_config);
    kube_config_fini(&process->kube_config);
    free(process->name);
    free(process);
}

void controller_process_kill(struct controller_process *process)
{
    struct sim *sim = process->sim;

    sim_note(sim, "%s %s", process->name, process->ended ? "is gone" : "is killed");
    network_link_cut(process->to_kube);
    network_link_cut(process->to_azure);
    pace_cut(process->kube_pace);
    pace_cut(process->azure_pace);
    stop_process(process);
    process_stop(&process->process);
    process_reap(&process->process);
    kube_free(process->kube);
    group_spawn(&sim->tasks, "close", close_links, process);
}

void controller_process_end(struct controller_process *process)
{
    sim_note(process->sim, "%s is told to end", process->name);
    stop_process(process);
}

void controller_process_pause(struct controller_process *process, uint64_t ms)
{
    sim_note(process->sim, "%s stands still for %lu ms", process->name, (unsigned long)ms);
    process_pause(&process->process, ms);
}

bool controller_process_leads(const struct controller_process *process)
{
    return app_leads(&process->app);
}

bool controller_process_serves(const struct controller_process *process)
{
    return process->serving && !process->stopping;
}

bool controller_process_ended(const struct controller_process *process)
{
    return process->ended;
}

/* ---- CSI calls ---- */

/* Held by the caller, a task of the world, and by the task that serves it. */
struct csi_call {
    unsigned holders;
    struct controller_process *process;
    const struct rpc_method *method;
    const ProtobufCMessageDescriptor *request_type, *response_type;
    ProtobufCMessage *request, *response;
    uint64_t timeout_ms;
    struct task *server; /* NULL: not running */
    bool answered, abandoned;
    struct err *err;
    struct waiters waiters;
};

static ProtobufCMessage *copy_message(const ProtobufCMessage *message)
{
    size_t size = protobuf_c_message_get_packed_size(message);
    CLEANUP(freep) uint8_t *packed = mem_alloc(size + 1);

    protobuf_c_message_pack(message, packed);
    return protobuf_c_message_unpack(message->descriptor, NULL, size, packed);
}

static void csi_call_let_go(struct csi_call *call)
{
    if (--call->holders > 0)
        return;
    protobuf_c_message_free_unpacked(call->request, NULL);
    if (call->response)
        protobuf_c_message_free_unpacked(call->response, NULL);
    err_free(call->err);
    free(call);
}

static void serve(struct task *self, void *arg)
{
    struct csi_call *call = arg;
    struct arena *arena = arena_new();
    struct rpc_call seen = {
        .method = call->method->name,
        .ctx = &call->process->app.controller,
        .arena = arena,
        .deadline = loop_deadline(call->process->process.loop, call->timeout_ms),
    };
    ProtobufCMessage *response = arena_alloc(arena, call->response_type->sizeof_message);

    call->server = self;
    protobuf_c_message_init(call->response_type, response);
    if (!call->abandoned)
        call->err = call->method->handler(self, &seen, call->request, response);
    if (call->process->stopping) { /* the connection breaks, whatever came of it */
        err_free(call->err);
        call->err = err_new(ERR_UNAVAILABLE, "%s: the controller ended", seen.method);
    }
    if (!call->err)
        call->response = copy_message(response);
    call->answered = true;
    call->server = NULL;
    waiters_wake(&call->waiters);
    arena_free(arena);
    csi_call_let_go(call);
}

static bool find_method(struct csi_call *call, const char *name)
{
    struct rpc_service service = csi_controller_service(&call->process->app.controller);
    const ProtobufCMethodDescriptor *descriptor =
        protobuf_c_service_descriptor_get_method_by_name(service.descriptor, name);

    for (size_t i = 0; i < service.n_methods; i++)
        if (strcmp(service.methods[i].name, name) == 0)
            call->method = service.methods + i;
    if (!descriptor || !call->method)
        return false;
    call->request_type = descriptor->input;
    call->response_type = descriptor->output;
    return true;
}

/* The caller gives up: gRPC cancels the call. */
static void abandon(struct csi_call *call)
{
    call->abandoned = true;
    if (call->server)
        task_cancel(call->server);
}

static struct err *wait_for_answer(struct task *self, struct csi_call *call)
{
    uint64_t deadline = loop_deadline(loop_of(self), call->timeout_ms);
    struct err *err = NULL;

    while (!err && !call->answered)
        err = wait_for_change(self, &call->waiters, deadline);
    if (err)
        abandon(call);
    return err ? err : TAKE_PTR(call->err);
}

struct err *controller_process_call(struct task *self, struct controller_process *process,
                                    const char *method, const ProtobufCMessage *request,
                                    uint64_t timeout_ms, ProtobufCMessage **ret_response)
{
    struct csi_call *call = mem_alloc(sizeof *call);

    *call = (struct csi_call){.holders = 1, .process = process, .timeout_ms = timeout_ms};
    waiters_init(&call->waiters);
    call->request = copy_message(request);
    if (!controller_process_serves(process) || !find_method(call, method)) {
        csi_call_let_go(call);
        return err_new(ERR_UNAVAILABLE, "%s: the controller does not serve", method);
    }
    call->holders++;
    struct sim *sim = process->sim;
    invariants_asked(sim, method, request);
    group_spawn(&process->calls, method, serve, call);
    struct err *err = wait_for_answer(self, call);
    invariants_answered(sim, method, request, err ? NULL : call->response, err);
    *ret_response = err ? NULL : TAKE_PTR(call->response);
    csi_call_let_go(call);
    return err;
}

Csi__V1__ListVolumesResponse *controller_process_list(struct controller_process *process)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct rpc_call call = {.ctx = &process->app.controller, .arena = arena};
    Csi__V1__ListVolumesRequest request;
    Csi__V1__ListVolumesResponse response;

    if (!controller_process_serves(process))
        return NULL;
    csi__v1__list_volumes_request__init(&request);
    csi__v1__list_volumes_response__init(&response);
    err_free(csi_list_volumes(NULL, &call, &request, &response)); /* it waits for nothing */
    return (Csi__V1__ListVolumesResponse *)(void *)copy_message(&response.base);
}
