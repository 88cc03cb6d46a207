#include "controller/cache/node_attachment.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/kube/cached_client.h"
#include "provisioner-lib/records/names.h"

/* ---- which it is ---- */

static bool is_of(const struct kube_object *object, const char *volume, const char *node)
{
    const Api__AzVolumeAttachmentSpec *spec = as_attachment(object)->spec;

    return spec && spec->volume_name && strcmp(spec->volume_name, volume) == 0 && spec->node_name &&
           strcmp(spec->node_name, node) == 0;
}

/* Of two, which only somebody's hand can have made, the one that somebody uses. */
struct kube_object *node_attachment(const struct controller *controller, const char *volume,
                                    const char *node)
{
    size_t n;
    struct kube_object *const *objects = attachments_of_volume(controller, volume, &n);
    struct kube_object *found = NULL;

    for (size_t i = 0; i < n; i++)
        if (is_of(objects[i], volume, node) &&
            (!found || attachment_wants(as_attachment(objects[i]), ROLE_PRIMARY)))
            found = objects[i];
    return found;
}

/* NULL if there is no such object, or if it is another one's. */
static struct err *read_named(struct task *self, struct controller *controller, const char *name,
                              const char *volume, const char *node, struct kube_object **ret)
{
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;
    struct err *err = cached_get(self, controller->kube, controller->attachments,
                                 controller->settings.namespace_, name, &object);

    *ret = NULL;
    if (err && err_kind(err) == ERR_NOT_FOUND) {
        err_free(err);
        return NULL;
    }
    TRY(err);
    if (is_of(object, volume, node))
        *ret = TAKE_PTR(object);
    return NULL;
}

struct err *node_attachment_read(struct task *self, struct controller *controller,
                                 const char *volume, const char *node, struct kube_object **ret)
{
    CLEANUP(freep) char *plain = attachment_name_of(volume, node);
    CLEANUP(freep) char *hashed = attachment_name_with_hash(volume, node);

    TRY(read_named(self, controller, plain, volume, node, ret));
    if (*ret)
        return NULL;
    return read_named(self, controller, hashed, volume, node, ret);
}

/* ---- a new one ---- */

static struct err *create_named(struct task *self, struct controller *controller, struct kube *kube,
                                const char *name, json_t *json, struct kube_object **ret)
{
    json_object_set_new(json_object_get(json, "metadata"), "name", json_string(name));
    return cached_create(self, kube, controller->attachments, controller->settings.namespace_, json,
                         ret);
}

struct err *node_attachment_create(struct task *self, struct controller *controller,
                                   struct kube *kube, const Api__AzVolume *volume, const char *node,
                                   struct attachment_purpose purpose, struct kube_object **ret)
{
    CLEANUP(kube_object_unrefp) struct kube_object *there = NULL;
    CLEANUP(freep) char *plain = attachment_name_of(volume->metadata->name, node);
    CLEANUP(freep) char *hashed = attachment_name_with_hash(volume->metadata->name, node);
    CLEANUP(json_decrefp) json_t *json = attachment_json(volume, node, purpose);
    struct err *err = create_named(self, controller, kube, plain, json, ret);

    if (!err || err_kind(err) != ERR_EXISTS)
        return err;
    struct err *read_err =
        read_named(self, controller, plain, volume->metadata->name, node, &there);
    if (there || read_err) {
        err_free(read_err);
        return err;
    }
    err_free(err);
    return create_named(self, controller, kube, hashed, json, ret);
}
