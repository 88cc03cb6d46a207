#include "azdiskctl/timeline.h"

#include "azdiskctl/command.h"

static struct err *run(struct task *self, struct program *program, json_t **ret)
{
    CLEANUP(cluster_fini) struct cluster cluster = {0};
    struct kube *kube = program->session.connection.kube;
    struct cluster_query query =
        query_for(program, CLUSTER_VOLUME_ATTACHMENTS | CLUSTER_CLAIMS | CLUSTER_EVENTS);

    TRY(cluster_read(self, kube, &query, &cluster));
    const struct kube_object *claim = timeline_claim(&cluster, program->flags.subject);
    /* Who may not read pods gets the rest. */
    if (claim)
        TRY(err_unless(cluster_read_pods(self, kube, claim->metadata->namespace_, &cluster),
                       ERR_DENIED));
    return timeline_json(&cluster, program->flags.subject, ret);
}

const struct command command_timeline = {
    .name = "timeline",
    .subject = "VOLUME",
    .help = "Events of a PersistentVolume or AzVolume in chronological order",
    .completes = {.resource = &AZ_VOLUMES},
    .run = run,
    .writers = TEXT_ONLY(timeline_text),
};
