#include "controller/snapshot/turn.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/records/snapshot.h"

static struct kube_object *const *find_siblings(const struct controller *controller,
                                                const struct kube_object *object, size_t *ret_n)
{
    const Api__AzSnapshotSpec *spec = as_snapshot(object)->spec;
    CLEANUP(freep)
    char *disk = mem_lower(spec && spec->source_volume_id ? spec->source_volume_id : "");

    return store_find(controller->snapshots_by_disk, disk, ret_n);
}

/* What is not taken yet may have been, without a word of it on record. */
static bool is_before(const struct kube_object *a, const struct kube_object *b)
{
    const Api__AzSnapshot *x = as_snapshot(a), *y = as_snapshot(b);
    int64_t us_x = snapshot_taken_us(x), us_y = snapshot_taken_us(y);

    if (!snapshot_local_is_taken(x))
        return strcmp(snapshot_state(x), "Creating") == 0;
    return us_x != us_y ? us_x < us_y : strcmp(a->key, b->key) < 0;
}

bool snapshot_waits_for_turn(const struct controller *controller,
                             const struct kube_object *snapshot)
{
    size_t n;
    struct kube_object *const *siblings = find_siblings(controller, snapshot, &n);

    for (size_t i = 0; i < n; i++) {
        const Api__AzSnapshot *sibling = as_snapshot(siblings[i]);

        if (siblings[i] != snapshot && snapshot_local_id(sibling) &&
            !snapshot_has_failed(sibling) && !snapshot_copy_is_over(sibling) &&
            is_before(siblings[i], snapshot))
            return true;
    }
    return false;
}

void snapshot_enqueue_turns(const struct controller *controller, const struct kube_object *snapshot)
{
    size_t n;
    struct kube_object *const *siblings = find_siblings(controller, snapshot, &n);

    if (!controller->leading || !snapshot_is_copy(as_snapshot(snapshot)))
        return;
    for (size_t i = 0; i < n; i++)
        if (siblings[i] != snapshot && snapshot_local_id(as_snapshot(siblings[i])))
            workqueue_add(controller->leading->queues[SNAPSHOT_QUEUE], siblings[i]->key);
}

void snapshot_enqueue_failed(const struct controller *controller,
                             const struct kube_object *snapshot)
{
    workqueue_add(controller->leading->queues[SNAPSHOT_QUEUE], snapshot->key);
    snapshot_enqueue_turns(controller, snapshot);
}
