#include "controller/attachment/unpublished.h"

#include "controller/cache/published.h"
#include "controller/cache/volume_in_use.h"
#include "lib/base/alloc.h"
#include "lib/base/text.h"
#include "lib/json/parse.h"
#include "lib/kube/cached_client.h"
#include "lib/kube/pages.h"
#include "provisioner-lib/audit/cluster_view.h"

enum { PAGE = 500 };

/* One of a PersistentVolume that is not in the cache may be of any volume. */
static bool may_be_of(const struct controller *controller, const json_t *volume_attachment,
                      const Api__AzVolumeAttachmentSpec *of)
{
    const json_t *spec = json_object_get(volume_attachment, "spec");
    const json_t *source = json_object_get(spec, "source");
    const char *pv = json_string_value(json_object_get(source, "persistentVolumeName"));

    if (!same_text(json_string_value(json_object_get(spec, "nodeName")), of->node_name) ||
        !same_text(json_string_value(json_object_get(spec, "attacher")),
                   controller->settings.driver_name))
        return false;
    CLEANUP(freep) char *name = pv ? volume_of_pv_name(controller, pv) : NULL;
    return !name || same_text(name, of->volume_name);
}

static struct err *has_none(struct task *self, struct controller *controller,
                            const Api__AzVolumeAttachmentSpec *of, bool *ret)
{
    const struct kube_query query = {.limit = PAGE};
    CLEANUP(kube_pages_fini) struct kube_pages pages;

    *ret = true;
    kube_pages_init(&pages, controller->leader_kube, &VOLUME_ATTACHMENTS, NULL, &query);
    while (*ret) {
        CLEANUP(json_decrefp) json_t *page = NULL;
        const json_t *one;
        size_t i;

        TRY(kube_pages_next(self, &pages, &page));
        if (!page)
            return NULL;
        json_array_foreach(json_object_get(page, "items"), i, one)
            *ret = *ret && !may_be_of(controller, one, of);
    }
    return NULL;
}

struct err *unpublished_read(struct task *self, struct controller *controller,
                             const struct kube_object *attachment, bool *ret)
{
    const Api__AzVolumeAttachmentSpec *spec = as_attachment(attachment)->spec;
    enum volume_in_use use;

    TRY(volume_in_use_read(self, controller, spec->node_name, spec->volume_name, spec->volume__id,
                           &use));
    *ret = use == VOLUME_NOT_IN_USE;
    return *ret ? has_none(self, controller, spec, ret) : NULL;
}

struct err *unpublished_demote(struct task *self, struct controller *controller,
                               const struct kube_object *attachment, const char *wanted_node)
{
    const Api__AzVolumeAttachmentSpec *spec = as_attachment(attachment)->spec;

    TRY(cached_patch(self, controller->leader_kube, controller->attachments, attachment,
                     if_unchanged(attachment, attachment_role_json(for_replica())), NULL));
    events_record(controller->events, &AZ_VOLUME_ATTACHMENTS, attachment->metadata, EVENT_NORMAL,
                  "Recovered", "Recover",
                  "This AzVolumeAttachment is no longer the primary because Kubernetes has volume "
                  "%s unpublished from node %s%s%s",
                  spec->volume_name, spec->node_name, wanted_node ? ", and wants it on node " : "",
                  wanted_node ? wanted_node : "");
    return NULL;
}
