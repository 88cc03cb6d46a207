#include "azdiskctl/uninstall_check.h"

#include "azdiskctl/command.h"
#include "lib/base/alloc.h"

static struct err *run(struct task *self, struct program *program, json_t **ret)
{
    TRY(uninstall_check_json(self, program->session.connection.kube, program->flags.driver_name,
                             ret));
    CLEANUP(freep) char *doubt = uninstall_check_doubt(*ret);
    if (doubt)
        fprintf(stderr, "azdiskctl: %s\n", doubt);
    return NULL;
}

const struct command command_uninstall_check = {
    .name = "uninstall-check",
    .help = "Volumes that are published; while there are any, which makes it exit with status 1, "
            "the driver must not be uninstalled",
    .run = run,
    .is_well = uninstall_check_is_clean,
    .writers = TEXT_ONLY(uninstall_check_text),
};
