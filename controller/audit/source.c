#include "controller/audit/source.h"

#include "controller/cache/volume_name.h"
#include "lib/base/alloc.h"
#include "lib/rt/wait.h"
#include "provisioner-lib/records/names.h"

/* At most 2.5 ms of CPU time on the machine of the tests, -O2: 10,000 volumes with three
 * attachments each, ten volumes in use on each of 1,000 nodes. */
enum { AUDIT_BATCH = 250 };

static const struct controller *controller_of(const struct cluster_source *source)
{
    return ((const struct audit_source *)source)->controller;
}

/* ---- walks ---- */

/* A moment of real time, so that the loop takes in what has come meanwhile. */
static struct err *pause_after(struct task *self, size_t nth)
{
    return nth % AUDIT_BATCH == 0 ? task_sleep(self, 1) : NULL;
}

static struct store *store_of(const struct controller *controller, enum cluster_kind kind)
{
    struct store *const stores[] = {
        [VOLUMES_OF] = controller->volumes,
        [ATTACHMENTS_OF] = controller->attachments,
        [SNAPSHOTS_OF] = controller->snapshots,
        [PERSISTENT_VOLUMES_OF] = controller->persistent_volumes,
        [NODES_OF] = controller->nodes,
    };

    return stores[kind];
}

static struct err *walk(struct task *self, const struct cluster_source *source,
                        enum cluster_kind kind,
                        void (*visit)(void *ctx, struct kube_object *object), void *ctx)
{
    CLEANUP(store_walk_end) struct store_walk walk;
    struct kube_object *object;

    store_walk_begin(&walk, store_of(controller_of(source), kind));
    for (size_t n = 1; (object = store_walk_next(&walk)); n++) {
        visit(ctx, object);
        TRY(pause_after(self, n));
    }
    return NULL;
}

/* ---- lookups ---- */

static struct kube_object *volume(const struct cluster_source *source, const char *name)
{
    return volume_of_name(controller_of(source), name);
}

static struct object_list find(const struct store_index *index, const char *value)
{
    struct object_list list;

    list.items = store_find(index, value, &list.n);
    return list;
}

/* Of an AzVolume, the disk that was seen, not the one that it is to be. */
static struct kube_object *volume_of_disk(const struct cluster_source *source, const char *id)
{
    size_t n;
    struct kube_object *const *volumes = volumes_of_disk(controller_of(source), id, &n);

    for (size_t i = 0; i < n; i++)
        if (volume_disk_id(volumes[i]))
            return volumes[i];
    return NULL;
}

static struct kube_object *snapshot(const struct cluster_source *source, const char *name)
{
    const struct controller *controller = controller_of(source);
    CLEANUP(freep) char *key = kube_key(controller->settings.namespace_, name);

    return store_get(controller->snapshots, key);
}

static struct kube_object *find_snapshot(const struct cluster_source *source, const char *id)
{
    return snapshot_of_id(controller_of(source), id);
}

static struct kube_object *node(const struct cluster_source *source, const char *name)
{
    return store_get(controller_of(source)->nodes, name);
}

static struct object_list attachments_of(const struct cluster_source *source, const char *name)
{
    return find(controller_of(source)->attachments_by_volume, name);
}

static struct object_list attachments_of_node(const struct cluster_source *source, const char *name)
{
    return find(controller_of(source)->attachments_by_node, name);
}

static struct object_list find_by_name_of_disk(const struct store_index *index, const char *id)
{
    CLEANUP(freep) char *name = NULL;
    CLEANUP(err_freep) struct err *err = volume_name_of_id(id, &name);

    if (err)
        return (struct object_list){0};
    return find(index, name);
}

static struct object_list persistent_volumes_of_disk(const struct cluster_source *source,
                                                     const char *id)
{
    return find_by_name_of_disk(controller_of(source)->persistent_volumes_by_name, id);
}

static struct object_list inline_volume_attachments(const struct cluster_source *source,
                                                    const char *id)
{
    return find_by_name_of_disk(controller_of(source)->volume_attachments_by_inline_disk, id);
}

static struct object_list volume_attachments(const struct cluster_source *source, const char *name)
{
    return find(controller_of(source)->volume_attachments_by_pv, name);
}

void audit_source_init(struct audit_source *source, const struct controller *controller)
{
    static const struct cluster_source_ops OPS = {
        .walk = walk,
        .pause = pause_after,
        .volume = volume,
        .volume_of_disk = volume_of_disk,
        .snapshot = snapshot,
        .snapshot_of_id = find_snapshot,
        .node = node,
        .attachments_of_volume = attachments_of,
        .attachments_of_node = attachments_of_node,
        .persistent_volumes_of_disk = persistent_volumes_of_disk,
        .inline_volume_attachments = inline_volume_attachments,
        .volume_attachments = volume_attachments,
    };

    *source = (struct audit_source){
        {&OPS, controller->settings.driver_name, controller->creator.cluster}, controller};
}
