#include "controller/attachment/disk_look.h"

#include <strings.h>

#include "lib/api/azdisk.pb-c.h"
#include "lib/kube/cached_client.h"

bool disk_differs(const Api__AzVolume *volume, const struct cloud_disk *disk)
{
    const struct caching_disk recorded = volume_disk(volume);

    return volume_disk_is_another(volume, disk->unique_id) ||
           disk->size_bytes > volume->status->detail->capacity__bytes || !recorded.sku ||
           strcasecmp(recorded.sku, disk->sku) != 0 || recorded.max_shares != disk->max_shares;
}

struct err *disk_look_request(struct task *self, struct controller *controller,
                              const struct kube_object *volume)
{
    json_t *changes = json_pack("{s:{s:s}}", "status", "state", STATE_UPDATING);

    return cached_patch_status(self, controller->leader_kube, controller->volumes, volume,
                               if_same(volume, changes), NULL);
}
