#include "azdiskctl/upgrade_check.h"

#include "azdiskctl/command.h"
#include "azdiskctl/upgrade_check_run.h"

static struct err *run(struct task *self, struct program *program, json_t **ret)
{
    return upgrade_check_json(self, program->session.connection.kube, program->flags.subject, ret);
}

const struct command command_upgrade_check = {
    .name = "upgrade-check",
    .subject = "PLAN",
    .help = "What would stop the chart from being installed or upgraded, by the plan that it has "
            "in a ConfigMap; exits with status 1 if there is anything",
    .run = run,
    .is_well = upgrade_check_is_clean,
    .writers = TEXT_ONLY(upgrade_check_text),
};
