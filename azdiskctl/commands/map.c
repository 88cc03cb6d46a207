#include "azdiskctl/map.h"

#include "azdiskctl/command.h"

static struct err *run(struct task *self, struct program *program, json_t **ret)
{
    CLEANUP(cluster_fini) struct cluster cluster = {0};
    struct cluster_query query = query_for(program, CLUSTER_SNAPSHOTS);

    TRY(cluster_read(self, program->session.connection.kube, &query, &cluster));
    *ret = map_json(&cluster);
    return NULL;
}

const struct command command_map = {
    .name = "map",
    .help = "On which nodes each volume is, and the disk slots of each node",
    .run = run,
    .writers = TEXT_ONLY(map_text),
};
