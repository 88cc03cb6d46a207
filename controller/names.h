/* names.h - every name that the driver gives to objects, labels and annotations.
 *
 * They are those of the Azure Disk CSI driver V2 wherever it has one, because people's scripts,
 * policies and dashboards know them.
 */
#pragma once

#include "lib/base/err.h"

#define FINALIZER_VOLUME "disk.csi.azure.com/azvolume-finalizer"
#define FINALIZER_ATTACHMENT "disk.csi.azure.com/azvolumeattachment-finalizer"

#define LABEL_NODE "disk.csi.azure.com/node-name"
#define LABEL_VOLUME "disk.csi.azure.com/volume-name"
#define LABEL_ROLE "disk.csi.azure.com/requested-role"
#define LABEL_ROLE_CHANGE "disk.csi.azure.com/role-change"
#define LABEL_PV "disk.csi.azure.com/pv"
#define LABEL_PVC "disk.csi.azure.com/pvc"
#define LABEL_PVC_NAMESPACE "disk.csi.azure.com/pvc-namespace"

/* In status.annotation. */
#define NOTE_DELETE_REQUEST "disk.csi.azure.com/volume-delete-request"
#define NOTE_PRE_PROVISIONED "disk.csi.azure.com/pre-provisioned"
#define NOTE_DETACH_REQUEST "disk.csi.azure.com/volume-detach-request"
#define NOTE_FILESYSTEM "disk.csi.azure.com/filesystem"       /* "ext4 <uuid>", once formatted */
#define NOTE_COLLECT_AFTER "disk.csi.azure.com/collect-after" /* time at which replicas go */

#define ROLE_PRIMARY "Primary"
#define ROLE_REPLICA "Replica"

enum { DISK_NAME_MAX = 63 }; /* it is also the value of a label */

/* The disk's name for a volume that a CSI caller calls `csi_name`: the same if Azure and Kubernetes
 * both accept it, else one made from its hash. Equal names give equal names. */
char *disk_name_of(const char *csi_name) __attribute__((warn_unused_result));

/* The AzVolume's name for a disk id, or for a disk's name. INVALID if it is no disk's id. */
struct err *volume_name_of_id(const char *volume_id, char **ret_name)
    __attribute__((warn_unused_result));

/* "<volume>-<node>-attachment", or with a hash in it where that is too long for a name. */
char *attachment_name_of(const char *volume_name, const char *node)
    __attribute__((warn_unused_result));
