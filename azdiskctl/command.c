#include "azdiskctl/command.h"

#include <string.h>

#include "azdiskctl/heartbeat_limit.h"
#include "lib/base/alloc.h"

bool command_takes(const struct command *command, const char *flag)
{
    static const struct {
        const char *name;
        unsigned taken_by; /* no others */
    } some[] = {
        {"to", TAKES_NODE},
        {"all", TAKES_ALL},
        {"dry-run", TAKES_DRY_RUN},
        {"timeout", TAKES_TIMEOUT},
        {"node", TAKES_LOGS | TAKES_FILTER},
        {"since", TAKES_LOGS},
        {"follow", TAKES_LOGS},
        {"zone", TAKES_FILTER},
        {"pod", TAKES_FILTER},
        {"namespace", TAKES_NAMESPACE},
        {"prices", TAKES_PRICES},
    };

    for (size_t i = 0; i < COUNT_OF(some); i++)
        if (strcmp(some[i].name, flag) == 0)
            return command->takes & some[i].taken_by;
    return true;
}

struct cluster_query query_for(const struct program *program, unsigned parts)
{
    return (struct cluster_query){.driver_name = program->flags.driver_name,
                                  .object_namespace = program->flags.object_namespace,
                                  .pod_namespace = program->session.namespace_,
                                  .parts = parts};
}

void read_heartbeat_limit(struct task *self, const struct program *program, struct cluster *cluster)
{
    cluster->heartbeat_limit_ms =
        heartbeat_limit_read(self, program->session.connection.kube, program->flags.driver_name);
}

FILE *step_output(const struct program *program)
{
    return output_is_data(program->flags.output) ? stderr : stdout;
}
