#include "controller/volume/persistent_volume.h"

#include <string.h>
#include <strings.h>

#include "controller/cache/published.h"
#include "controller/volume/adoption.h"
#include "lib/kube/pv_source.h"
#include "provisioner-lib/records/names.h"

/* ---- what it should say ---- */

struct label {
    const char *name, *value; /* NULL: none */
};

enum { LABELS = 3 };

static void fill_labels(const char *pv, const char *claim, const char *claim_namespace,
                        struct label ret[LABELS])
{
    const struct label labels[LABELS] = {
        {LABEL_PV, pv}, {LABEL_PVC, claim}, {LABEL_PVC_NAMESPACE, claim_namespace}};

    for (size_t i = 0; i < LABELS; i++) {
        bool fits = labels[i].value && strlen(labels[i].value) <= LABEL_VALUE_MAX;

        ret[i] = (struct label){labels[i].name, fits ? labels[i].value : NULL};
    }
}

static void labels_of(const struct kube_object *pv, struct label ret[LABELS])
{
    const Api__ObjectReference *claim = KUBE_AS(Api__PersistentVolume, pv)->spec->claim_ref;

    fill_labels(pv->metadata->name, claim ? claim->name : NULL, claim ? claim->namespace_ : NULL,
                ret);
}

json_t *volume_pv_labels_json(const char *pv, const char *claim, const char *claim_namespace)
{
    struct label labels[LABELS];
    json_t *json = json_object();

    fill_labels(pv, claim, claim_namespace, labels);
    for (size_t i = 0; i < LABELS; i++)
        if (labels[i].value)
            json_object_set_new(json, labels[i].name, json_string(labels[i].value));
    return json;
}

/* ---- what it says ---- */

static bool same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static const char *recorded_name(const struct kube_object *volume)
{
    const char *name = as_volume(volume)->spec->persistent_volume;

    return name ? name : "";
}

static const char *recorded_uid(const struct kube_object *volume)
{
    return kube_annotation(volume->metadata, ANNOTATION_PV_UID);
}

/* The file system that a user accepts on the disk: a node reads it from the AzVolume. */
static const char *accepted_filesystem(const struct kube_object *object)
{
    return kube_annotation(object->metadata, ANNOTATION_ACCEPT_FILESYSTEM);
}

static bool is_as_recorded(const struct kube_object *volume, const struct kube_object *pv)
{
    struct label labels[LABELS];
    bool is_so = strcmp(recorded_name(volume), pv->metadata->name) == 0 &&
                 same(accepted_filesystem(volume), accepted_filesystem(pv));

    labels_of(pv, labels);
    for (size_t i = 0; i < LABELS; i++)
        is_so &= same(labels[i].value, kube_label(volume->metadata, labels[i].name));
    return is_so && (recorded_uid(volume) || !adoption_is_of(as_volume(volume)));
}

/* Who has it published by that PersistentVolume is to unpublish it first. */
static bool is_published(const struct controller *controller, const char *pv_name)
{
    size_t n;

    store_find(controller->volume_attachments_by_pv, pv_name, &n);
    return n > 0;
}

enum volume_pv volume_pv_compare(const struct controller *controller,
                                 const struct kube_object *volume)
{
    const struct kube_object *pv = kubernetes_pv(controller, volume->metadata->name);
    const char *name = recorded_name(volume), *uid = recorded_uid(volume);
    bool adopted = adoption_is_of(as_volume(volume));

    if (adopted && !pv)
        return *name && !is_published(controller, name) ? VOLUME_PV_MISSING : VOLUME_PV_UNCHANGED;
    if (adopted && uid && !same(uid, pv->metadata->uid))
        return is_published(controller, name) ? VOLUME_PV_UNCHANGED : VOLUME_PV_REPLACED;
    return pv && !is_as_recorded(volume, pv) ? VOLUME_PV_CHANGED : VOLUME_PV_UNCHANGED;
}

json_t *volume_pv_change_json(const struct controller *controller, const struct kube_object *volume)
{
    const struct kube_object *pv = kubernetes_pv(controller, volume->metadata->name);
    const char *accepted = accepted_filesystem(pv);
    json_t *changes = json_object(), *annotations = json_object();
    struct label labels[LABELS];

    labels_of(pv, labels);
    for (size_t i = 0; i < LABELS; i++)
        json_object_set_new(changes, labels[i].name,
                            labels[i].value ? json_string(labels[i].value) : json_null());
    if (accepted || accepted_filesystem(volume))
        json_object_set_new(annotations, ANNOTATION_ACCEPT_FILESYSTEM,
                            accepted ? json_string(accepted) : json_null());
    if (adoption_is_of(as_volume(volume)))
        json_object_set_new(annotations, ANNOTATION_PV_UID, json_string(pv->metadata->uid));
    return json_pack("{s:{s:o, s:o}, s:{s:s}}", "metadata", "labels", changes, "annotations",
                     annotations, "spec", "persistentVolume", pv->metadata->name);
}

/* ---- whether it is gone ---- */

struct err *volume_pv_check_gone(struct task *self, struct controller *controller,
                                 const struct kube_object *volume)
{
    CLEANUP(kube_object_unrefp) struct kube_object *pv = NULL;
    const char *name = recorded_name(volume), *uid = recorded_uid(volume);
    struct err *err = kube_get(self, controller->leader_kube, &PERSISTENT_VOLUMES, NULL, name, &pv);

    if (err && err_kind(err) == ERR_NOT_FOUND) {
        err_free(err);
        return NULL;
    }
    TRY(err);
    const char *disk = volume_recorded_disk(as_volume(volume));
    const char *handle = pv_handle(KUBE_AS(Api__PersistentVolume, pv)->spec);
    if ((uid && !same(uid, pv->metadata->uid)) || (disk && handle && strcasecmp(disk, handle) != 0))
        return NULL;
    return err_new(
        ERR_CONFLICT,
        "volume %s: PersistentVolume %s still exists; the watch has not delivered it yet",
        volume->metadata->name, name);
}
