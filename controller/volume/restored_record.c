#include "controller/volume/restored_record.h"

#include "lib/kube/object.h"
#include "provisioner-lib/records/volume.h"

#define LABEL_RESTORE "velero.io/restore-name"

bool restored_without_status(const Api__AzVolume *volume)
{
    return kube_label(volume->metadata, LABEL_RESTORE) && !*volume_state(volume);
}

struct err *restored_refusal(const Api__AzVolume *volume)
{
    const char *name = volume->metadata->name, *namespace_ = volume->metadata->namespace_;

    return err_new(ERR_PRECONDITION,
                   "AzVolume %s was restored by Velero (%s) without its status, and no "
                   "PersistentVolume names its disk: no new, empty disk is created for it. Delete "
                   "the AzVolume, which deletes no disk (kubectl delete azvolume %s -n %s), and "
                   "exclude that namespace from backups and restores (docs/gitops.md)",
                   name, kube_label(volume->metadata, LABEL_RESTORE), name, namespace_);
}
