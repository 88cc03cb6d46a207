#include "azdiskctl/logs.h"

#include "azdiskctl/command.h"
#include "azdiskctl/log_follow.h"

static struct err *run(struct task *self, struct program *program, json_t **ret)
{
    const struct logs_config config = {.connection = &program->session.connection,
                                       .query = query_for(program, 0),
                                       .volume = program->flags.subject,
                                       .node = program->flags.node,
                                       .since_ms = program->flags.since_ms};

    bool complete;

    if (!program->flags.follow)
        return logs_json(self, &config, ret);
    TRY(logs_follow(self, &config, program->flags.output, &complete));
    program->status = complete ? STATUS_OK : STATUS_FOUND;
    return NULL;
}

const struct command command_logs = {
    .name = "logs",
    .subject = "VOLUME",
    .usage = "logs [VOLUME]",
    .help = "What the driver's containers have logged about a volume, or at all, in the order of "
            "time; of the node plug-ins those of the nodes that the volume is on",
    .takes = TAKES_LOGS | TAKES_NO_SUBJECT,
    .completes = {.resource = &AZ_VOLUMES},
    .run = run,
    .is_well = logs_are_complete,
    .writers = TEXT_ONLY(logs_text),
};
