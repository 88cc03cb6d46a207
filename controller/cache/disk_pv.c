#include "controller/cache/disk_pv.h"

#include <string.h>
#include <strings.h>

#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "lib/kube/pv_source.h"
#include "provisioner-lib/records/names.h"

#define PROVISIONED_BY "pv.kubernetes.io/provisioned-by"
#define PROVISIONED_IN_TREE "kubernetes.io/azure-disk"

static const Api__PersistentVolumeSpec *spec_of(const struct kube_object *pv)
{
    return KUBE_AS(Api__PersistentVolume, pv)->spec;
}

/* ---- what one is ---- */

const char *pv_disk(const struct controller *controller, const struct kube_object *pv)
{
    return pv_is_of_driver(spec_of(pv), controller->settings.driver_name) ? pv_handle(spec_of(pv))
                                                                          : "";
}

bool pv_is_provisioned(const struct controller *controller, const struct kube_object *pv)
{
    const char *by = kube_annotation(pv->metadata, PROVISIONED_BY);

    return by && (strcmp(by, controller->settings.driver_name) == 0 ||
                  (spec_of(pv)->azure_disk && strcmp(by, PROVISIONED_IN_TREE) == 0));
}

static bool is_in_phase(const struct kube_object *pv, const char *phase)
{
    const Api__PersistentVolumeStatus *status = KUBE_AS(Api__PersistentVolume, pv)->status;

    return status && status->phase && strcmp(status->phase, phase) == 0;
}

bool pv_is_bound(const struct kube_object *pv)
{
    return !kube_is_deleting(pv->metadata) && is_in_phase(pv, "Bound");
}

bool pv_is_released(const struct kube_object *pv)
{
    return is_in_phase(pv, "Released");
}

/* ---- which of several ---- */

char *volume_plain_name(const struct controller *controller, const char *volume_name)
{
    const struct kube_object *volume = volume_of_name(controller, volume_name);
    const char *disk = volume ? volume_recorded_disk(as_volume(volume)) : NULL;
    char *plain = NULL;

    if (disk)
        err_free(volume_name_of_id(disk, &plain));
    return plain ? plain : volume_name_without_hash(volume_name);
}

struct kube_object *const *pvs_of_name(const struct controller *controller, const char *volume_name,
                                       size_t *ret_n)
{
    CLEANUP(freep) char *plain = volume_plain_name(controller, volume_name);

    return store_find(controller->persistent_volumes_by_name, plain, ret_n);
}

static int rank_of(const struct kube_object *pv, const struct kube_object *volume)
{
    const char *uid = volume ? kube_annotation(volume->metadata, ANNOTATION_PV_UID) : NULL;
    bool recorded = uid && pv->metadata->uid && strcmp(uid, pv->metadata->uid) == 0;

    return recorded + 2 * pv_is_bound(pv);
}

struct kube_object *pv_that_counts(struct kube_object *one, struct kube_object *other,
                                   const struct kube_object *volume)
{
    return one && rank_of(one, volume) >= rank_of(other, volume) ? one : other;
}

struct kube_object *pv_of_disk(const struct controller *controller, const char *disk_id,
                               const struct kube_object *volume)
{
    CLEANUP(freep) char *plain = NULL;
    CLEANUP(err_freep) struct err *err = volume_name_of_id(disk_id, &plain);
    struct kube_object *found = NULL;
    size_t n = 0;
    struct kube_object *const *pvs =
        err ? NULL : store_find(controller->persistent_volumes_by_name, plain, &n);

    for (size_t i = 0; i < n; i++)
        if (strcasecmp(pv_disk(controller, pvs[i]), disk_id) == 0)
            found = pv_that_counts(found, pvs[i], volume);
    return found;
}

/* A disk that has an AzVolume by its hash has no other. */
static bool has_name(const struct controller *controller, const char *disk, const char *volume_name)
{
    CLEANUP(freep) char *hashed = volume_name_with_hash(disk);

    return strcmp(volume_name, hashed) == 0 || !volume_of_name(controller, hashed);
}

/* Can its disk be that of an AzVolume that names none? The disk may be yet to be made: what
 * somebody else has made of the same name, in whatever resource group, is another one. */
static bool is_of_unrecorded(const struct controller *controller, const struct kube_object *pv,
                             const struct kube_object *volume)
{
    const Api__AzVolumeSpec *spec = as_volume(volume)->spec;
    const char *disk = pv_disk(controller, pv), *named = spec ? spec->persistent_volume : NULL;

    return *disk && has_name(controller, disk, volume->metadata->name) &&
           (named ? strcmp(named, pv->metadata->name) == 0 : pv_is_provisioned(controller, pv));
}

struct kube_object *pv_of_unrecorded(const struct controller *controller,
                                     const struct kube_object *volume)
{
    struct kube_object *found = NULL;
    size_t n;
    struct kube_object *const *pvs = pvs_of_name(controller, volume->metadata->name, &n);

    for (size_t i = 0; i < n; i++)
        if (is_of_unrecorded(controller, pvs[i], volume))
            found = pv_that_counts(found, pvs[i], volume);
    return found;
}
