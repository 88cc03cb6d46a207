#include "azdiskctl/get.h"

#include "azdiskctl/commands/selected.h"
#include "azdiskctl/filter.h"

static struct err *run(struct task *self, struct program *program, json_t **ret)
{
    CLEANUP(cluster_fini) struct cluster cluster = {0};
    CLEANUP(selection_fini) struct selection selection = {0};
    const struct flags *flags = &program->flags;
    CLEANUP(filter_fini)
    struct filter filter = {.node = flags->node,
                            .zone = flags->zone,
                            .pod = flags->pod,
                            .pod_namespace = program->session.namespace_};

    TRY(selected_read(self, program, *flags->pod ? CLUSTER_PODS : 0, &selection, &cluster));
    TRY(filter_start(&filter, &cluster));
    selection.filter = &filter;
    if (kind_id(selection.kind) == KIND_NODES)
        read_heartbeat_limit(self, program, &cluster);
    *ret = get_json(&cluster, &selection);
    selected_complain(*ret);
    return NULL;
}

const struct command command_get = {
    .name = "get",
    .subject = "KIND",
    .usage = "get KIND [NAME...]",
    .help = "Volumes, attachments, replicas or nodes, a line each; also by kubectl's words for "
            "them (azvolumes, azv), and as KIND/NAME",
    .takes = TAKES_NAMES | TAKES_FILTER | TAKES_NAMESPACE,
    .completes = {.kind = kind_named},
    .run = run,
    .is_well = selection_is_complete,
    .writers = TABLES(get_table, get_wide, get_names),
};
