#include "azdiskctl/bundle.h"

#include "azdiskctl/command.h"

static struct err *run(struct task *self, struct program *program, json_t **ret)
{
    const struct bundle_config config = {.connection = &program->session.connection,
                                         .cloud = program->session.cloud,
                                         .driver_name = program->flags.driver_name,
                                         .object_namespace = program->flags.object_namespace,
                                         .directory = program->flags.subject};

    return bundle_json(self, &config, ret);
}

const struct command command_bundle = {
    .name = "bundle",
    .subject = "DIRECTORY",
    .usage = "bundle [DIRECTORY]",
    .help = "Collects into a new directory what somebody needs who helps with the driver, without "
            "secrets; exits with status 1 if not all could be read",
    .takes = TAKES_NO_SUBJECT,
    .run = run,
    .is_well = bundle_is_complete,
    .writers = TEXT_ONLY(bundle_text),
};
