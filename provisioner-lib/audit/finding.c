#include "provisioner-lib/audit/finding.h"

#include <string.h>

#include "lib/base/alloc.h"

const struct finding_kind_row FINDING_TABLE[FINDING_KINDS] = {
    [DISK_NOT_ATTACHED] =
        {"DiskNotAttached", SEVERITY_DANGER, true,
         "An attachment is on record as attached, and the VM does not have the disk.",
         "A pod there cannot read or write; a failover there would take a whole attach.",
         "Nothing: the controller attaches it again. If it comes back, find out who detaches disks "
         "from this VM."},
    [LUN_DIFFERS] =
        {"LunDiffers", SEVERITY_DANGER, true,
         "The VM has the disk at another LUN than the one on record.",
         "The node finds no disk at the LUN that it was told, and the pod does not start.",
         "Nothing: the controller corrects the record from the VM's model."},
    [ATTACHED_WITHOUT_RECORD] =
        {"AttachedWithoutRecord", SEVERITY_WARNING, false,
         "The VM has the disk of a volume, and there is no AzVolumeAttachment for it.",
         "A place on the VM and a share of the disk are taken; another writer may be at work.",
         "Make sure that nobody uses it, then detach it: az vm disk detach."},
    [FOREIGN_DISK] = {"ForeignDisk", SEVERITY_NOTE, false,
                      "The VM has a data disk that is of no volume of this driver.",
                      "One place for disks fewer on the node, which the driver takes into account.",
                      "Nothing, if the disk is meant to be there."},
    [TWO_PRIMARIES] = {"TwoPrimaries", SEVERITY_DANGER, false,
                       "Two attachments of a volume for one writer are primary.",
                       "Two nodes could write to one file system, which destroys it.",
                       "Stop the pod that should not have the volume, at once; then delete its "
                       "AzVolumeAttachment."},
    [REPLICA_IN_USE] =
        {"ReplicaInUse", SEVERITY_DANGER, false,
         "Kubelet uses a volume on a node that holds only a replica of it.",
         "A second writer, if the volume is in use on its primary's node as well.",
         "See that the node is off, or that its pod has ended, before the volume is used "
         "elsewhere."},
    [SHARES_EXCEEDED] =
        {"SharesExceeded", SEVERITY_WARNING, false,
         "More attachments of a volume hold a share than the disk has (maxShares).",
         "The surplus ones can never be attached, and wait or fail.",
         "Lower maxMountReplicaCount of the AzVolume, or delete a replica's AzVolumeAttachment."},
    [PUBLISHED_WITHOUT_PRIMARY] =
        {"PublishedWithoutPrimary", SEVERITY_DANGER, false,
         "Kubernetes counts the volume as attached to a node, and no primary is on record there.",
         "The pod's disk may be detached or promoted elsewhere while it is in use.",
         "Nothing, if the AzVolumeAttachment was deleted by hand: it is written again at once. "
         "Else azdiskctl why names the pod and the cause."},
    [PRIMARY_WITHOUT_PUBLICATION] =
        {"PrimaryWithoutPublication", SEVERITY_WARNING, false,
         "A primary is on record, and Kubernetes has no VolumeAttachment for it.",
         "The disk stays attached for nobody, and is not given to another node.",
         "If no pod uses the volume on that node, delete the AzVolumeAttachment, which leaves the "
         "disk where it is; then detach it: az vm disk detach."},
    [ATTACHMENT_WITHOUT_VOLUME] =
        {"AttachmentWithoutVolume", SEVERITY_WARNING, false,
         "An AzVolumeAttachment belongs to an AzVolume that does not exist.",
         "Nobody looks after the attachment; the disk may stay attached.",
         "Restore the AzVolume from a backup, or delete the attachment."},
    [VOLUME_WITHOUT_DISK] = {"VolumeWithoutDisk", SEVERITY_DANGER, false,
                             "An AzVolume is on record as created, and its disk does not exist.",
                             "The volume's data, unless there is a snapshot.",
                             "Look into Azure's activity log for who deleted the disk; restore it "
                             "under the same name."},
    [DISK_WITHOUT_VOLUME] =
        {"DiskWithoutVolume", SEVERITY_WARNING, false,
         "A disk is marked as created by this driver in this cluster, or by an earlier version "
         "that "
         "did not say in which cluster, and neither an AzVolume nor a PersistentVolume names it.",
         "Money, by kind and size of the disk; or data that somebody looks for.",
         "Delete it, unless somebody needs what is on it. One that an earlier version created may "
         "belong to another cluster in this resource group: look there first."},
    [ATTACHED_OUTSIDE] =
        {"AttachedOutside", SEVERITY_WARNING, false,
         "The disk of a volume is attached to a VM that is no node of this cluster.",
         "A share of the disk is taken, and somebody else may write to it.",
         "Detach it there, unless you know what it is for."},
    [OWNER_GONE] =
        {"OwnerGone", SEVERITY_WARNING, false,
         "The disk names as its owner a VM that does not exist.",
         "A share that Azure does not give back by itself; with maxShares 1 the disk can be "
         "attached nowhere.",
         "Wait some minutes; if it stays, update the disk without a change (az disk update), or "
         "ask Azure's support."},
    [DISKS_NOT_LISTED] =
        {"DisksNotListed", SEVERITY_NOTE, false,
         "The disks of a resource group may not be listed, so the volumes there were not compared.",
         "Nothing; but a disk that is gone, or that nobody wants, is not noticed there.",
         "Allow the driver's identity Microsoft.Compute/disks/read in the resource group."},
};

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
