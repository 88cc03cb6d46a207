#include "azdiskctl/drain.h"

#include "azdiskctl/command.h"

static struct err *run(struct task *self, struct program *program, json_t **ret)
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
    return drain_json(self, &config, ret);
}

const struct command command_drain = {
    .name = "drain",
    .subject = "NODE",
    .help = "Cordons a node and moves its pods with volumes of the driver",
    .takes = TAKES_MOVES,
    .completes = {.resource = &NODES},
    .run = run,
    .is_well = drain_is_complete,
    .writers = TEXT_ONLY(drain_text),
};
