#include "azdiskctl/why.h"

#include <stdlib.h>

#include "azdiskctl/command.h"
#include "lib/base/alloc.h"
#include "provisioner-lib/audit/scan.h"

/* Azure's side of the chain's node. */
static struct err *read_machine(struct task *self, struct cloud *cloud,
                                struct dependency_chain *chain, struct cloud_instance *ret)
{
    bool found;

    if (!cloud || !chain->node)
        return NULL;
    TRY(scan_machine(self, cloud, chain->node, ret, &found));
    chain->machine_known = true;
    chain->machine = found ? ret : NULL;
    return NULL;
}

static struct err *answer(struct task *self, struct program *program,
                          struct dependency_chains *chains, struct cloud_instance *machines,
                          json_t **ret)
{
    for (size_t i = 0; i < chains->n; i++)
        TRY(read_machine(self, program->session.cloud, &chains->items[i], &machines[i]));
    *ret = why_json(program->flags.subject, chains);
    return NULL;
}

static struct err *run(struct task *self, struct program *program, json_t **ret)
{
    CLEANUP(cluster_fini) struct cluster cluster = {0};
    CLEANUP(dependency_chains_fini) struct dependency_chains chains = {0};
    struct cluster_query query = query_for(program, CLUSTER_VOLUME_ATTACHMENTS | CLUSTER_CLAIMS |
                                                        CLUSTER_PODS | CLUSTER_EVENTS);

    TRY(cluster_read(self, program->session.connection.kube, &query, &cluster));
    read_heartbeat_limit(self, program, &cluster);
    TRY(dependency_chains_find(&cluster, program->flags.subject, program->session.namespace_,
                               &chains));
    CLEANUP(freep) struct cloud_instance *machines = mem_alloc(chains.n * sizeof *machines);
    struct err *err = answer(self, program, &chains, machines, ret);
    for (size_t i = 0; i < chains.n; i++)
        cloud_instance_fini(&machines[i]);
    return err;
}

const struct command command_why = {
    .name = "why",
    .subject = "KIND/NAME",
    .help = "State of an object and what it is waiting for; KIND is pod, pvc, pv, azvolume, "
            "azvolumeattachment or node",
    .takes = TAKES_NAMESPACE,
    .completes = {.kind = dependency_chain_kind},
    .run = run,
    .writers = TEXT_ONLY(why_text),
};
