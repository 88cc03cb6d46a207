#include "azdiskctl/why.h"

#include <string.h>

#include "azdiskctl/diagnosis.h"
#include "azdiskctl/document.h"
#include "azdiskctl/text_table.h"
#include "lib/api/names.h"
#include "lib/base/alloc.h"

/* ---- what each link of the chain says ---- */

static char *say_pod(const struct dependency_chain *chain)
{
    const Api__Pod *pod = KUBE_AS(Api__Pod, chain->pod);
    const char *node = pod->spec ? pod->spec->node_name : NULL;
    const char *phase = pod->status && pod->status->phase ? pod->status->phase : "?";

    return node ? mem_printf("%s, on node %s", phase, node)
                : mem_printf("%s, not on a node", phase);
}

static char *say_claim(const struct dependency_chain *chain)
{
    const Api__PersistentVolumeClaimSpec *spec =
        KUBE_AS(Api__PersistentVolumeClaim, chain->claim)->spec;

    return spec && spec->volume_name ? mem_printf("bound to %s", spec->volume_name)
                                     : mem_strdup("not bound");
}

static char *say_pv(const struct dependency_chain *chain)
{
    const char *handle = persistent_volume_handle(chain->pv);

    return mem_strdup(handle ? handle : "not a CSI volume");
}

static char *copied_text(const Api__AzVolume *volume)
{
    return volume_percent(volume) < 100
               ? mem_printf(", %d %% of its data copied", volume_percent(volume))
               : mem_strdup("");
}

static char *say_volume(const struct dependency_chain *chain)
{
    const Api__AzVolumeStatus *status = KUBE_AS(Api__AzVolume, chain->volume)->status;
    CLEANUP(freep) char *zones = volume_zones(chain->cluster, chain->volume);

    CLEANUP(freep) char *copied = copied_text(as_volume(chain->volume));

    return mem_printf("%s, zone %s, maxShares %u%s",
                      status && status->state ? status->state : "Pending", zones,
                      volume_max_shares(as_volume(chain->volume)), copied);
}

static char *say_volume_attachment(const struct dependency_chain *chain)
{
    const char *node = volume_attachment_node(chain->volume_attachment);

    return mem_printf("to node %s: %s", node ? node : "?",
                      volume_attachment_is_attached(chain->volume_attachment) ? "attached"
                                                                              : "not attached");
}

static char *say_attachment(const struct dependency_chain *chain)
{
    const char *role = attachment_role(chain->attachment);
    int lun = attachment_lun(as_attachment(chain->attachment));

    const char *stage = attachment_stage(chain->attachment);
    const char *unready = attachment_unready_reason(as_attachment(chain->attachment));
    CLEANUP(freep)
    char *text = lun == NO_LUN ? mem_printf("%s, %s", role, stage)
                               : mem_printf("%s, %s, LUN %d", role, stage, lun);

    return unready ? mem_printf("%s, not ready: %s", text, unready) : TAKE_PTR(text);
}

static char *say_node(const struct dependency_chain *chain)
{
    return mem_strdup(node_is_ready(KUBE_AS(Api__Node, chain->node)) ? "Ready" : "not Ready");
}

static char *say_plugin(const struct dependency_chain *chain)
{
    const Api__AzDriverNodeStatus *status = KUBE_AS(Api__AzDriverNode, chain->plugin)->status;
    const char *beat =
        status && status->last_heartbeat_time ? status->last_heartbeat_time : "never";
    const char *ready = plugin_is_ready(chain->cluster, chain->plugin) ? "ready" : "not ready";

    return status && status->slots && status->slots->has_free
               ? mem_printf("%s, heartbeat %s, %d of %d disk slots free", ready, beat,
                            status->slots->free, status->slots->limit)
               : mem_printf("%s, heartbeat %s", ready, beat);
}

static char *say_machine(const struct dependency_chain *chain)
{
    static const char *const states[] = {[CLOUD_INSTANCE_SETTLED] = "settled",
                                         [CLOUD_INSTANCE_CHANGING] = "being updated",
                                         [CLOUD_INSTANCE_FAILED] = "failed"};

    return mem_printf("%s, %zu of %d disk slots taken", states[chain->machine->state],
                      chain->machine->n_slots, chain->machine->max_disks);
}

/* ---- the document ---- */

static void add_step(json_t *steps, const char *kind, const char *name, char *says)
{
    json_array_append_new(steps,
                          json_pack("{s:s, s:s, s:s}", "kind", kind, "name", name, "says", says));
    free(says);
}

/* An id is longer than a line, and the node has named it already. */
static const char *last_part(const char *id)
{
    const char *slash = strrchr(id, '/');

    return slash ? slash + 1 : id;
}

static json_t *steps_json(const struct dependency_chain *chain)
{
    json_t *steps = json_array();
    const struct {
        const char *kind;
        const struct kube_object *object;
        char *(*say)(const struct dependency_chain *chain);
    } links[] = {
        {"Pod", chain->pod, say_pod},
        {"PersistentVolumeClaim", chain->claim, say_claim},
        {"PersistentVolume", chain->pv, say_pv},
        {"AzVolume", chain->volume, say_volume},
        {"VolumeAttachment", chain->volume_attachment, say_volume_attachment},
        {"AzVolumeAttachment", chain->attachment, say_attachment},
        {"Node", chain->node, say_node},
        {"AzDriverNode", chain->plugin, say_plugin},
    };

    for (size_t i = 0; i < COUNT_OF(links); i++)
        if (links[i].object)
            add_step(steps, links[i].kind, links[i].object->metadata->name, links[i].say(chain));
    if (chain->machine)
        add_step(steps, "VM", last_part(chain->machine->id), say_machine(chain));
    return steps;
}

json_t *why_json(const char *subject, const struct dependency_chains *chains)
{
    json_t *answers = json_array();

    for (size_t i = 0; i < chains->n; i++) {
        struct diagnosis diagnosis = diagnose(&chains->items[i]);

        json_array_append_new(answers,
                              json_pack("{s:o, s:s, s:s, s:s}", "steps",
                                        steps_json(&chains->items[i]), "stage", diagnosis.stage,
                                        "cause", diagnosis.cause, "next", diagnosis.next));
        free(diagnosis.cause);
    }
    return json_pack("{s:s, s:o}", "subject", subject, "answers", answers);
}

/* ---- text ---- */

static void write_answer(const json_t *answer, struct buffer *out)
{
    const json_t *steps = json_object_get(answer, "steps");
    static const char *const members[] = {"kind", "name", "says"};
    struct text_table table = {.columns = COUNT_OF(members)};

    for (size_t i = 0; i < json_array_size(steps); i++)
        text_table_add_members(&table, json_array_get(steps, i), members);
    text_table_write(&table, "", out);
    buffer_printf(out, "\nStage:  %s\nCause:  %s\nNext:   %s\n", text_of(answer, "stage"),
                  text_of(answer, "cause"), text_of(answer, "next"));
}

void why_text(const json_t *why, struct buffer *out)
{
    const json_t *answers = json_object_get(why, "answers");

    for (size_t i = 0; i < json_array_size(answers); i++) {
        if (i > 0)
            buffer_printf(out, "\n");
        write_answer(json_array_get(answers, i), out);
    }
}
