#include "controller/volume/attachment_summary.h"

#include <stdlib.h>
#include <string.h>

#include "lib/api/azdisk.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/kube/cached_client.h"

/* Several attachments change one after the other when a volume moves: one write for all of them. */
enum { MOMENT_MS = 1000 };

void attachment_summary_enqueue(const struct controller *controller, const char *volume)
{
    if (!controller->leading)
        return;
    CLEANUP(freep) char *key = kube_key(controller->settings.namespace_, volume);
    workqueue_add_at(controller->leading->queues[SUMMARY_QUEUE], key,
                     loop_now(controller->loop) + MOMENT_MS);
}

/* ---- what it should say ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A volume that several nodes may write is published to several. */
static char *names_with_commas(const char **names, size_t n)
{
    char *text = mem_strdup(n ? names[0] : "");

    for (size_t i = 1; i < n; i++) {
        CLEANUP(freep) char *before = text;

        text = mem_printf("%s,%s", before, names[i]);
    }
    return text;
}

json_t *attachment_summary_json(const Api__AzVolume *volume, struct kube_object *const *attachments,
                                size_t n)
{
    const Api__AzVolumeStatus *status = volume->status;
    CLEANUP(freep) const char **primaries = mem_alloc((n + 1) * sizeof *primaries);
    size_t n_primaries = 0;
    int32_t ready = 0;

    for (size_t i = 0; i < n; i++) {
        const Api__AzVolumeAttachment *attachment = as_attachment(attachments[i]);

        if (kube_is_deleting(attachments[i]->metadata) ||
            strcmp(attachment_state(attachment), STATE_ATTACHED) != 0)
            continue;
        if (attachment_is(attachment, ROLE_PRIMARY))
            primaries[n_primaries++] = attachment->spec->node_name;
        else if (!attachment_unready_reason(attachment))
            ready++;
    }
    qsort(primaries, n_primaries, sizeof *primaries, by_name);
    CLEANUP(freep) char *nodes = names_with_commas(primaries, n_primaries);
    if (strcmp(nodes, status->primary_node ? status->primary_node : "") == 0 &&
        ready == (status->has_ready_replicas ? status->ready_replicas : 0))
        return NULL;
    return json_pack("{s:{s:s, s:i}}", "status", "primaryNode", nodes, "readyReplicas", ready);
}

/* ---- writing it ---- */

struct err *reconcile_summary(struct task *self, void *ctx, const char *key)
{
    struct controller *controller = ctx;
    struct kube_object *found = store_get(controller->volumes, key);
    size_t n;

    if (!found || kube_is_deleting(found->metadata) || !volume_is_created(as_volume(found)))
        return NULL;
    CLEANUP(kube_object_unrefp) struct kube_object *volume = kube_object_ref(found);
    struct kube_object *const *attachments =
        attachments_of_volume(controller, volume->metadata->name, &n);
    json_t *changes = attachment_summary_json(as_volume(volume), attachments, n);
    return changes ? cached_patch_status(self, controller->leader_kube, controller->volumes, volume,
                                         if_same(volume, changes), NULL)
                   : NULL;
}
