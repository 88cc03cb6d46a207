#include "provisioner-lib/audit/finding.h"

#include <string.h>

#include "lib/base/alloc.h"

const struct finding_kind_row FINDING_TABLE[FINDING_KINDS] = {
    [DISK_NOT_ATTACHED] =
        {"DiskNotAttached", SEVERITY_DANGER, true,
         "An attachment is recorded as attached, but the VM does not have the disk.",
         "A pod on the node cannot read or write; a failover to the node would take as long as an "
         "attach.",
         "Nothing: the controller attaches the disk again. If this recurs, find out who detaches "
         "disks from the VM."},
    [LUN_DIFFERS] = {"LunDiffers", SEVERITY_DANGER, true,
                     "The VM has the disk at a different LUN than the record says.",
                     "The node finds no disk at the recorded LUN, and the pod does not start.",
                     "Nothing: the controller corrects the record from the VM's model."},
    [ATTACHED_WITHOUT_RECORD] =
        {"AttachedWithoutRecord", SEVERITY_WARNING, false,
         "The VM has a volume's disk, but there is no AzVolumeAttachment for it.",
         "A disk slot of the VM and a share of the disk are in use; there may be another writer.",
         "Make sure that nothing uses the disk, then detach it: az vm disk detach."},
    [FOREIGN_DISK] =
        {"ForeignDisk", SEVERITY_NOTE, false,
         "The VM has a data disk that belongs neither to a volume of this driver nor to one of "
         "another CSI driver of the cluster.",
         "The node has one disk slot less, which the driver takes into account.",
         "Nothing, if the disk is meant to be there."},
    [TWO_PRIMARIES] = {"TwoPrimaries", SEVERITY_DANGER, false,
                       "A single-writer volume has two primary attachments.",
                       "Two nodes could write to one file system, which destroys it.",
                       "Immediately stop the pod that should not have the volume; then delete its "
                       "AzVolumeAttachment."},
    [REPLICA_IN_USE] =
        {"ReplicaInUse", SEVERITY_DANGER, false,
         "Kubelet uses a volume on a node that has only a replica of it.",
         "There is a second writer if the volume is also in use on its primary's node.",
         "Make sure that the node is off, or that its pod has ended, before the volume is used "
         "elsewhere."},
    [SHARES_EXCEEDED] =
        {"SharesExceeded", SEVERITY_WARNING, false,
         "A volume has more attachments that hold a share than its disk has shares (maxShares).",
         "The surplus attachments can never succeed; they wait or fail.",
         "Lower maxMountReplicaCount of the AzVolume, or delete the AzVolumeAttachment of a "
         "replica."},
    [PUBLISHED_WITHOUT_PRIMARY] =
        {"PublishedWithoutPrimary", SEVERITY_DANGER, false,
         "Kubernetes considers the volume attached to a node, but no primary attachment is "
         "recorded there.",
         "The pod's disk may be detached, or promoted on another node, while it is in use.",
         "Nothing, if the AzVolumeAttachment was deleted by hand: the controller creates it again "
         "immediately. Otherwise, azdiskctl why names the pod and the cause."},
    [PRIMARY_NOT_PUBLISHED] =
        {"PrimaryNotPublished", SEVERITY_WARNING, true,
         "A primary attachment is recorded, but Kubernetes has no VolumeAttachment for it.",
         "The disk stays attached although nothing uses it, and cannot become primary on another "
         "node.",
         "Nothing: the controller makes it a replica as soon as the node does not report the "
         "volume "
         "as in use."},
    [ATTACHMENT_WITHOUT_VOLUME] =
        {"AttachmentWithoutVolume", SEVERITY_WARNING, false,
         "An AzVolumeAttachment belongs to an AzVolume that does not exist.",
         "Nothing manages the attachment; the disk may stay attached.",
         "Restore the AzVolume from a backup, or delete the attachment."},
    [VOLUME_WITHOUT_DISK] = {"VolumeWithoutDisk", SEVERITY_DANGER, false,
                             "An AzVolume is recorded as created, but its disk does not exist.",
                             "The volume's data, unless there is a snapshot.",
                             "Find out from Azure's activity log who deleted the disk; restore it "
                             "under the same name."},
    [VOLUME_WITHOUT_PV] =
        {"VolumeWithoutPersistentVolume", SEVERITY_WARNING, false,
         "An AzVolume was made for a PersistentVolume, and there is none of its disk: somebody has "
         "deleted it, or the claim was deleted before there was one.",
         "Money for a disk that no claim can use; or data that somebody is looking for.",
         "If its data is needed, make a PersistentVolume with the disk's id as volumeHandle. "
         "Otherwise delete the AzVolume, which leaves the disk, and then the disk."},
    [SIZE_DIFFERS] = {"SizeDiffers", SEVERITY_DANGER, true,
                      "A volume's disk is larger than the record says: somebody has resized it in "
                      "Azure.",
                      "A node takes the disk for the wrong one, so the volume's next pod would not "
                      "start.",
                      "Nothing: the controller records the disk's size. Resize the "
                      "PersistentVolumeClaim instead, so that the claim shows the size, too."},
    [SHARES_DIFFER] = {"SharesDiffer", SEVERITY_WARNING, true,
                       "A volume's disk has another maxShares than the record says: somebody has "
                       "changed it in Azure.",
                       "With fewer shares, replicas cannot be attached, and a pod that moves waits "
                       "for the only one.",
                       "Nothing: the controller records what the disk has. To have more replicas "
                       "again, raise maxShares of the disk while no VM has it."},
    [ANOTHER_DISK] = {"AnotherDisk", SEVERITY_WARNING, true,
                      "A volume's disk is not the one that the record is about: somebody has "
                      "deleted that, and made a new one of the same name.",
                      "The data of the disk that was deleted, unless the new one is a copy of it.",
                      "Nothing, if that was intended: the controller records the new disk. "
                      "Otherwise, restore the data from a snapshot."},
    [DISK_WITHOUT_VOLUME] =
        {"DiskWithoutVolume", SEVERITY_WARNING, false,
         "A disk is tagged as created by this driver in this cluster, or by an earlier version "
         "that did not record the cluster, but neither an AzVolume nor a PersistentVolume names "
         "it.",
         "Money, depending on the disk's kind and size; or data that somebody is looking for.",
         "Delete the disk, unless somebody needs its data. A disk that an earlier version created "
         "may belong to another cluster in this resource group: check that first."},
    [ATTACHED_OUTSIDE] = {"AttachedOutside", SEVERITY_WARNING, false,
                          "A volume's disk is attached to a VM that is not a node of this cluster.",
                          "A share of the disk is in use, and the VM may write to the disk.",
                          "Detach the disk from the VM, unless you know why it is attached there."},
    [OWNER_GONE] = {"OwnerGone", SEVERITY_WARNING, false,
                    "The disk names a VM that does not exist as its owner.",
                    "A share that Azure does not release by itself; with maxShares 1, the disk "
                    "cannot be attached anywhere.",
                    "Wait a few minutes; if the share is not released, update the disk without a "
                    "change (az disk update), or ask Azure support."},
    [DISKS_NOT_LISTED] =
        {"DisksNotListed", SEVERITY_NOTE, false,
         "The driver is not permitted to list the disks of a resource group, so the volumes there "
         "were not compared.",
         "Nothing; but a disk that is missing, or that nothing uses, is not noticed there.",
         "Grant the driver's identity Microsoft.Compute/disks/read on the resource group."},
    [RECORD_WITHOUT_SNAPSHOT] =
        {"RecordWithoutSnapshot", SEVERITY_DANGER, false,
         "An AzSnapshot is recorded as created, but its snapshot does not exist.",
         "The snapshot's data: no volume can be created from it.",
         "Find out from Azure's activity log who deleted the snapshot. Take another one, and "
         "delete "
         "the VolumeSnapshot, with which the record goes."},
    [SNAPSHOT_WITHOUT_RECORD] =
        {"SnapshotWithoutRecord", SEVERITY_WARNING, false,
         "A snapshot is tagged as created by this driver in this cluster, or by an earlier version "
         "that did not record the cluster, but neither an AzSnapshot nor a VolumeSnapshotContent "
         "names it.",
         "Money, depending on how much data the snapshot holds; or data that somebody is looking "
         "for.",
         "Delete the snapshot, unless somebody needs its data. A snapshot that an earlier version "
         "created may belong to another cluster in this resource group: check that first."},
    [SNAPSHOT_WITHOUT_CONTENT] =
        {"SnapshotWithoutContent", SEVERITY_WARNING, false,
         "An AzSnapshot is recorded as created, but no VolumeSnapshotContent names its snapshot.",
         "Money, depending on how much data the snapshot holds; or data that somebody is looking "
         "for.",
         "If nobody needs the data, delete the snapshot (az snapshot delete), then the AzSnapshot. "
         "Otherwise create a VolumeSnapshotContent with its id as snapshotHandle. Deletion policy "
         "Retain leaves both behind on purpose."},
    [SNAPSHOTS_NOT_LISTED] =
        {"SnapshotsNotListed", SEVERITY_NOTE, false,
         "The driver is not permitted to list the snapshots of a resource group, so the "
         "AzSnapshots there were not compared.",
         "Nothing; but a snapshot that is missing is not noticed there, and whether the data of a "
         "new one has been copied is never known.",
         "Grant the driver's identity Microsoft.Compute/snapshots/read on the resource group."},
};

const char *finding_former_name(enum finding_kind kind)
{
    return kind == PRIMARY_NOT_PUBLISHED ? "PrimaryWithoutPublication" : FINDING_TABLE[kind].name;
}

const char *severity_name(enum severity severity)
{
    static const char *const names[] = {
        [SEVERITY_NOTE] = "note", [SEVERITY_WARNING] = "warning", [SEVERITY_DANGER] = "danger"};

    return names[severity];
}

void findings_fini(struct findings *list)
{
    for (size_t i = 0; i < list->n; i++) {
        kube_object_unref(list->items[i].object);
        free(list->items[i].subject);
        free(list->items[i].text);
        free(list->items[i].key);
    }
    free(list->items);
    *list = (struct findings){0};
}

void findings_add(struct findings *list, enum finding_kind kind,
                  const struct api_resource *resource, struct kube_object *object,
                  const char *place, const char *format, ...)
{
    char *subject = mem_printf("%s/%s", resource->kind, object->metadata->name);
    va_list args;

    va_start(args, format);
    ARRAY_ADD(list->items, list->n) = (struct finding){
        .kind = kind,
        .resource = resource,
        .object = kube_object_ref(object),
        .subject = subject,
        .text = mem_vprintf(format, args),
        .key = mem_printf("%s %s %s", FINDING_TABLE[kind].name, subject, place ? place : ""),
    };
    va_end(args);
}

void findings_add_thing(struct findings *list, enum finding_kind kind, const char *thing,
                        const char *format, ...)
{
    va_list args;

    va_start(args, format);
    ARRAY_ADD(list->items, list->n) = (struct finding){
        .kind = kind,
        .subject = mem_strdup(thing),
        .text = mem_vprintf(format, args),
        .key = mem_printf("%s %s", FINDING_TABLE[kind].name, thing),
    };
    va_end(args);
}
