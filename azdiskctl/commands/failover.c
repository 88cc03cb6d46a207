#include "azdiskctl/failover.h"

#include "azdiskctl/command.h"

static struct err *run(struct task *self, struct program *program, json_t **ret)
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
    return failover_json(self, &config, ret);
}

const struct command command_failover = {
    .name = "failover",
    .subject = "CLAIM",
    .help = "Moves the pod that uses a PersistentVolumeClaim to a node with replicas",
    .takes = TAKES_NODE | TAKES_MOVES | TAKES_NAMESPACE,
    .completes = {.resource = &PERSISTENT_VOLUME_CLAIMS},
    .run = run,
    .is_well = failover_is_as_planned,
    .writers = TEXT_ONLY(failover_text),
};
