#include "test/unit/controller/controller_of.h"

#include "controller/cache/indexes.h"
#include "provisioner-lib/cloud.h"

static void fill(struct store *store, const struct object_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        store_put(store, list->items[i]);
}

/* As Azure has it. */
static struct err *disk_id(struct cloud *cloud, const struct cloud_disk_spec *spec, char **ret_id)
{
    const char *group = spec->parameters->resource_group;

    (void)cloud;
    *ret_id = mem_printf("/subscriptions/s/resourceGroups/%s/providers/Microsoft.Compute/disks/%s",
                         group ? group : "rg", spec->name);
    return NULL;
}

struct controller controller_of(const struct cluster_view *view)
{
    static const struct cloud_ops ops = {.disk_id = disk_id};
    static struct cloud cloud = {&ops};
    struct controller controller = {
        .cloud = &cloud,
        .settings.driver_name = DRIVER,
        .creator = {DRIVER, CLUSTER},
        .volumes = store_new(&AZ_VOLUMES),
        .attachments = store_new(&AZ_VOLUME_ATTACHMENTS),
        .snapshots = store_new(&AZ_SNAPSHOTS),
        .driver_nodes = store_new(&AZ_DRIVER_NODES),
        .nodes = store_new(&NODES),
        .pods = store_new(&PODS),
        .persistent_volumes = store_new(&PERSISTENT_VOLUMES),
        .volume_attachments = store_new(&VOLUME_ATTACHMENTS),
    };

    indexes_add(&controller);
    fill(controller.volumes, &view->volumes);
    fill(controller.attachments, &view->attachments);
    fill(controller.snapshots, &view->snapshots);
    fill(controller.nodes, &view->nodes);
    fill(controller.persistent_volumes, &view->persistent_volumes);
    fill(controller.volume_attachments, &view->volume_attachments);
    return controller;
}

void controller_fini(const struct controller *controller)
{
    store_free(controller->volumes);
    store_free(controller->attachments);
    store_free(controller->snapshots);
    store_free(controller->driver_nodes);
    store_free(controller->nodes);
    store_free(controller->pods);
    store_free(controller->persistent_volumes);
    store_free(controller->volume_attachments);
}
