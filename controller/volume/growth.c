#include "controller/volume/growth.h"

#include <string.h>

#include "controller/cache/colocation.h"
#include "controller/cache/informers.h"
#include "controller/cache/published.h"
#include "controller/volume/disk.h"
#include "lib/api/azdisk.pb-c.h"
#include "lib/base/alloc.h"
#include "lib/kube/cached_client.h"
#include "provisioner-lib/disk_sku.h"

/* ---- when ---- */

static bool grows_attached(const Api__AzVolume *volume, int64_t to_gib)
{
    const struct caching_disk disk = volume_disk(volume);

    return disk.sku && disk_grows_attached(disk.sku, disk.max_shares, disk.size_gib, to_gib);
}

/* While pods are not known yet, any may use it. */
static bool is_in_use(const struct controller *controller, const char *name)
{
    return !informers_has_pods(controller) || pod_of_volume(controller, name) ||
           kubernetes_has_in_use(controller, name);
}

void growth_gather(const struct controller *controller, const struct kube_object *object,
                   struct volume_snapshot *ret)
{
    const Api__AzVolume *volume = as_volume(object);
    int64_t to_gib = volume_requested_gib(volume);

    ret->updating = strcmp(volume_state(volume), STATE_UPDATING) == 0;
    if (!ret->updating)
        return;
    ret->size_differs = to_gib > volume_disk(volume).size_gib;
    ret->grows_attached = grows_attached(volume, to_gib);
    ret->in_use = is_in_use(controller, object->metadata->name);
    ret->replicas_stay = !controller->settings.expand_detaches_replicas;
}

static const struct kube_object *find_primary(const struct controller *controller, const char *name)
{
    size_t n;
    struct kube_object *const *objects = attachments_of_volume(controller, name, &n);

    for (size_t i = 0; i < n; i++)
        if (!kube_is_deleting(objects[i]->metadata) &&
            attachment_wants(as_attachment(objects[i]), ROLE_PRIMARY))
            return objects[i];
    return NULL;
}

static char *user_of(const struct controller *controller, const char *name)
{
    const Api__Pod *pod = pod_of_volume(controller, name);
    const struct kube_object *primary = find_primary(controller, name);

    if (pod)
        return mem_printf("pod %s/%s uses it", pod->metadata->namespace_, pod->metadata->name);
    if (primary)
        return mem_printf("it is published to node %s", as_attachment(primary)->spec->node_name);
    return is_in_use(controller, name) ? mem_printf("it is about to be published") : NULL;
}

struct err *growth_check_possible(const struct controller *controller,
                                  const struct kube_object *object, int64_t to_gib)
{
    const char *name = object->metadata->name;
    const struct caching_disk disk = volume_disk(as_volume(object));
    CLEANUP(freep) char *user = user_of(controller, name);
    size_t n;

    attachments_of_volume(controller, name, &n);
    if (grows_attached(as_volume(object), to_gib) || (!user && n == 0) ||
        (!user && controller->settings.expand_detaches_replicas))
        return NULL;
    const char *why = disk.max_shares > 1
                          ? "a shared disk (maxShares above 1) can grow only while no VM has it"
                          : "a disk can grow beyond 4095 GiB only while no VM has it";
    if (user)
        return err_new(ERR_PRECONDITION,
                       "volume %s cannot grow now: %s, and %s; it grows as soon as no pod uses it, "
                       "for example when its workload is scaled to 0",
                       name, why, user);
    return err_new(ERR_PRECONDITION,
                   "volume %s cannot grow now: %s, and %zu replicas are attached, which are not "
                   "detached for it since --expand-detaches-replicas is off; it grows when they "
                   "have been removed",
                   name, why, n);
}

/* ---- what is on record ---- */

json_t *growth_wish_json(int64_t required_bytes, int64_t limit_bytes)
{
    return json_pack("{s:{s:{s:I, s:I}}}", "spec", "capacityRange", "required_bytes",
                     (json_int_t)required_bytes, "limit_bytes", (json_int_t)limit_bytes);
}

json_t *growth_begin_json(void)
{
    return json_pack("{s:{s:s, s:n}}", "status", "state", STATE_UPDATING, "error");
}

struct recording {
    struct controller *controller;
    const struct kube_object *volume;
};

/* Even if somebody has written to the AzVolume meanwhile: the disk has that size. */
static struct err *record(struct task *self, void *ctx, const struct cloud_disk *disk)
{
    const struct recording *recording = ctx;
    struct controller *controller = recording->controller;
    json_t *status = volume_disk_json(controller, as_volume(recording->volume), disk);

    json_object_set_new(status, "state", json_string(STATE_UPDATING)); /* more may be asked for */
    return cached_patch_status(
        self, controller->leader_kube, controller->volumes, recording->volume,
        if_same(recording->volume, json_pack("{s:o}", "status", status)), NULL);
}

struct err *growth_carry_out(struct task *self, struct controller *controller,
                             const struct kube_object *object)
{
    struct cloud *cloud = controller->cloud;
    struct recording recording = {controller, object};

    return cloud->ops->disk_grow(self, cloud, as_volume(object)->status->detail->volume__id,
                                 volume_requested_gib(as_volume(object)),
                                 &(struct cloud_growth){.record = record, .ctx = &recording});
}

struct err *growth_read_size(struct task *self, struct controller *controller,
                             const struct kube_object *object)
{
    struct cloud *cloud = controller->cloud;
    const Api__AzVolumeDetail *detail = as_volume(object)->status->detail;
    CLEANUP(cloud_disk_fini) struct cloud_disk disk = {0};

    TRY(cloud->ops->disk_get(self, cloud, detail->volume__id, &disk));
    if (disk.size_bytes <= detail->capacity__bytes)
        return NULL;
    return record(self, &(struct recording){controller, object}, &disk);
}
