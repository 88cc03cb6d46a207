/* The reconciler of progress; see controller/progress.h. */
#include "controller/volume/disk_progress.h"

#include <strings.h>

#include "controller/progress.h"
#include "controller/volume/disk.h"
#include "controller/volume/modification.h"
#include "lib/base/alloc.h"
#include "lib/kube/cached_client.h"

static const char *incomplete_id(const struct kube_object *object)
{
    const Api__AzVolume *volume = as_volume(object);

    return volume_percent(volume) < 100 && volume_is_created(volume) &&
                   !kube_is_deleting(object->metadata)
               ? volume->status->detail->volume__id
               : NULL;
}

static const struct cloud_disk *find(const struct cloud_disks *all, const char *id)
{
    for (size_t i = 0; i < all->n; i++)
        if (strcasecmp(all->items[i].id, id) == 0)
            return &all->items[i];
    return NULL;
}

/* One that a list does not have may be missing from the list only. */
static struct err *record(struct task *self, struct controller *controller,
                          struct kube_object *object, const void *list)
{
    const struct cloud_disk *seen = find(list, incomplete_id(object));

    if (!seen || seen->percent == volume_percent(as_volume(object)))
        return NULL;
    TRY(cached_patch_status(self, controller->leader_kube, controller->volumes, object,
                            if_same(object, json_pack("{s:{s:o}}", "status", "completionPercent",
                                                      volume_percent_json(seen))),
                            NULL));
    modification_tell_progress(controller, object, seen->percent);
    return NULL;
}

static struct progress progress_of(struct controller *controller)
{
    return (struct progress){controller, controller->volumes, DISK_PROGRESS_QUEUE, incomplete_id,
                             record};
}

void disk_progress_enqueue(struct controller *controller, const struct kube_object *volume)
{
    const struct progress progress = progress_of(controller);

    progress_enqueue(&progress, volume);
}

struct err *reconcile_disk_progress(struct task *self, void *ctx, const char *group)
{
    struct controller *controller = ctx;
    const struct progress progress = progress_of(controller);
    CLEANUP(cloud_disks_fini) struct cloud_disks all = {0};
    CLEANUP(freep) char *any = progress_any(&progress, group);

    if (!any)
        return NULL;
    TRY(controller->cloud->ops->disk_list(self, controller->cloud, any, &all));
    return progress_record(self, &progress, group, &all);
}
