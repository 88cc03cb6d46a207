#include "controller/failover/pod_wish.h"

#include <strings.h>

#include "controller/cache/colocation.h"
#include "lib/base/text.h"
#include "lib/kube/cached_client.h"
#include "provisioner-lib/records/status_annotation.h"

static bool asks(const Api__Pod *pod)
{
    const char *wish =
        KUBE_MAP_GET(pod->metadata->labels, pod->metadata->n_labels, LABEL_AUTOMATIC_FAILOVER);

    return wish && strcasecmp(wish, "true") == 0;
}

static bool is_noted(const struct kube_object *attachment)
{
    return attachment_annotation(as_attachment(attachment), ANNOTATION_AUTOMATIC_FAILOVER) != NULL;
}

bool pod_wish_concerns(const struct controller *controller, const Api__Pod *pod)
{
    size_t n;
    struct kube_object *const *found =
        store_find(controller->attachments_by_node, pod->spec->node_name, &n);

    for (size_t i = 0; i < n; i++)
        if (is_noted(found[i]))
            return true;
    return n > 0 && asks(pod);
}

/* ---- what the pods of a node ask for ---- */

struct wish {
    const char *node;
    bool used, asked; /* by a pod there; by all of them */
};

static void add_pod(void *ctx, const Api__Pod *pod)
{
    struct wish *wish = ctx;

    if (!pod->spec || !same_text(pod->spec->node_name, wish->node))
        return;
    wish->used = true;
    wish->asked &= asks(pod);
}

struct kube_object *pod_wish_find_wrong(const struct controller *controller, const char *node,
                                        const char **ret_note)
{
    size_t n;
    struct kube_object *const *found = store_find(controller->attachments_by_node, node, &n);

    for (size_t i = 0; i < n; i++) {
        const char *volume = as_attachment(found[i])->spec->volume_name;

        if (!volume || !attachment_is(as_attachment(found[i]), ROLE_PRIMARY))
            continue;
        struct wish wish = {.node = node, .asked = true};
        volume_each_pod(controller, volume, add_pod, &wish);
        *ret_note = wish.asked ? "true" : NULL;
        if (wish.used && wish.asked != is_noted(found[i]))
            return found[i];
    }
    return NULL;
}

struct err *pod_wish_note(struct task *self, struct controller *controller, const char *node)
{
    const char *note;
    struct kube_object *wrong;

    while ((wrong = pod_wish_find_wrong(controller, node, &note))) {
        json_t *changes = status_annotation_json(ANNOTATION_AUTOMATIC_FAILOVER, note);

        TRY(cached_patch_status(self, controller->leader_kube, controller->attachments, wrong,
                                if_unchanged(wrong, changes), NULL));
    }
    return NULL;
}
