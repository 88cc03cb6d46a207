#include "azdiskctl/uninstall_check.h"

#include "azdiskctl/command.h"

static struct err *run(struct task *self, struct program *program, json_t **ret)
{
    TRY(uninstall_check_json(self, program->session.connection.kube, program->flags.driver_name,
                             ret));
    if (uninstall_check_found(*ret))
        program->status = STATUS_FOUND;
    return NULL;
}

const struct command command_uninstall_check = {
    .name = "uninstall-check",
    .help = "Volumes that are published; while there are any, which makes it exit with status 1, "
            "the driver must not be uninstalled",
    .run = run,
    .writers = TEXT_ONLY(uninstall_check_text),
};
