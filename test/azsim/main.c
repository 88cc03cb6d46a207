/* azsim - a simulated Azure, as a program: HTTPS in front, devices below, its state in a folder.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "lib/base/file.h"
#include "lib/json/parse.h"
#include "lib/program/shared_flags.h"
#include "lib/rt/wait.h"
#include "test/azsim/authority.h"
#include "test/azsim/config.h"
#include "test/azsim/control.h"
#include "test/azsim/devices.h"
#include "test/azsim/imds_listeners.h"
#include "test/azsim/model/fault.h"
#include "test/azsim/model/record.h"
#include "test/azsim/model/vm.h"
#include "test/azsim/store.h"

static const char about[] = "a simulated Azure: Entra ID, instance metadata, disks and VMs";

static struct {
    const char *config, *state_dir, *address, *hosts, *latency, *time_factor, *throttling, *faults;
    int64_t page_size, retry_after_s;
    uint64_t token_lifetime_ms;
    bool remove_devices;
    struct log_flags log;
} flags = {
    .config = "",
    .state_dir = "",
    .address = "127.0.0.1:8443",
    .hosts = "localhost,127.0.0.1,::1",
    .latency = "",
    .time_factor = "1",
    .throttling = "on",
    .faults = "",
    .page_size = SETTINGS_PAGE_SIZE,
    .log = {.verbosity = 2},
};

static const struct option_row options[] = {
    TEXT_FLAG("config", flags.config, "File that describes the initial contents of Azure"),
    TEXT_FLAG("state-dir", flags.state_dir,
              "Directory for state that outlives the program; created if it does not exist"),
    TEXT_FLAG("address", flags.address, "host:port on which HTTPS is served"),
    TEXT_FLAG(
        "hosts", flags.hosts,
        "Names and addresses in the server's certificate, in addition to the host of --address"),
    TEXT_FLAG("latency", flags.latency,
              "kind=time, kind=least-most or kind=median/p95/p99; may be repeated, or be a list: "
              "attach=10s/30s/90s,detach=4s-6s,create=1s"),
    TEXT_FLAG("time-factor", flags.time_factor,
              "Factor by which every latency is multiplied, from 0.001 to 1000"),
    TEXT_FLAG("throttling", flags.throttling,
              "on, off, or a factor for the size of Azure's token buckets"),
    TEXT_FLAG("faults", flags.faults, "File with the initial fault rules"),
    INT_FLAG("page-size", flags.page_size, 1, SETTINGS_MAX_PAGE_SIZE,
             "Number of items on a page of a list"),
    INT_FLAG("retry-after", flags.retry_after_s, 0, 3600,
             "Retry-After of unfinished operations, in seconds; 0: none, like real disks"),
    DURATION_FLAG("token-lifetime", flags.token_lifetime_ms, 0,
                  "How long tokens are valid; 0: as long as Azure's"),
    {.name = "remove-devices",
     .type = OPTION_BOOL,
     .target = &flags.remove_devices,
     .help = "Only detach the block devices of the state directory, and exit"},
    LOG_FLAGS(flags.log),
};

struct program {
    struct config config;
    struct loop *loop;
    struct store *store;
    struct journal *journal;
    struct devices *devices;
    struct model *model;
    struct arm *arm;
    struct control control;
    struct seal_key key; /* of tokens */
    struct seal_key control_key;
    struct server_certificate certificate;
    struct http_server *server;
    struct imds_listeners *listeners;
    struct waiters stopped;
    bool stopping;
    struct err *err; /* why it does not run */
};

/* ---- the command line ---- */

/* --latency may come many times, other flags once: the values become one list. */
static char *join_latencies(int argc, char *argv[], int *ret_argc)
{
    struct buffer list = {.limit = 64 * 1024};
    int kept = 0;

    for (int i = 0; i < argc; i++) {
        const char *name = argv[i] + (argv[i][0] == '-') + (strncmp(argv[i], "--", 2) == 0);
        const char *value = NULL;

        if (name != argv[i] && strncmp(name, "latency=", 8) == 0)
            value = name + 8;
        else if (name != argv[i] && strcmp(name, "latency") == 0 && i + 1 < argc)
            value = argv[++i];
        if (value && buffer_append(&list, ",", list.length > 0) &&
            buffer_append(&list, value, strlen(value)))
            continue;
        argv[kept++] = argv[i];
    }
    *ret_argc = kept;
    return buffer_take(&list);
}

static struct err *check_flags(void)
{
    CLEANUP(throttle_freep) struct throttle *throttle = throttle_new();
    struct latencies latencies;

    latencies_init(&latencies);
    if (!*flags.state_dir)
        return err_new(ERR_INVALID, "--state-dir is missing: it is the path of a directory");
    if (!*flags.config && !flags.remove_devices)
        return err_new(
            ERR_INVALID,
            "--config is missing: it is the path of a file that test/azsim/README.md describes");
    struct err *err = latencies_set(&latencies, flags.latency);
    if (err)
        return err_wrap(err, "--latency");
    err = latencies_set_time_factor(&latencies, flags.time_factor);
    if (err)
        return err_wrap(err, "--time-factor");
    err = throttle_set(throttle, flags.throttling);
    return err ? err_wrap(err, "--throttling") : NULL;
}

/* ---- the state folder ---- */

static struct err *make_folder(const char *path)
{
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return err_new(ERR_INTERNAL, "--state-dir %s: %s", path, strerror(errno));
    return NULL;
}

/* A key that is made once and readable for its owner only. */
static struct err *open_key(const char *file, struct seal_key *ret)
{
    CLEANUP(freep) char *path = mem_printf("%s/%s", flags.state_dir, file);
    CLEANUP(freep) char *text = NULL;
    char read_text[SEAL_SIZE + 1] = "";
    size_t length;
    FILE *stream = fopen(path, "re");

    if (stream) {
        (void)!fgets(read_text, sizeof read_text, stream);
        fclose(stream);
        text = base64url_decode(read_text, strcspn(read_text, "\n"), &length);
        if (!text || length != sizeof ret->bytes)
            return err_new(ERR_INVALID, "%s: not a key that azsim has written", path);
        memcpy(ret->bytes, text, sizeof ret->bytes);
        return NULL;
    }
    if (getrandom(ret->bytes, sizeof ret->bytes, 0) != sizeof ret->bytes)
        return err_new(ERR_INTERNAL, "cannot get random bytes: %s", strerror(errno));
    text = base64url_encode(ret->bytes, sizeof ret->bytes);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool done = fd >= 0 && dprintf(fd, "%s\n", text) > 0;
    if (fd >= 0)
        close(fd);
    return done ? NULL : err_new(ERR_INTERNAL, "%s: %s", path, strerror(errno));
}

/* ---- starting ---- */

static struct err *open_faults(struct model *model)
{
    CLEANUP(json_decrefp) json_t *json = NULL;
    CLEANUP(freep) char *text = NULL;
    size_t length;

    if (!*flags.faults)
        return NULL;
    TRY(file_read(flags.faults, CONFIG_MAX_SIZE, &text, &length));
    struct err *err = json_parse_here(text, length, &json);
    if (!err)
        err = faults_add_all(model->faults, json);
    return err ? err_wrap(err, "--faults %s", flags.faults) : NULL;
}

static void add_subscription(struct model *model, const struct config_subscription *config)
{
    const struct subscription *subscription = model_add_subscription(model, config->id);

    for (size_t i = 0; i < config->n_groups; i++)
        model_add_group_to(model, subscription, config->groups[i]);
}

static struct err *open_model(struct program *program)
{
    const struct config *config = &program->config;
    CLEANUP(json_decrefp) json_t *snapshot = NULL;
    CLEANUP(json_decrefp)
    json_t *owner = json_pack("{s:s, s:s, s:s}", "tenantId", config->tenant_id, "subscriptionId",
                              config->subscriptions[0].id, "location", config->location);

    TRY(store_open(flags.state_dir, owner, &program->store, &snapshot));
    program->model =
        model_new(&(struct model_config){.loop = program->loop,
                                         .tenant_id = config->tenant_id,
                                         .subscription_id = config->subscriptions[0].id,
                                         .location = config->location,
                                         .devices = &devices_hooks,
                                         .devices_ctx = program->devices,
                                         .commit = store_commit,
                                         .commit_ctx = program->store});
    for (size_t i = 0; i < config->n_subscriptions; i++)
        add_subscription(program->model, &config->subscriptions[i]);
    TRY(latencies_set(&program->model->latencies, flags.latency));
    TRY(latencies_set_time_factor(&program->model->latencies, flags.time_factor));
    TRY(throttle_set(program->model->throttle, flags.throttling));
    TRY(open_faults(program->model));
    return records_restore(program->model, snapshot);
}

/* VMs of the configuration that are neither there nor were deleted later. */
static struct err *add_vms(struct program *program)
{
    struct model *model = program->model;

    for (size_t i = 0; i < program->config.n_vms; i++) {
        struct vm_spec *spec = &program->config.vms[i];
        struct group *group;
        struct vm *vm;

        if (vm_find_by_name(model, spec->name) || json_object_get(model->removed_vms, spec->name))
            continue;
        TRY(vm_group_for(model, spec, &group));
        TRY(vm_add(model, group, spec, &vm));
    }
    return NULL;
}

static struct err *open_all(struct program *program)
{
    TRY(config_read(flags.config, &program->config));
    TRY(make_folder(flags.state_dir));
    TRY(devices_new(flags.state_dir, &program->devices));
    TRY(open_key("token.key", &program->key));
    TRY(open_key("control.key", &program->control_key));
    TRY(open_model(program));
    TRY(add_vms(program));
    TRY(store_start(program->store, program->model));
    TRY(devices_adopt(program->devices, program->model));
    TRY(journal_open(flags.state_dir, &program->journal));
    program->arm = arm_new(&(struct arm_config){
        .model = program->model,
        .clients = program->config.principals.clients,
        .n_clients = program->config.principals.n_clients,
        .identities = program->config.principals.identities,
        .n_identities = program->config.principals.n_identities,
        .key = program->key,
        .page_size = (unsigned)flags.page_size,
        .retry_after_s = (unsigned)flags.retry_after_s,
        .token_lifetime_s = (unsigned)(flags.token_lifetime_ms / 1000),
        .record = journal_record,
        .record_ctx = program->journal,
    });
    return NULL;
}

static void handle(struct task *self, void *ctx, const struct http_call *call,
                   struct http_reply *reply)
{
    struct program *program = ctx;

    if (strncmp(call->path, "/azsim/", 7) == 0)
        control_handle(self, &program->control, call, reply);
    else
        arm_handle(self, program->arm, call, reply);
}

static struct err *serve(struct program *program)
{
    static const struct http_route routes[] = {{NULL, "*", handle}};
    size_t length = strcspn(flags.address, "[]") == strlen(flags.address)
                        ? strcspn(flags.address, ":")
                        : strcspn(flags.address, "]");
    CLEANUP(freep)
    char *host =
        mem_strndup(flags.address + (flags.address[0] == '['), length - (flags.address[0] == '['));
    CLEANUP(freep)
    char *hosts = mem_printf("%s%s%s", flags.hosts, *host ? "," : "", host);

    TRY(authority_issue(flags.state_dir, hosts, &program->certificate));
    struct err *err = http_server_new(program->loop,
                                      &(struct http_server_config){
                                          .address = flags.address,
                                          .certificate_pem = program->certificate.certificate_pem,
                                          .key_pem = program->certificate.key_pem,
                                          .routes = routes,
                                          .n_routes = COUNT_OF(routes),
                                          .ctx = program,
                                          .max_body = ARM_MAX_BODY,
                                          .max_connections = 1000,
                                      },
                                      &program->server);
    return err ? err_wrap(err, "--address") : NULL;
}

/* ---- running ---- */

static void on_stop(void *ctx)
{
    struct program *program = ctx;

    program->stopping = true;
    waiters_wake(&program->stopped);
}

static void run(struct task *self, void *arg)
{
    struct program *program = arg;
    CLEANUP(freep)
    char *key = base64url_encode(program->control_key.bytes, sizeof program->control_key.bytes);

    program->control = (struct control){program->arm, program->journal, key};
    program->err = serve(program);
    if (program->err)
        return;
    program->listeners = imds_listeners_new(program->arm);
    imds_listeners_settle(self, program->listeners);
    printf("azsim is ready: https://%s (port %u), %u metadata services, state in %s\n",
           flags.address, http_server_port(program->server),
           imds_listeners_count(program->listeners), flags.state_dir);
    fflush(stdout);
    while (!program->stopping)
        wait_uninterruptible(self, &program->stopped);
    imds_listeners_close(self, program->listeners);
    http_server_close(self, program->server);
    loop_stop(program->loop); /* operations under way go on after the next start */
}

static void close_all(struct program *program)
{
    arm_free(program->arm);
    model_free(program->model);
    journal_free(program->journal);
    store_free(program->store);
    devices_free(program->devices);
    server_certificate_fini(&program->certificate);
    config_fini(&program->config);
    loop_free(program->loop);
}

static struct err *run_program(void)
{
    struct program program = {.loop = loop_new()};

    waiters_init(&program.stopped);
    signal(SIGPIPE, SIG_IGN);
    struct err *err = open_all(&program);
    if (!err) {
        loop_on_signal(program.loop, SIGTERM, on_stop, &program);
        loop_on_signal(program.loop, SIGINT, on_stop, &program);
        loop_spawn(program.loop, "azsim", run, &program);
        loop_run(program.loop);
        err = program.err;
    }
    close_all(&program);
    return err;
}

static struct err *remove_devices(void)
{
    CLEANUP(devices_freep) struct devices *devices = NULL;

    TRY(devices_new(flags.state_dir, &devices));
    return devices_remove_all(devices);
}

static int fail(struct err *err, int status)
{
    fprintf(stderr, "azsim: %s\n", err_message(err));
    err_free(err);
    return status;
}

int main(int argc, char *argv[])
{
    CLEANUP(freep) char *latencies = join_latencies(argc, argv, &argc);
    int status;

    argv[argc] = NULL;
    if (!options_start(options, COUNT_OF(options), "azsim", about, argc, argv, &status))
        return status;
    flags.latency = latencies;
    struct err *err = check_flags();
    if (err)
        return fail(err, 2);
    log_flags_apply(&flags.log);
    err = flags.remove_devices ? remove_devices() : run_program();
    return err ? fail(err, 1) : 0;
}
