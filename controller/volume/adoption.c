#include "controller/volume/adoption.h"

#include <string.h>

#include "controller/cache/disk_pv.h"
#include "controller/cache/published.h"
#include "controller/cache/volume_name.h"
#include "controller/volume/persistent_volume.h"
#include "lib/api/csi.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/kube/cached_client.h"
#include "lib/kube/pv_source.h"
#include "provisioner-lib/records/access_mode.h"
#include "provisioner-lib/records/names.h"

#define MODE(name) CSI__V1__VOLUME_CAPABILITY__ACCESS_MODE__MODE__##name

enum adoption_pv adoption_pv_of(const struct controller *controller, const char *disk_id)
{
    const struct kube_object *pv = pv_of_disk(controller, disk_id, NULL);

    return !pv                                 ? ADOPTION_NO_PV
           : pv_is_provisioned(controller, pv) ? ADOPTION_PV_PROVISIONED
                                               : ADOPTION_PV_BY_HAND;
}

bool adoption_is_deletable(enum adoption_pv pv, enum disk_origin origin)
{
    switch (pv) {
    case ADOPTION_PV_PROVISIONED:
        return true;
    case ADOPTION_PV_BY_HAND:
        return false;
    case ADOPTION_NO_PV:
        break;
    }
    return origin == DISK_OWN;
}

bool adoption_is_of(const Api__AzVolume *volume)
{
    return volume_adopted_id(volume) || kube_annotation(volume->metadata, ANNOTATION_DISK);
}

const char *adoption_disk(const struct controller *controller, const Api__AzVolume *volume)
{
    const char *id = volume_recorded_disk(volume);

    if (id)
        return id;
    /* A PersistentVolume comes after its disk: what this AzVolume knew of it was lost. */
    const struct kube_object *pv = kubernetes_pv(controller, volume->metadata->name);
    return pv ? pv_handle(KUBE_AS(Api__PersistentVolume, pv)->spec) : NULL;
}

/* ---- the AzVolume ---- */

static json_t *parameters_json(const struct parameter *parameters, size_t n)
{
    json_t *json = json_object();

    for (size_t i = 0; i < n; i++)
        json_object_set_new(json, parameters[i].name, json_string(parameters[i].value));
    return json;
}

static json_t *metadata_json(const char *name, const char *volume_id, bool provisioned,
                             const struct kube_object *pv)
{
    const Api__ObjectReference *claim =
        pv ? KUBE_AS(Api__PersistentVolume, pv)->spec->claim_ref : NULL;
    json_t *labels =
        volume_pv_labels_json(pv ? pv->metadata->name : NULL, claim ? claim->name : NULL,
                              claim ? claim->namespace_ : NULL);

    return json_pack("{s:s, s:[s], s:o, s:{s:s, s:s*}}", "name", name, "finalizers",
                     FINALIZER_VOLUME, "labels", labels, "annotations",
                     provisioned ? ANNOTATION_DISK : ANNOTATION_PRE_PROVISIONED, volume_id,
                     ANNOTATION_PV_UID, pv ? pv->metadata->uid : NULL);
}

/* The cache is as the API server has it by now. */
static struct err *free_name(const struct controller *controller, const char *disk_id, char **ret)
{
    size_t n;

    volumes_of_disk(controller, disk_id, &n);
    if (n > 0)
        return err_new(ERR_EXISTS, "disk %s has an AzVolume", disk_id);
    return volume_name_of_disk(controller, disk_id, ret);
}

static struct err *write_adopted(struct task *self, struct controller *controller,
                                 struct kube *kube, const char *disk,
                                 const struct adoption *adoption, struct kube_object **ret)
{
    const char *namespace_ = controller->settings.namespace_;
    struct kube_object *found = pv_of_disk(controller, adoption->volume_id, NULL);
    CLEANUP(kube_object_unrefp) struct kube_object *pv = found ? kube_object_ref(found) : NULL;
    bool provisioned = pv ? pv_is_provisioned(controller, pv) : adoption->own;
    CLEANUP(volume_parameters_fini) struct volume_parameters parsed = {0};
    CLEANUP(kube_object_unrefp) struct kube_object *created = NULL;
    CLEANUP(freep) char *name = NULL;
    size_t n = parameters_keep_known(adoption->parameters, adoption->n_parameters);

    TRY(volume_parameters_parse_existing(
        adoption->parameters, n, access_mode_is_multi_node(adoption->access_mode), &parsed));
    TRY(volume_names_catch_up(self, controller, kube, adoption->volume_id));
    TRY(free_name(controller, adoption->volume_id, &name));
    CLEANUP(json_decrefp)
    json_t *json =
        json_pack("{s:o, s:{s:s, s:i, s:[{s:i, s:i}], s:o}}", "metadata",
                  metadata_json(name, adoption->volume_id, provisioned, pv), "spec", "volumeName",
                  disk, "maxMountReplicaCount", parsed.max_mount_replica_count, "volumeCapability",
                  "access_type", adoption->mounted, "access_mode", adoption->access_mode,
                  "parameters", parameters_json(adoption->parameters, n));
    if (pv)
        json_object_set_new(json_object_get(json, "spec"), "persistentVolume",
                            json_string(pv->metadata->name));
    TRY(cached_create(self, kube, controller->volumes, namespace_, json, &created));
    if (provisioned) {
        *ret = TAKE_PTR(created);
        return NULL;
    }
    /* Where upstream's driver, and people's scripts, look for it. */
    json_t *status = json_pack("{s:{s:s, s:{s:s}}}", "status", "state", "Pending", "annotation",
                               ANNOTATION_PRE_PROVISIONED, adoption->volume_id);
    return cached_patch_status(self, kube, controller->volumes, created, status, ret);
}

/* Of two that write at a time each would take a name that the other does not see yet, and the disk
 * would have two AzVolumes: while the plain name's one is deleted, say, and only one knows that. */
struct err *adoption_write(struct task *self, struct controller *controller, struct kube *kube,
                           const struct adoption *adoption, struct kube_object **ret)
{
    struct adoptions *adoptions = &controller->adoptions;
    CLEANUP(freep) char *disk = NULL;

    TRY(volume_name_of_id(adoption->volume_id, &disk));
    if (!string_set_add(&adoptions->names, disk)) {
        while (string_set_has(&adoptions->names, disk))
            TRY(wait_for_change(self, &adoptions->ended, TIMER_NEVER));
        return err_new(ERR_EXISTS, "an AzVolume has just been written for a disk %s", disk);
    }
    struct err *err = write_adopted(self, controller, kube, disk, adoption, ret);
    string_set_remove(&adoptions->names, disk);
    waiters_wake(&adoptions->ended);
    return err;
}

/* ---- of a PersistentVolume ---- */

static int access_mode_of(const Api__PersistentVolumeSpec *spec)
{
    static const struct {
        const char *name;
        int mode;
    } modes[] = {{"ReadWriteMany", MODE(MULTI_NODE_MULTI_WRITER)},
                 {"ReadOnlyMany", MODE(MULTI_NODE_READER_ONLY)},
                 {"ReadWriteOncePod", MODE(SINGLE_NODE_SINGLE_WRITER)}};

    for (size_t m = 0; m < COUNT_OF(modes); m++)
        for (size_t i = 0; i < spec->n_access_modes; i++)
            if (strcmp(spec->access_modes[i], modes[m].name) == 0)
                return modes[m].mode;
    return MODE(SINGLE_NODE_WRITER);
}

/* The volume attributes that CSI migration makes of it. */
static void add_in_tree(struct adoption *adoption, const Api__AzureDiskVolumeSource *source)
{
    if (source->caching_mode)
        ARRAY_ADD(adoption->parameters, adoption->n_parameters) =
            (struct parameter){"cachingMode", source->caching_mode};
    if (source->fs_type)
        ARRAY_ADD(adoption->parameters, adoption->n_parameters) =
            (struct parameter){"fsType", source->fs_type};
}

struct adoption adoption_of_pv(const Api__PersistentVolumeSpec *spec)
{
    struct adoption adoption = {
        .volume_id = pv_handle(spec),
        .mounted = !spec->volume_mode || strcmp(spec->volume_mode, "Block") != 0,
        .access_mode = access_mode_of(spec),
    };

    if (!spec->csi) {
        add_in_tree(&adoption, spec->azure_disk);
        return adoption;
    }
    adoption.parameters =
        PARAMETER_LIST(spec->csi->volume_attributes, spec->csi->n_volume_attributes);
    adoption.n_parameters = spec->csi->n_volume_attributes;
    return adoption;
}
