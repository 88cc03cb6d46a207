#include "azdiskctl/overview.h"

struct overview overview_of(const struct cluster *cluster)
{
    const struct cluster_view *view = &cluster->view;

    return (struct overview){
        .cluster = cluster,
        .by_volume = object_index_of(&view->attachments, attachment_volume),
        .by_node = object_index_of(&view->attachments, attachment_node),
        .pv_by_disk = object_index_of(&view->persistent_volumes, persistent_volume_handle)};
}

void overview_fini(struct overview *overview)
{
    object_index_fini(&overview->by_volume);
    object_index_fini(&overview->by_node);
    object_index_fini(&overview->pv_by_disk);
}

const struct kube_object *overview_pv(const struct overview *overview, const char *disk_id)
{
    struct object_list of_disk = object_index_find(&overview->pv_by_disk, disk_id);

    return pv_among(&of_disk, disk_id);
}
