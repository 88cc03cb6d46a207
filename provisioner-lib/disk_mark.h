/* disk_mark.h - the tags that say which driver, in which cluster, has created a disk, and what
 * follows from them.
 *
 * Several clusters may have their disks in one resource group, and people may give their volumes
 * the same names. A disk belongs to this driver by a record of this cluster, an AzVolume or a
 * PersistentVolume; where there is none, the mark decides.
 *
 * Earlier versions, and the drivers before this one, wrote TAG_CREATED_BY alone, which is the same
 * in all clusters. That tag stays what it was, because people's scripts look for it. The cluster is
 * known by the UID of its namespace kube-system; k8s-azure-cluster-name, which the cloud provider
 * writes to what it creates, is "kubernetes" unless somebody has said otherwise.
 *
 * Pure functions. Texts are borrowed, but those of a copy. Snapshots have the same tags.
 */
#pragma once

#include "provisioner-lib/parameters.h"

#define TAG_CREATED_BY "k8s-azure-created-by"
#define TAG_CREATED_BY_DRIVER "k8s-azure-created-by-driver"
#define TAG_CREATED_BY_CLUSTER "k8s-azure-created-by-cluster"

/* For whom it was created. */
#define TAG_PV_NAME "kubernetes.io-created-for-pv-name"
#define TAG_PVC_NAME "kubernetes.io-created-for-pvc-name"
#define TAG_PVC_NAMESPACE "kubernetes.io-created-for-pvc-namespace"
#define TAG_SNAPSHOT_NAME "kubernetes.io-created-for-snapshot-name"
#define TAG_SNAPSHOT_NAMESPACE "kubernetes.io-created-for-snapshot-namespace"

/* Of a snapshot that was copied from another region: what it is of does not follow from its source,
 * which is gone. */
#define TAG_COPY_OF_DISK "k8s-azure-copy-of-disk"
#define TAG_COPY_TAKEN_AT "k8s-azure-copy-taken-at"

enum { DISK_MARK_TAGS = 3 };

/* A driver in a cluster. */
struct disk_creator {
    const char *driver;  /* its CSI name */
    const char *cluster; /* lib/kube/cluster_id.h */
};

/* What the tags of a disk say. */
struct disk_mark {
    bool is_there;                /* TAG_CREATED_BY, as this driver and those before it write it */
    const char *driver, *cluster; /* NULL: that tag is not there */
    const char *pv;               /* NULL: the PersistentVolume that it is for is not named */
};

enum disk_origin {
    DISK_UNMARKED,        /* no such driver has created it */
    DISK_OF_OLDER_DRIVER, /* one that did not say which cluster it is in: perhaps this one */
    DISK_OF_OTHERS,       /* another driver of this cluster, or one of another cluster */
    DISK_OWN,
};

/* The tags that a new disk gets. */
void disk_mark_write(const struct disk_creator *creator, struct parameter ret[DISK_MARK_TAGS]);
/* Takes note of one tag; to be called for each. Azure does not tell names by their case. */
void disk_mark_read(struct disk_mark *mark, const char *tag, const char *value);
/* What all of them say. */
struct disk_mark disk_mark_of_tags(const struct parameter *tags, size_t n);
/* A copy that owns its texts, and its end. */
struct disk_mark disk_mark_copy(const struct disk_mark *mark);
void disk_mark_fini(struct disk_mark *mark);
/* Whether the driver writes a tag, so that nobody else may. */
bool disk_mark_has_tag(const char *tag);

/* Whose the disk is, for `creator`. */
enum disk_origin disk_origin_of(const struct disk_mark *mark, const struct disk_creator *creator);

/* Whether `creator` has created the disk for its volume of this name. A name with the UID of a
 * claim is of one cluster only, so the mark of an older driver is enough with it: a creation that
 * was under way while the driver was replaced is finished. A name from the parameter diskName may
 * be that of several volumes: then it is the volume of the PersistentVolume `pv`, else NULL. */
bool disk_is_for_volume(const struct disk_mark *mark, const struct disk_creator *creator,
                        const char *volume_name, const char *pv);

/* Who has created the disk, as a clause: "an earlier version ... created it"; free() it. */
char *disk_origin_text(const struct disk_mark *mark, const struct disk_creator *creator)
    __attribute__((warn_unused_result));
