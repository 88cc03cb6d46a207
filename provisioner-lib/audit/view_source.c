#include "provisioner-lib/audit/view_source.h"

#include "lib/rt/task.h"

static const struct view_source *self_of(const struct cluster_source *source)
{
    return (const struct view_source *)source;
}

static struct err *walk(struct task *self, const struct cluster_source *source,
                        enum cluster_kind kind,
                        void (*visit)(void *ctx, struct kube_object *object), void *ctx)
{
    const struct cluster_view *view = self_of(source)->view;
    const struct object_list *const lists[] = {
        [VOLUMES_OF] = &view->volumes,     [ATTACHMENTS_OF] = &view->attachments,
        [SNAPSHOTS_OF] = &view->snapshots, [PERSISTENT_VOLUMES_OF] = &view->persistent_volumes,
        [NODES_OF] = &view->nodes,
    };

    (void)self;
    for (size_t i = 0; i < lists[kind]->n; i++)
        visit(ctx, lists[kind]->items[i]);
    return NULL;
}

static struct err *go_on(struct task *self, size_t nth)
{
    (void)self;
    (void)nth;
    return NULL;
}

static struct kube_object *volume(const struct cluster_source *source, const char *name)
{
    return object_index_first(&self_of(source)->volumes, name);
}

static struct kube_object *volume_of_disk(const struct cluster_source *source, const char *id)
{
    return object_index_first(&self_of(source)->volumes_by_disk, id);
}

static struct kube_object *snapshot(const struct cluster_source *source, const char *name)
{
    return object_index_first(&self_of(source)->snapshots, name);
}

static struct kube_object *snapshot_of_id(const struct cluster_source *source, const char *id)
{
    return object_index_first(&self_of(source)->snapshots_by_id, id);
}

static struct kube_object *node(const struct cluster_source *source, const char *name)
{
    return object_index_first(&self_of(source)->nodes, name);
}

static struct object_list attachments_of_volume(const struct cluster_source *source,
                                                const char *name)
{
    return object_index_find(&self_of(source)->attachments_by_volume, name);
}

static struct object_list attachments_of_node(const struct cluster_source *source, const char *name)
{
    return object_index_find(&self_of(source)->attachments_by_node, name);
}

static struct object_list persistent_volumes_of_disk(const struct cluster_source *source,
                                                     const char *id)
{
    return object_index_find(&self_of(source)->persistent_volumes_by_disk, id);
}

static struct object_list inline_volume_attachments(const struct cluster_source *source,
                                                    const char *id)
{
    return object_index_find(&self_of(source)->inline_volume_attachments, id);
}

static struct object_list volume_attachments(const struct cluster_source *source, const char *name)
{
    return object_index_find(&self_of(source)->volume_attachments, name);
}

static const struct cluster_source_ops OPS = {
    .walk = walk,
    .pause = go_on,
    .volume = volume,
    .volume_of_disk = volume_of_disk,
    .snapshot = snapshot,
    .snapshot_of_id = snapshot_of_id,
    .node = node,
    .attachments_of_volume = attachments_of_volume,
    .attachments_of_node = attachments_of_node,
    .persistent_volumes_of_disk = persistent_volumes_of_disk,
    .inline_volume_attachments = inline_volume_attachments,
    .volume_attachments = volume_attachments,
};

void view_source_init(struct view_source *source, const struct cluster_view *view)
{
    *source = (struct view_source){
        .source = {&OPS, view->driver_name, view->cluster_id},
        .view = view,
        .volumes = object_index_of(&view->volumes, key_name),
        .volumes_by_disk = object_index_of(&view->volumes, volume_disk_id),
        .snapshots = object_index_of(&view->snapshots, key_name),
        .snapshots_by_id = object_index_of(&view->snapshots, snapshot_handle),
        .persistent_volumes_by_disk =
            object_index_of(&view->persistent_volumes, persistent_volume_handle),
        .nodes = object_index_of(&view->nodes, key_name),
        .attachments_by_volume = object_index_of(&view->attachments, attachment_volume),
        .attachments_by_node = object_index_of(&view->attachments, attachment_node),
        .inline_volume_attachments =
            object_index_of(&view->volume_attachments, volume_attachment_disk),
        .volume_attachments = object_index_of(&view->volume_attachments, volume_attachment_source),
    };
}

void view_source_fini(struct view_source *source)
{
    object_index_fini(&source->volumes);
    object_index_fini(&source->volumes_by_disk);
    object_index_fini(&source->snapshots);
    object_index_fini(&source->snapshots_by_id);
    object_index_fini(&source->persistent_volumes_by_disk);
    object_index_fini(&source->nodes);
    object_index_fini(&source->attachments_by_volume);
    object_index_fini(&source->attachments_by_node);
    object_index_fini(&source->inline_volume_attachments);
    object_index_fini(&source->volume_attachments);
}
