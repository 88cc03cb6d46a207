/* The attachments of one node against its machine's model. */

#include <string.h>

#include "lib/api/names.h"
#include "lib/kube/pv_source.h"
#include "provisioner-lib/audit/compare.h"
#include "provisioner-lib/azure/resource_id.h"

static const struct cloud_slot *slot_of(const struct cloud_instance *machine, const char *disk_id)
{
    for (size_t i = 0; machine && i < machine->n_slots; i++)
        if (resource_id_equal(machine->slots[i].disk_id, disk_id))
            return &machine->slots[i];
    return NULL;
}

/* What is on record as attached must be there, where it is said to be. */
static void compare_attachment(struct kube_object *attachment, const struct kube_object *node,
                               const struct cloud_instance *machine, struct findings *ret)
{
    const char *disk = attachment_disk_id(attachment), *name = node->metadata->name;
    const struct cloud_slot *slot = slot_of(machine, disk);
    int lun = attachment_lun(as_attachment(attachment));

    if (strcmp(attachment_state(as_attachment(attachment)), STATE_ATTACHED) != 0 || !disk ||
        kube_is_deleting(attachment->metadata))
        return;
    if (!machine)
        findings_add(ret, DISK_NOT_ATTACHED, &AZ_VOLUME_ATTACHMENTS, attachment, NULL,
                     "Node %s has no VM", name);
    else if (!slot || slot->leaving)
        findings_add(ret, DISK_NOT_ATTACHED, &AZ_VOLUME_ATTACHMENTS, attachment, NULL,
                     slot ? "The VM of node %s is detaching the disk"
                          : "The VM of node %s does not have the disk",
                     name);
    else if (slot->lun != lun)
        findings_add(ret, LUN_DIFFERS, &AZ_VOLUME_ATTACHMENTS, attachment, NULL,
                     "The VM of node %s has the disk at LUN %d, but LUN %d is on record", name,
                     slot->lun, lun);
}

static bool has_record(const struct object_list *attachments, const char *disk_id)
{
    for (size_t i = 0; i < attachments->n; i++)
        if (resource_id_equal(attachment_disk_id(attachments->items[i]), disk_id))
            return true;
    return false;
}

/* Is the disk that of another CSI driver of this cluster? Its PersistentVolume says so; a pod that
 * names a disk without a claim has a VolumeAttachment only. */
static bool is_of_another_driver(const struct cluster_source *source, const char *disk_id)
{
    const struct object_list pvs = source->ops->persistent_volumes_of_disk(source, disk_id);
    const struct object_list inlined = source->ops->inline_volume_attachments(source, disk_id);

    for (size_t i = 0; i < pvs.n; i++)
        if (resource_id_equal(persistent_volume_handle(pvs.items[i]), disk_id) &&
            !pv_is_of_driver(KUBE_AS(Api__PersistentVolume, pvs.items[i])->spec,
                             source->driver_name))
            return true;
    for (size_t i = 0; i < inlined.n; i++)
        if (resource_id_equal(volume_attachment_disk(inlined.items[i]), disk_id) &&
            !volume_attachment_is_of(inlined.items[i], source->driver_name))
            return true;
    return false;
}

/* What is there must be on record. */
static void compare_slot(const struct cluster_source *source, struct kube_object *node,
                         const struct cloud_slot *slot, struct findings *ret)
{
    const char *name = node->metadata->name;
    struct kube_object *volume = source->ops->volume_of_disk(source, slot->disk_id);

    if (volume)
        findings_add(ret, ATTACHED_WITHOUT_RECORD, &AZ_VOLUMES, volume, name,
                     "The VM of node %s has the disk at LUN %d, but there is no AzVolumeAttachment",
                     name, slot->lun);
    else if (!is_of_another_driver(source, slot->disk_id))
        findings_add(ret, FOREIGN_DISK, &NODES, node, slot->disk_id,
                     "LUN %d of the node's VM is used by %s", slot->lun, slot->disk_id);
}

void compare_machine(const struct cluster_source *source, struct kube_object *node,
                     const struct cloud_instance *machine, struct findings *ret)
{
    /* One whose change failed may stay so for ever, and nobody else looks at it. */
    if (machine && machine->state == CLOUD_INSTANCE_CHANGING)
        return;
    struct object_list attachments = source->ops->attachments_of_node(source, node->metadata->name);

    for (size_t i = 0; i < attachments.n; i++)
        compare_attachment(attachments.items[i], node, machine, ret);
    for (size_t i = 0; machine && i < machine->n_slots; i++)
        if (!machine->slots[i].leaving && !has_record(&attachments, machine->slots[i].disk_id))
            compare_slot(source, node, &machine->slots[i], ret);
}
