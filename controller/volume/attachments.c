#include "controller/volume/attachments.h"

#include "lib/base/alloc.h"
#include "lib/kube/cached_client.h"
#include "provisioner-lib/records/names.h"

struct err *volume_release_attachments(struct task *self, struct controller *controller,
                                       const char *volume)
{
    size_t n;
    struct kube_object *const *found = attachments_of_volume(controller, volume, &n);

    for (size_t i = 0; i < n; i++) {
        if (kube_is_deleting(found[i]->metadata) ||
            attachment_wants(as_attachment(found[i]), ROLE_PRIMARY))
            continue;
        /* The list may change with the next yield: one at a time. */
        TRY(cached_delete(self, controller->leader_kube, controller->attachments, found[i]));
        found = attachments_of_volume(controller, volume, &n);
    }
    return NULL;
}

struct err *volume_check_unattached(struct task *self, struct controller *controller,
                                    const char *volume)
{
    CLEANUP(freep) char *value = label_value_of(volume);
    CLEANUP(freep) char *label = mem_printf(LABEL_VOLUME "=%s", value);
    CLEANUP(json_decrefp) json_t *list = NULL;

    TRY(kube_list_page(self, controller->leader_kube, &AZ_VOLUME_ATTACHMENTS,
                       controller->settings.namespace_,
                       &(struct kube_query){.label_selector = label}, &list));
    size_t n = json_array_size(json_object_get(list, "items"));
    if (n > 0)
        return err_new(ERR_CONFLICT, "volume %s: %zu attachments have just been created", volume,
                       n);
    return NULL;
}
