/* names.h - the names that the driver gives to disks and objects; those of the Azure Disk CSI
 * driver V2, like all in lib/api/names.h.
 */
#pragma once

#include "lib/api/kubernetes.pb-c.h"
#include "lib/api/names.h"
#include "lib/base/err.h"

enum {
    LABEL_VALUE_MAX = 63,            /* of Kubernetes */
    DISK_NAME_MAX = LABEL_VALUE_MAX, /* it is also the value of a label */
};

/* The disk's name for a volume that a CSI caller calls `csi_name`: the same if Azure and Kubernetes
 * both accept it, else one made from its hash. Equal names give equal names. */
char *disk_name_of(const char *csi_name) __attribute__((warn_unused_result));

/* The AzVolume's name for a disk id: by the disk's name alone. INVALID if it is no disk's id. Which
 * AzVolume a disk has is known to controller/cache/volume_name.h. */
struct err *volume_name_of_id(const char *volume_id, char **ret_name)
    __attribute__((warn_unused_result));

/* The same with a hash of the id, for a disk whose name another one's AzVolume has:
 * "<name>.<hash>". No disk's name alone gives a name with a dot. NULL if it is no disk's id. */
char *volume_name_with_hash(const char *volume_id) __attribute__((warn_unused_result));
/* The name that both kinds have in common. */
char *volume_name_without_hash(const char *volume_name) __attribute__((warn_unused_result));

/* The AzSnapshot's name for a snapshot that the driver did not create, by its id: that of no other
 * one. */
char *snapshot_name_with_hash(const char *snapshot_id) __attribute__((warn_unused_result));

/* The name in Azure of the snapshot in its disk's region from which one of this name is copied to
 * another region: that of no snapshot which CSI names. */
char *snapshot_local_name(const char *snapshot_name) __attribute__((warn_unused_result));
/* And back; NULL if it is no such name. */
char *snapshot_name_of_local(const char *local_name) __attribute__((warn_unused_result));

/* The value of a label for the name of a node or of a volume: the same if it can be one, else its
 * beginning and a hash. Whoever writes such a label and whoever selects by it takes it from here,
 * because names may have 253 characters, and values of labels 63. */
char *label_value_of(const char *name) __attribute__((warn_unused_result));

/* "<volume>-<node>-attachment", or with a hash in it where that is too long for a name. It may be
 * that of another volume's attachment to another node, too. */
char *attachment_name_of(const char *volume_name, const char *node)
    __attribute__((warn_unused_result));
/* That of no other one. */
char *attachment_name_with_hash(const char *volume_name, const char *node)
    __attribute__((warn_unused_result));
