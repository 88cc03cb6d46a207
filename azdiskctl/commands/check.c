#include "azdiskctl/check.h"

#include "azdiskctl/command.h"

static struct err *run(struct task *self, struct program *program, json_t **ret)
{
    const struct check_config config = {.kube = program->session.connection.kube,
                                        .cloud = program->session.cloud,
                                        .query = query_for(program, 0),
                                        .prices = program->flags.prices};

    return check_json(self, &config, ret);
}

const struct command command_check = {
    .name = "check",
    .help = "Differences between records, Kubernetes and Azure; exits with status 1 if there are "
            "any",
    .takes = TAKES_PRICES,
    .run = run,
    .is_well = check_is_clean,
    .writers = TEXT_ONLY(check_text),
};
