#include "azdiskctl/ungate.h"

#include <string.h>

#include "azdiskctl/command.h"

static struct err *run(struct task *self, struct program *program, json_t **ret)
{
    const struct flags *flags = &program->flags;
    const char *given = flags->namespace_[0] ? flags->namespace_ : NULL;
    const struct ungate_config config = {.kube = program->session.connection.kube,
                                         .pod = flags->subject,
                                         .namespace_ =
                                             flags->subject ? program->session.namespace_ : given,
                                         .dry_run = flags->dry_run};

    if (given && flags->subject && strchr(flags->subject, '/'))
        return err_new(ERR_INVALID, "ungate: --namespace has no effect on %s", flags->subject);
    return ungate_json(self, &config, ret);
}

const struct command command_ungate = {
    .name = "ungate",
    .subject = "NAMESPACE/POD or --all",
    .usage = "ungate NAMESPACE/POD, ungate --all",
    .help = "Removes the driver's scheduling gate from a pod, or from all pods",
    .takes = TAKES_DRY_RUN | TAKES_ALL | TAKES_NAMESPACE,
    .completes = {.resource = &PODS},
    .run = run,
    .is_well = ungate_is_complete,
    .writers = TEXT_ONLY(ungate_text),
};
