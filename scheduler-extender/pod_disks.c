#include "scheduler-extender/pod_disks.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/kube/pod_claim.h"
#include "provisioner-lib/records/switchover.h"
#include "scheduler-extender/digest.h"
#include "scheduler-extender/informers.h"

/* A pod may name a claim twice. It may also name a thousand disks, whose ids differ at their ends.
 */
static bool has_disk(const struct pod_disks *disks, const struct pod_disk *disk)
{
    for (size_t i = 0; i < disks->n; i++)
        if (disks->items[i].hash == disk->hash && strcmp(disks->items[i].id, disk->id) == 0)
            return true;
    return false;
}

static void note_wish(const struct extender *extender, const struct claim_digest *claim,
                      struct pod_disks *disks)
{
    CLEANUP(freep)
    char *node = switchover_node(claim->texts + claim->switchover, loop_wall_us(extender->loop));

    if (node)
        disks->asked_for = named_of(node, strlen(node)).hash;
}

static bool is_bound(const struct volume_digest *volume, const struct claim_digest *claim,
                     const char *claim_key)
{
    return strcmp(volume->texts + volume->claim, claim_key) == 0 &&
           (!volume->claim_uid || volume->claim_uid == claim->uid);
}

static void add_disk(const struct extender *extender, const char *claim_key,
                     struct pod_disks *disks)
{
    const struct kube_object *object = store_get(extender->claims, claim_key);
    const struct claim_digest *claim = object ? KUBE_DIGEST(struct claim_digest, object) : NULL;
    const struct kube_object *named = claim ? store_get(extender->volumes, claim->texts) : NULL;
    const struct volume_digest *volume = named ? KUBE_DIGEST(struct volume_digest, named) : NULL;

    if (!volume || !is_bound(volume, claim, claim_key))
        return;
    const char *id = volume->texts;
    const struct pod_disk disk = {id, named_of(id, strlen(id)).hash, claim->shared};
    if (has_disk(disks, &disk))
        return;
    ARRAY_ADD(disks->items, disks->n) = disk;
    if (!disks->asked_for && !claim->shared)
        note_wish(extender, claim, disks);
}

void pod_disks_find(const struct extender *extender, const Api__Pod *pod, struct pod_disks *ret)
{
    if (!informers_is_synced(extender) || !pod->metadata || !pod->spec)
        return;
    for (size_t i = 0; i < pod->spec->n_volumes; i++) {
        CLEANUP(freep) char *key = pod_claim_key(pod, pod->spec->volumes[i]);

        if (key)
            add_disk(extender, key, ret);
    }
}

void pod_disks_fini(struct pod_disks *disks)
{
    free(disks->items);
}
