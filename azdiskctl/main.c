/* azdiskctl: shows where every volume, replica and operation is, and why it waits; and moves pods
 * to their replicas. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "azdiskctl/check.h"
#include "azdiskctl/drain.h"
#include "azdiskctl/failover.h"
#include "azdiskctl/heartbeat_limit.h"
#include "azdiskctl/map.h"
#include "azdiskctl/session.h"
#include "azdiskctl/timeline.h"
#include "azdiskctl/ungate.h"
#include "azdiskctl/why.h"
#include "lib/base/alloc.h"
#include "lib/http/tls_memory.h"
#include "lib/json/parse.h"
#include "provisioner-lib/audit/scan.h"

enum { STATUS_OK, STATUS_FOUND, STATUS_FAILED };
enum { LARGEST_OUTPUT = 256 * 1024 * 1024 };

struct program {
    struct flags flags;
    struct session session;
    const struct command *command;
    int status;
};

static struct cluster_query query_for(const struct program *program, unsigned parts)
{
    return (struct cluster_query){.driver_name = program->flags.driver_name,
                                  .object_namespace = program->flags.object_namespace,
                                  .pod_namespace = program->flags.namespace_,
                                  .parts = parts};
}

/* ---- the commands: what is found out becomes a document ---- */

static struct err *run_map(struct task *self, struct program *program, json_t **ret)
{
    CLEANUP(cluster_fini) struct cluster cluster = {0};
    struct cluster_query query = query_for(program, CLUSTER_SNAPSHOTS);

    TRY(cluster_read(self, program->session.connection.kube, &query, &cluster));
    *ret = map_json(&cluster);
    return NULL;
}

static struct err *run_timeline(struct task *self, struct program *program, json_t **ret)
{
    CLEANUP(cluster_fini) struct cluster cluster = {0};
    struct cluster_query query =
        query_for(program, CLUSTER_VOLUME_ATTACHMENTS | CLUSTER_CLAIMS | CLUSTER_EVENTS);

    struct kube *kube = program->session.connection.kube;

    TRY(cluster_read(self, kube, &query, &cluster));
    const struct kube_object *claim = timeline_claim(&cluster, program->flags.subject);
    /* Who may not read pods gets the rest. */
    if (claim)
        TRY(err_unless(cluster_read_pods(self, kube, claim->metadata->namespace_, &cluster),
                       ERR_DENIED));
    return timeline_json(&cluster, program->flags.subject, ret);
}

/* Azure's side of the chain's node. */
static struct err *read_machine(struct task *self, struct cloud *cloud,
                                struct dependency_chain *chain, struct cloud_instance *ret)
{
    bool found;

    if (!cloud || !chain->node)
        return NULL;
    TRY(scan_machine(self, cloud, chain->node, ret, &found));
    chain->machine_known = true;
    chain->machine = found ? ret : NULL;
    return NULL;
}

static struct err *answer_why(struct task *self, struct program *program,
                              struct dependency_chains *chains, struct cloud_instance *machines,
                              json_t **ret)
{
    for (size_t i = 0; i < chains->n; i++)
        TRY(read_machine(self, program->session.cloud, &chains->items[i], &machines[i]));
    *ret = why_json(program->flags.subject, chains);
    return NULL;
}

static struct err *run_why(struct task *self, struct program *program, json_t **ret)
{
    CLEANUP(cluster_fini) struct cluster cluster = {0};
    CLEANUP(dependency_chains_fini) struct dependency_chains chains = {0};
    struct cluster_query query = query_for(program, CLUSTER_VOLUME_ATTACHMENTS | CLUSTER_CLAIMS |
                                                        CLUSTER_PODS | CLUSTER_EVENTS);

    struct kube *kube = program->session.connection.kube;

    TRY(cluster_read(self, kube, &query, &cluster));
    cluster.heartbeat_limit_ms = heartbeat_limit_read(self, kube, query.driver_name);
    TRY(dependency_chains_find(&cluster, program->flags.subject, program->flags.namespace_,
                               &chains));
    CLEANUP(freep) struct cloud_instance *machines = mem_alloc(chains.n * sizeof *machines);
    struct err *err = answer_why(self, program, &chains, machines, ret);
    for (size_t i = 0; i < chains.n; i++)
        cloud_instance_fini(&machines[i]);
    return err;
}

static struct err *run_check(struct task *self, struct program *program, json_t **ret)
{
    unsigned parts = CLUSTER_VOLUME_ATTACHMENTS | CLUSTER_SNAPSHOTS |
                     (program->session.cloud ? CLUSTER_IDENTITY : 0);
    const struct check_config config = {.kube = program->session.connection.kube,
                                        .cloud = program->session.cloud,
                                        .query = query_for(program, parts),
                                        .prices = program->flags.prices};

    TRY(check_json(self, &config, ret));
    if (check_found(*ret))
        program->status = STATUS_FOUND;
    return NULL;
}

/* Where the steps of a command that changes something go: what is printed at the end is whole. */
static FILE *step_output(const struct program *program)
{
    return program->flags.output == OUTPUT_JSON ? stderr : stdout;
}

static struct err *run_failover(struct task *self, struct program *program, json_t **ret)
{
    CLEANUP(steps_end) struct steps steps;
    const struct failover_config config = {.kube = program->session.connection.kube,
                                           .query =
                                               query_for(program, CLUSTER_CLAIMS | CLUSTER_PODS),
                                           .claim = program->flags.subject,
                                           .to = program->flags.to,
                                           .dry_run = program->flags.dry_run,
                                           .timeout_ms = program->flags.timeout_ms,
                                           .steps = &steps};

    steps_begin(&steps, program->session.loop, step_output(program));
    TRY(failover_json(self, &config, ret));
    if (!failover_is_as_planned(*ret))
        program->status = STATUS_FOUND;
    return NULL;
}

static struct err *run_drain(struct task *self, struct program *program, json_t **ret)
{
    CLEANUP(steps_end) struct steps steps;
    struct drain_config config = {.kube = program->session.connection.kube,
                                  .query = query_for(program, CLUSTER_CLAIMS | CLUSTER_PODS),
                                  .dry_run = program->flags.dry_run,
                                  .timeout_ms = program->flags.timeout_ms,
                                  .steps = &steps};

    config.query.pod_namespace = NULL;
    config.query.pod_node = program->flags.subject;
    steps_begin(&steps, program->session.loop, step_output(program));
    TRY(drain_json(self, &config, ret));
    if (!drain_is_complete(*ret))
        program->status = STATUS_FOUND;
    return NULL;
}

static struct err *run_ungate(struct task *self, struct program *program, json_t **ret)
{
    const struct ungate_config config = {.kube = program->session.connection.kube,
                                         .pod = program->flags.subject,
                                         .namespace_ = program->flags.namespace_,
                                         .dry_run = program->flags.dry_run};

    TRY(ungate_json(self, &config, ret));
    if (!ungate_is_complete(*ret))
        program->status = STATUS_FOUND;
    return NULL;
}

/* Flags that have an effect on some commands only. With TAKES_ALL, --all stands for a subject. */
enum {
    TAKES_NODE = 1 << 0,
    TAKES_DRY_RUN = 1 << 1,
    TAKES_TIMEOUT = 1 << 2,
    TAKES_ALL = 1 << 3,
    TAKES_MOVES = TAKES_DRY_RUN | TAKES_TIMEOUT,
};

struct command {
    const char *name;
    const char *subject; /* what has to follow the command; NULL: nothing may */
    unsigned takes;
    struct err *(*run)(struct task *self, struct program *program, json_t **ret);
    void (*write)(const json_t *document, struct buffer *out);
};

static const struct command commands[] = {
    {"map", NULL, 0, run_map, map_text},
    {"why", "KIND/NAME", 0, run_why, why_text},
    {"timeline", "VOLUME", 0, run_timeline, timeline_text},
    {"check", NULL, 0, run_check, check_text},
    {"failover", "CLAIM", TAKES_NODE | TAKES_MOVES, run_failover, failover_text},
    {"drain", "NODE", TAKES_MOVES, run_drain, drain_text},
    {"ungate", "NAMESPACE/POD or --all", TAKES_DRY_RUN | TAKES_ALL, run_ungate, ungate_text},
};

/* A flag that was given and has no effect; NULL if there is none. */
static const char *useless_flag(const struct command *command, const struct flags *flags)
{
    const struct {
        const char *name;
        bool given;
        unsigned taken_by;
    } some[] = {
        {"--to", flags->to[0] != '\0', TAKES_NODE},
        {"--all", flags->all, TAKES_ALL},
        {"--dry-run", flags->dry_run, TAKES_DRY_RUN},
        {"--timeout", flags->timeout_ms != DEFAULT_TIMEOUT_MS, TAKES_TIMEOUT},
    };

    for (size_t i = 0; i < COUNT_OF(some); i++)
        if (some[i].given && !(command->takes & some[i].taken_by))
            return some[i].name;
    return NULL;
}

/* What the command is about is said, and once. */
static bool has_its_subject(const struct command *command, const struct flags *flags)
{
    bool all = flags->all && command->takes & TAKES_ALL;

    return !command->subject == (!flags->subject && !all) && !(all && flags->subject);
}

/* NULL, with a line about it, if the command line has none. */
static const struct command *find_command(const struct flags *flags)
{
    for (size_t i = 0; flags->command && i < COUNT_OF(commands); i++) {
        if (strcmp(commands[i].name, flags->command) != 0)
            continue;
        if (has_its_subject(&commands[i], flags))
            return &commands[i];
        if (commands[i].subject && !flags->subject)
            fprintf(stderr, "azdiskctl: %s: missing %s (see --help)\n", flags->command,
                    commands[i].subject);
        else
            fprintf(stderr, "azdiskctl: %s: unexpected argument \"%s\" (see --help)\n",
                    flags->command, flags->subject);
        return NULL;
    }
    fprintf(stderr, "azdiskctl: %s (see --help)\n",
            flags->command ? "unknown command" : "missing command");
    return NULL;
}

/* ---- the run ---- */

static void print(const struct program *program, const json_t *document)
{
    if (program->flags.output == OUTPUT_JSON) {
        CLEANUP(freep) char *text = json_to_text(document);

        puts(text);
        return;
    }
    CLEANUP(buffer_fini) struct buffer out;
    buffer_init(&out, LARGEST_OUTPUT);
    program->command->write(document, &out);
    fputs(out.data ? out.data : "", stdout);
}

static void run(struct task *self, void *arg)
{
    struct program *program = arg;
    CLEANUP(json_decrefp) json_t *document = NULL;
    CLEANUP(err_freep) struct err *err = program->command->run(self, program, &document);

    if (err) {
        fprintf(stderr, "azdiskctl: %s\n", err_message(err));
        program->status = STATUS_FAILED;
    } else {
        print(program, document);
    }
    session_close(self, &program->session);
    loop_stop(program->session.loop);
}

static void give_up(struct task *self, void *arg)
{
    struct program *program = arg;

    session_close(self, &program->session);
    loop_stop(program->session.loop);
}

int main(int argc, char *argv[])
{
    static struct program program;
    CLEANUP(loop_freep) struct loop *loop = NULL;
    int status;

    tls_memory_clear_freed();
    json_clear_freed();
    if (!flags_parse(argc, argv, &program.flags, &status))
        return status;
    program.command = find_command(&program.flags);
    if (!program.command)
        return STATUS_FAILED;
    const char *useless = useless_flag(program.command, &program.flags);
    if (useless) {
        fprintf(stderr, "azdiskctl: %s: %s has no effect (see --help)\n", program.flags.command,
                useless);
        return STATUS_FAILED;
    }
    log_flags_apply(&program.flags.log);
    signal(SIGPIPE, SIG_IGN);
    loop = loop_new();
    CLEANUP(err_freep) struct err *err = session_open(loop, &program.flags, &program.session);
    if (err) {
        fprintf(stderr, "azdiskctl: %s\n", err_message(err));
        program.status = STATUS_FAILED;
    }
    loop_spawn(loop, "main", err ? give_up : run, &program);
    loop_run(loop);
    return program.status;
}
