#include "azdiskctl/describe.h"

#include "azdiskctl/commands/selected.h"
#include "azdiskctl/describe_text.h"

static struct err *run(struct task *self, struct program *program, json_t **ret)
{
    CLEANUP(cluster_fini) struct cluster cluster = {0};
    CLEANUP(selection_fini) struct selection selection = {0};

    TRY(selected_read(self, program, CLUSTER_EVENTS, &selection, &cluster));
    read_heartbeat_limit(self, program, &cluster);
    *ret = describe_json(&cluster, &selection);
    selected_complain(*ret);
    return NULL;
}

const struct command command_describe = {
    .name = "describe",
    .subject = "KIND/NAME",
    .usage = "describe KIND/NAME, describe KIND [NAME...]",
    .help = "All that is on record about objects of these kinds, and their Events",
    .takes = TAKES_NAMES | TAKES_NAMESPACE,
    .completes = {.kind = kind_named},
    .run = run,
    .is_well = selection_is_complete,
    .writers = TEXT_ONLY(describe_text),
};
