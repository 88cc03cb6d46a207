#include "controller/cache/volume_name.h"

#include <string.h>
#include <strings.h>

#include "controller/cache/disk_pv.h"
#include "lib/base/alloc.h"
#include "lib/kube/cached_client.h"
#include "lib/kube/pv_source.h"
#include "provisioner-lib/cloud.h"
#include "provisioner-lib/records/names.h"
#include "provisioner-lib/records/volume.h"

struct kube_object *const *volumes_of_disk(const struct controller *controller, const char *disk_id,
                                           size_t *ret_n)
{
    CLEANUP(freep) char *lower = mem_lower(disk_id);

    return store_find(controller->volumes_by_disk, lower, ret_n);
}

/* ---- what the cache does not know yet ---- */

static struct err *read_named(struct task *self, struct controller *controller, struct kube *kube,
                              const char *name)
{
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;

    return err_unless(
        cached_get(self, kube, controller->volumes, controller->settings.namespace_, name, &object),
        ERR_NOT_FOUND);
}

struct err *volume_names_catch_up(struct task *self, struct controller *controller,
                                  struct kube *kube, const char *disk_id)
{
    CLEANUP(freep) char *plain = NULL;
    CLEANUP(freep) char *hashed = volume_name_with_hash(disk_id);

    TRY(volume_name_of_id(disk_id, &plain));
    TRY(read_named(self, controller, kube, plain));
    return read_named(self, controller, kube, hashed);
}

/* ---- whose a name is ---- */

/* One that is to be made. */
static char *id_by_parameters(const struct controller *controller, const Api__AzVolume *volume)
{
    CLEANUP(volume_parameters_fini) struct volume_parameters parameters = {0};
    char *id = NULL;

    if (!volume->spec || !volume->spec->volume_name)
        return NULL;
    CLEANUP(err_freep) struct err *err = volume_parse_parameters(volume, &parameters);
    if (!err)
        err = controller->cloud->ops->disk_id(
            controller->cloud,
            &(struct cloud_disk_spec){.name = volume->spec->volume_name, .parameters = &parameters},
            &id);
    return id;
}

/* The disk that an AzVolume is about, also before it is made; NULL if that cannot be told. */
static char *disk_of(const struct controller *controller, const struct kube_object *volume)
{
    const char *recorded = volume_recorded_disk(as_volume(volume));
    const struct kube_object *pv = recorded ? NULL : pv_of_unrecorded(controller, volume);

    return recorded ? mem_strdup(recorded)
           : pv     ? mem_strdup(pv_disk(controller, pv))
                    : id_by_parameters(controller, as_volume(volume));
}

/* The AzVolume of that name; if there is none, what it left behind. */
static bool is_of_another(const struct controller *controller, const char *name, const char *disk)
{
    const struct kube_object *volume = volume_of_name(controller, name);
    CLEANUP(freep) char *its = volume ? disk_of(controller, volume) : NULL;
    size_t n;
    struct kube_object *const *attachments = attachments_of_volume(controller, name, &n);

    if (volume)
        return its && strcasecmp(its, disk) != 0;
    for (size_t i = 0; i < n; i++) {
        const char *attached = as_attachment(attachments[i])->spec->volume__id;

        if (attached && strcasecmp(attached, disk) != 0)
            return true;
    }
    return false;
}

static bool is_on_record(const struct controller *controller, const char *name)
{
    size_t n;

    attachments_of_volume(controller, name, &n);
    return n > 0 || volume_of_name(controller, name);
}

/* ---- the names ---- */

struct err *volume_name_of_disk(const struct controller *controller, const char *disk_id,
                                char **ret_name)
{
    CLEANUP(freep) char *plain = NULL;
    size_t n;

    TRY(volume_name_of_id(disk_id, &plain));
    struct kube_object *const *volumes = volumes_of_disk(controller, disk_id, &n);
    if (n > 0) {
        *ret_name = mem_strdup(volumes[0]->metadata->name);
        return NULL;
    }
    CLEANUP(freep) char *hashed = volume_name_with_hash(disk_id);
    *ret_name = is_on_record(controller, hashed) || is_of_another(controller, plain, disk_id)
                    ? TAKE_PTR(hashed)
                    : TAKE_PTR(plain);
    return NULL;
}

char *volume_name_of_pv(const struct controller *controller, const Api__PersistentVolumeSpec *spec)
{
    const char *disk = pv_handle(spec);
    char *name = NULL;

    if (disk)
        err_free(volume_name_of_disk(controller, disk, &name));
    return name;
}
