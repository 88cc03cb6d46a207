#include "test/sim/scale.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/api/csi.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/base/file.h"
#include "lib/base/timestamp.h"
#include "test/azsim/model/throttle.h"
#include "test/azsim/model/vm.h"
#include "test/sim/azure_side.h"
#include "test/sim/controller_process.h"
#include "test/sim/sim.h"

#define NAMESPACE "azure-disk-csi"

enum {
    CALLERS = 100, /* worker threads of external-provisioner and external-attacher */
    CALL_TIMEOUT_MS = 60 * 1000,
    BEAT_MS = 60 * 1000,
    FILL_MS = 4 * 60 * 60 * 1000, /* Azure takes 500 changes of VMs a minute */
    SETTLE_MS = 10 * 60 * 1000,
    PROMOTIONS = 100,
    CREATIONS_MS = 12 * 60 * 1000,
    CREATION_EVERY_MS = 3 * 1000,
    MOST_CREATIONS = CREATIONS_MS / CREATION_EVERY_MS,
    PROC_BYTES = 4096,
};

struct scale {
    struct sim sim;
    struct controller_process *controller; /* that is called */
    unsigned nodes, volumes;
    unsigned next, failed; /* volume */
    char **ids;            /* of volumes */

    const char *promoted; /* the attachment whose role is waited for; NULL: none */
    double began, took_ms;
};

/* ---- what it costs ---- */

static double cpu_seconds(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void must(struct err *err)
{
    if (!err)
        return;
    fprintf(stderr, "scale: %s\n", err_message(err));
    exit(1);
}

/* Resident: whoever allocates, that is what it takes from a node. */
static double resident_mib(void)
{
    CLEANUP(freep) char *text = NULL;
    unsigned long pages = 0;
    size_t length;

    must(file_read("/proc/self/statm", PROC_BYTES, &text, &length));
    if (sscanf(text, "%*u %lu", &pages) != 1)
        abort();
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / (1024 * 1024);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* ---- nodes, which are nothing but objects here ---- */

static char *node_name(unsigned i)
{
    return mem_printf("node-%04u", i);
}

static void add_vm(struct sim *sim, const char *name)
{
    struct vm_spec spec = {
        .name = mem_strdup(name), .size = vm_size_find("Standard_M128s"), .zone = mem_strdup("")};
    struct vm *vm;

    must(vm_add(sim->azure, model_find_group(sim->azure, "rg"), &spec, &vm));
}

static void add_node(struct sim *sim, const char *name)
{
    CLEANUP(freep)
    char *provider = mem_printf("azure://%s", vm_find_by_name(sim->azure, name)->id);
    CLEANUP(json_decrefp)
    json_t *node = json_pack("{s:{s:s}, s:{s:s}, s:{s:[{s:s, s:s}]}}", "metadata", "name", name,
                             "spec", "providerID", provider, "status", "conditions", "type",
                             "Ready", "status", "True");
    CLEANUP(json_decrefp)
    json_t *driver_node =
        json_pack("{s:{s:s}, s:{s:s}}", "metadata", "name", name, "spec", "nodeName", name);

    must(kube_server_create(sim->kube, &NODES, NULL, node));
    must(kube_server_patch(sim->kube, &NODES, NULL, name, "status", node));
    must(kube_server_create(sim->kube, &AZ_DRIVER_NODES, NAMESPACE, driver_node));
}

static void beat(struct scale *scale, const char *name)
{
    char now[TIMESTAMP_SIZE];

    timestamp_format(loop_wall_us(scale->sim.loop), now);
    CLEANUP(json_decrefp)
    json_t *patch = json_pack("{s:{s:b, s:s}}", "status", "readyForVolumeAllocation", 1,
                              "lastHeartbeatTime", now);
    must(kube_server_patch(scale->sim.kube, &AZ_DRIVER_NODES, NAMESPACE, name, "status", patch));
}

static void keep_beating(struct task *self, void *arg)
{
    struct scale *scale = arg;
    struct err *err = NULL;

    while (!err) {
        for (unsigned i = 0; i < scale->nodes; i++) {
            CLEANUP(freep) char *name = node_name(i);

            beat(scale, name);
        }
        err = task_sleep(self, BEAT_MS);
    }
    err_free(err);
}

/* ---- volumes ---- */

struct capability {
    Csi__V1__VolumeCapability message;
    Csi__V1__VolumeCapability__AccessMode mode;
    Csi__V1__VolumeCapability__MountVolume mount;
};

static Csi__V1__VolumeCapability *single_writer(struct capability *capability)
{
    csi__v1__volume_capability__init(&capability->message);
    csi__v1__volume_capability__access_mode__init(&capability->mode);
    csi__v1__volume_capability__mount_volume__init(&capability->mount);
    capability->mode.mode = CSI__V1__VOLUME_CAPABILITY__ACCESS_MODE__MODE__SINGLE_NODE_WRITER;
    capability->message.access_mode = &capability->mode;
    capability->message.access_type_case = CSI__V1__VOLUME_CAPABILITY__ACCESS_TYPE_MOUNT;
    capability->message.mount = &capability->mount;
    return &capability->message;
}

/* As a sidecar: again and again until it is done. */
static struct err *call(struct task *self, struct scale *scale, const char *method,
                        const ProtobufCMessage *request, ProtobufCMessage **ret)
{
    for (;;) {
        struct err *err =
            controller_process_call(self, scale->controller, method, request, CALL_TIMEOUT_MS, ret);

        if (!err || task_is_cancelled(self))
            return err;
        scale->failed++;
        err_free(err);
        TRY(task_sleep(self, 1000));
    }
}

static struct err *create_volume(struct task *self, struct scale *scale, unsigned i)
{
    CLEANUP(freep) char *name = mem_printf("pvc-%05u", i);
    static char keys[][24] = {"skuName", "maxShares", "maxMountReplicaCount"};
    static char values[][24] = {"Premium_LRS", "3", "2"};
    Csi__V1__CreateVolumeRequest__ParametersEntry entries[3], *parameters[3];
    Csi__V1__CapacityRange range = CSI__V1__CAPACITY_RANGE__INIT;
    Csi__V1__CreateVolumeRequest request;
    struct capability capability;
    Csi__V1__VolumeCapability *capabilities[] = {single_writer(&capability)};
    ProtobufCMessage *answer;

    for (size_t k = 0; k < COUNT_OF(entries); k++) {
        csi__v1__create_volume_request__parameters_entry__init(&entries[k]);
        entries[k].key = keys[k];
        entries[k].value = values[k];
        parameters[k] = &entries[k];
    }
    csi__v1__create_volume_request__init(&request);
    range.required_bytes = 256LL << 30;
    request.name = name;
    request.capacity_range = &range;
    request.volume_capabilities = capabilities;
    request.n_volume_capabilities = 1;
    request.parameters = parameters;
    request.n_parameters = COUNT_OF(parameters);
    TRY(call(self, scale, "CreateVolume", &request.base, &answer));
    scale->ids[i] = mem_strdup(((Csi__V1__CreateVolumeResponse *)answer)->volume->volume_id);
    protobuf_c_message_free_unpacked(answer, NULL);
    return NULL;
}

static struct err *publish(struct task *self, struct scale *scale, unsigned volume, char *node)
{
    Csi__V1__ControllerPublishVolumeRequest request;
    struct capability capability;
    ProtobufCMessage *answer;

    csi__v1__controller_publish_volume_request__init(&request);
    request.volume_id = scale->ids[volume];
    request.node_id = node;
    request.volume_capability = single_writer(&capability);
    TRY(call(self, scale, "ControllerPublishVolume", &request.base, &answer));
    protobuf_c_message_free_unpacked(answer, NULL);
    return NULL;
}

static struct err *unpublish(struct task *self, struct scale *scale, unsigned volume, char *node)
{
    Csi__V1__ControllerUnpublishVolumeRequest request;
    ProtobufCMessage *answer;

    csi__v1__controller_unpublish_volume_request__init(&request);
    request.volume_id = scale->ids[volume];
    request.node_id = node;
    TRY(call(self, scale, "ControllerUnpublishVolume", &request.base, &answer));
    protobuf_c_message_free_unpacked(answer, NULL);
    return NULL;
}

static void fill(struct task *self, void *arg)
{
    struct scale *scale = arg;
    struct err *err = NULL;

    while (!err && scale->next < scale->volumes) {
        unsigned i = scale->next++;
        CLEANUP(freep) char *node = node_name(i % scale->nodes);

        err = create_volume(self, scale, i);
        if (!err)
            err = publish(self, scale, i, node);
    }
    err_free(err);
}

/* ---- volumes for a new leader ---- */

struct creations {
    struct scale *scale;
    uint64_t began;
    double seconds[MOST_CREATIONS];
    size_t n;
    double most_at_first, most_then;
    struct err *err;
};

/* One after the other, for as long as is measured. */
static void create_some(struct task *self, void *arg)
{
    struct creations *creations = arg;
    struct scale *scale = creations->scale;
    uint64_t now;

    while (!creations->err && creations->n < MOST_CREATIONS &&
           (now = loop_now(scale->sim.loop)) < creations->began + CREATIONS_MS) {
        double *most =
            now < creations->began + 60 * 1000 ? &creations->most_at_first : &creations->most_then;

        creations->err = create_volume(self, scale, scale->volumes + (unsigned)creations->n);
        double seconds = (double)(loop_now(scale->sim.loop) - now) / 1000;
        creations->seconds[creations->n++] = seconds;
        *most = seconds > *most ? seconds : *most;
        if (!creations->err)
            creations->err = task_sleep(self, CREATION_EVERY_MS);
    }
}

/* ---- promotions ---- */

static const char *member(const json_t *object, const char *part, const char *name)
{
    return json_string_value(json_object_get(json_object_get(object, part), name));
}

static void attachment_changed(void *ctx, const struct api_resource *resource, const json_t *before,
                               const json_t *after)
{
    struct scale *scale = ctx;

    (void)before;
    if (!scale->promoted || resource != &AZ_VOLUME_ATTACHMENTS || !after ||
        strcmp(member(after, "metadata", "name"), scale->promoted) != 0)
        return;
    const char *role = member(json_object_get(after, "status"), "detail", "role");
    if (!role || strcmp(role, "Primary") != 0)
        return;
    scale->took_ms = (cpu_seconds() - scale->began) * 1000;
    scale->promoted = NULL;
}

/* A replica of a volume; the caller's name and node. */
static bool find_replica(const struct scale *scale, const char *volume, char **ret_name,
                         char **ret_node)
{
    const struct kube_server *kube = scale->sim.kube;

    for (size_t i = 0; i < kube_server_count(kube, &AZ_VOLUME_ATTACHMENTS); i++) {
        const json_t *object = kube_server_at(kube, &AZ_VOLUME_ATTACHMENTS, i);
        const char *of = member(object, "spec", "volumeName");

        if (strcmp(of, volume) != 0 || strcmp(member(object, "spec", "role"), "Replica") != 0)
            continue;
        *ret_name = mem_strdup(member(object, "metadata", "name"));
        *ret_node = mem_strdup(member(object, "spec", "nodeName"));
        return true;
    }
    return false;
}

static struct err *promote(struct task *self, struct scale *scale, unsigned volume)
{
    CLEANUP(freep) char *name = mem_printf("pvc-%05u", volume);
    CLEANUP(freep) char *former = node_name(volume % scale->nodes);
    CLEANUP(freep) char *attachment = NULL;
    CLEANUP(freep) char *node = NULL;

    if (!find_replica(scale, name, &attachment, &node))
        return err_new(ERR_NOT_FOUND, "%s has no replica", name);
    TRY(unpublish(self, scale, volume, former));
    TRY(task_sleep(self, 10 * 1000));
    scale->promoted = attachment;
    scale->began = cpu_seconds();
    TRY(publish(self, scale, volume, node));
    TRY(task_sleep(self, 10 * 1000));
    return scale->promoted ? err_new(ERR_TIMEOUT, "%s was not promoted", attachment) : NULL;
}

struct promotions {
    struct scale *scale;
    double ms[PROMOTIONS];
    struct err *err;
};

static void promote_some(struct task *self, void *arg)
{
    struct promotions *promotions = arg;
    struct scale *scale = promotions->scale;

    for (unsigned i = 0; i < PROMOTIONS && !promotions->err; i++) {
        promotions->err = promote(self, scale, i * (scale->volumes / PROMOTIONS));
        promotions->ms[i] = scale->took_ms;
    }
}

/* ---- the run ---- */

static void run_for(struct scale *scale, uint64_t ms)
{
    clockwork_run(&scale->sim.clockwork, loop_now(scale->sim.loop) + ms);
}

/* Each volume with its primary and two replicas, all attached. */
static bool is_full(const struct scale *scale)
{
    const struct kube_server *kube = scale->sim.kube;
    size_t n = kube_server_count(kube, &AZ_VOLUME_ATTACHMENTS);

    if (n != 3 * (size_t)scale->volumes)
        return false;
    for (size_t i = 0; i < n; i++) {
        const char *state =
            member(kube_server_at(kube, &AZ_VOLUME_ATTACHMENTS, i), "status", "state");

        if (!state || strcmp(state, "Attached") != 0)
            return false;
    }
    return true;
}

static void must_be_full(const struct scale *scale)
{
    if (!is_full(scale))
        must(err_new(ERR_TIMEOUT, "%u volumes are not attached as they should be", scale->volumes));
}

static void begin(struct scale *scale)
{
    struct sim *sim = &scale->sim;

    sim->loop = loop_new_virtual(1);
    sim->to_kube = sim->to_azure = (struct network_conditions){.least_ms = 1, .most_ms = 5};
    clockwork_init(&sim->clockwork, sim->loop, 1);
    group_init(&sim->tasks, sim->loop);
    sim->kube = kube_server_new(sim->loop);
    kube_server_observe(sim->kube, attachment_changed, scale);
    sim->azure_side = azure_side_new(sim->loop, &LANDSCAPE_PLAIN);
    sim->azure = sim->azure_side->model;
    must(throttle_set(sim->azure->throttle, "off"));
    CLEANUP(json_decrefp)
    json_t *system = json_pack("{s:{s:s}}", "metadata", "name", "kube-system");
    must(kube_server_create(sim->kube, &NAMESPACES, NULL, system));
    scale->ids = mem_alloc((scale->volumes + MOST_CREATIONS) * sizeof *scale->ids);
    for (unsigned i = 0; i < scale->nodes; i++) {
        CLEANUP(freep) char *name = node_name(i);

        add_vm(sim, name);
        add_node(sim, name);
    }
    group_spawn(&sim->tasks, "heartbeats", keep_beating, scale);
    scale->controller = controller_process_start(sim, "first");
}

static void fill_all(struct scale *scale)
{
    for (unsigned i = 0; i < CALLERS; i++)
        group_spawn(&scale->sim.tasks, "caller", fill, scale);
    for (uint64_t ms = 0; ms < FILL_MS && !is_full(scale); ms += 60 * 1000)
        run_for(scale, 60 * 1000);
    must_be_full(scale);
    run_for(scale, SETTLE_MS);
}

static void measure_creations(struct scale *scale, struct scale_report *ret)
{
    CLEANUP(freep) struct creations *creations = mem_alloc(sizeof *creations);

    must(latencies_set(&scale->sim.azure->latencies,
                       "create=1s")); /* what is more is the driver's */
    creations->scale = scale;
    creations->began = loop_now(scale->sim.loop);
    group_spawn(&scale->sim.tasks, "creations", create_some, creations);
    run_for(scale, CREATIONS_MS + CALL_TIMEOUT_MS);
    must(creations->err);
    qsort(creations->seconds, creations->n, sizeof *creations->seconds, compare);
    ret->create_s_median = creations->seconds[creations->n / 2];
    ret->create_s_new_leader = creations->most_at_first;
    ret->create_s_refresh = creations->most_then;
}

/* The second one knows everything before it leads. The first one stands still meanwhile, so that
 * what it has is not counted as given back. */
static void change_leader(struct scale *scale, struct scale_report *ret)
{
    double before = resident_mib();
    struct controller_process *first = scale->controller;

    scale->controller = controller_process_start(&scale->sim, "second");
    run_for(scale, 60 * 1000);
    ret->standby_mib = resident_mib() - before;
    controller_process_pause(first, 2 * SETTLE_MS);
    while (!controller_process_leads(scale->controller))
        run_for(scale, 100);
    measure_creations(scale, ret);
    ret->leader_mib = resident_mib() - before;
    controller_process_kill(first);
}

static void close_tasks(struct task *self, void *arg)
{
    struct scale *scale = arg;

    group_close(self, &scale->sim.tasks);
    azure_side_close(self, scale->sim.azure_side);
    kube_server_close(self, scale->sim.kube);
}

static void end(struct scale *scale)
{
    controller_process_kill(scale->controller);
    loop_advance(scale->sim.loop, 0);
    loop_spawn(scale->sim.loop, "end", close_tasks, scale);
    loop_advance(scale->sim.loop, 0);
    loop_free(scale->sim.loop);
    for (unsigned i = 0; i < scale->volumes + MOST_CREATIONS; i++)
        free(scale->ids[i]);
    free(scale->ids);
}

void scale_run(unsigned nodes, unsigned volumes, struct scale_report *ret)
{
    struct scale scale = {.nodes = nodes, .volumes = volumes};
    struct promotions promotions = {.scale = &scale};

    *ret = (struct scale_report){.nodes = nodes, .volumes = volumes, .promotions = PROMOTIONS};
    begin(&scale);
    fill_all(&scale);
    ret->attachments = (unsigned)kube_server_count(scale.sim.kube, &AZ_VOLUME_ATTACHMENTS);
    change_leader(&scale, ret);
    group_spawn(&scale.sim.tasks, "promotions", promote_some, &promotions);
    run_for(&scale, (PROMOTIONS + 1) * 30 * 1000);
    qsort(promotions.ms, PROMOTIONS, sizeof *promotions.ms, compare);
    ret->promotion_cpu_ms_median = promotions.ms[PROMOTIONS / 2];
    ret->promotion_cpu_ms_most = promotions.ms[PROMOTIONS - 1];
    ret->cpu_seconds = cpu_seconds();
    must(promotions.err);
    must_be_full(&scale);
    end(&scale);
}

json_t *scale_json(const struct scale_report *report)
{
    return json_pack(
        "{s:i, s:i, s:i, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "nodes", (int)report->nodes,
        "volumes", (int)report->volumes, "attachments", (int)report->attachments, "promotions",
        (int)report->promotions, "promotion_cpu_ms_median", report->promotion_cpu_ms_median,
        "promotion_cpu_ms_most", report->promotion_cpu_ms_most, "standby_mib", report->standby_mib,
        "leader_mib", report->leader_mib, "create_s_median", report->create_s_median,
        "create_s_new_leader", report->create_s_new_leader, "create_s_refresh",
        report->create_s_refresh, "cpu_seconds", report->cpu_seconds);
}
