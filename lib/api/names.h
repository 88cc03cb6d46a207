/* names.h - the names and words in our custom resources that no schema holds: finalizers, labels,
 * annotations, roles, states.
 *
 * They are those of the Azure Disk CSI driver V2 wherever it has one, because people's scripts,
 * policies and dashboards know them; and one program reads what another has written.
 */
#pragma once

#define FINALIZER_VOLUME "disk.csi.azure.com/azvolume-finalizer"
#define FINALIZER_SNAPSHOT "disk.csi.azure.com/azsnapshot-finalizer"
#define FINALIZER_ATTACHMENT "disk.csi.azure.com/azvolumeattachment-finalizer"

#define LABEL_NODE "disk.csi.azure.com/node-name"
#define LABEL_VOLUME "disk.csi.azure.com/volume-name"
#define LABEL_ROLE "disk.csi.azure.com/requested-role"
#define LABEL_ROLE_CHANGE "disk.csi.azure.com/role-change"
#define ROLE_CHANGE_PROMOTED "promoted"
#define ROLE_CHANGE_DEMOTED "demoted" /* it was unpublished */
#define LABEL_PV "disk.csi.azure.com/pv"
#define LABEL_PVC "disk.csi.azure.com/pvc"
#define LABEL_PVC_NAMESPACE "disk.csi.azure.com/pvc-namespace"

/* In status.annotation. */
#define ANNOTATION_DELETE_REQUEST "disk.csi.azure.com/volume-delete-request"
/* ... and its value, where nobody has called DeleteVolume or DeleteSnapshot */
#define DELETE_REQUEST_OF_FAILED_CREATION "creation-failed"
#define ANNOTATION_PRE_PROVISIONED "disk.csi.azure.com/pre-provisioned" /* in metadata as well */
#define ANNOTATION_DISK "disk.csi.azure.com/disk" /* in metadata: of a volume that was adopted */
#define ANNOTATION_PV_UID                                                                          \
    "disk.csi.azure.com/pv-uid" /* in metadata: the same, which PersistentVolume's */
#define ANNOTATION_LOOK_REQUEST                                                                    \
    "disk.csi.azure.com/look-request" /* since when the disk is to be looked at */
/* What the cloud said of the disk when it was last looked at. */
#define ANNOTATION_DISK_SKU "disk.csi.azure.com/disk-sku"
#define ANNOTATION_DISK_MAX_SHARES "disk.csi.azure.com/disk-max-shares"
#define ANNOTATION_DISK_UNIQUE_ID "disk.csi.azure.com/disk-unique-id"
#define ANNOTATION_DETACH_REQUEST "disk.csi.azure.com/volume-detach-request"
#define ANNOTATION_VM "disk.csi.azure.com/vm-id" /* whose LUN it is: the VM's resource id */
#define ANNOTATION_BOOT                                                                            \
    "disk.csi.azure.com/boot-id" /* the node's, when Azure was last seen to have the disk there */
#define ANNOTATION_FILESYSTEM "disk.csi.azure.com/filesystem" /* "ext4 <uuid>", once formatted */
#define ANNOTATION_SOURCE_FILESYSTEM                                                               \
    "disk.csi.azure.com/source-filesystem" /* of an AzVolume: the same, of the disk that its own   \
                                              was copied from, on record before the copy began */
#define ANNOTATION_SOURCE_UUIDS                                                                    \
    "disk.csi.azure.com/source-uuids" /* of an AzVolume or AzSnapshot: UUIDs of file systems that  \
                                         the copied disk may have had then without a record */
/* A UUID that a user accepts: of a PersistentVolume, which may have it in volumeAttributes too, and
 * in metadata. */
#define ANNOTATION_ACCEPT_FILESYSTEM "disk.csi.azure.com/accept-filesystem"
#define ANNOTATION_FENCE "disk.csi.azure.com/fence" /* node/volume_fence.h */
/* Of a replica: "<key> <time>", the key of the volume's primary whose node is silent since it
 * renewed its Lease at that time, for the replica's node to preempt; and the same text by that
 * node, once the disk has confirmed that it refuses the writes of that key. See docs/failover.md.
 */
#define ANNOTATION_PREEMPT_REQUEST "disk.csi.azure.com/preempt-request"
#define ANNOTATION_PREEMPTED "disk.csi.azure.com/preempted"
#define ANNOTATION_RUNNING_JOB "disk.csi.azure.com/running-job"     /* node/running_job.h */
#define ANNOTATION_REPLICA_READY "disk.csi.azure.com/replica-ready" /* node/replica_check.h */
/* Of a PersistentVolumeClaim, in metadata: provisioner-lib/records/switchover.h */
#define ANNOTATION_SWITCHOVER "disk.csi.azure.com/switchover-to"
#define ANNOTATION_ASKED_UNTIL                                                                     \
    "disk.csi.azure.com/asked-until" /* of a replica, in metadata: until then it is to be there */
#define ANNOTATION_FORGET_AFTER                                                                    \
    "disk.csi.azure.com/forget-after" /* time at which a failed one goes */
#define ANNOTATION_COLLECT_AFTER                                                                   \
    "disk.csi.azure.com/collect-after" /* time at which replicas go                                \
                                        */

/* Of AzDriverNode.status.lastHeartbeatTime: what --heartbeat-limit is when it is not given. */
enum { DEFAULT_HEARTBEAT_LIMIT_MS = 2 * 60 * 1000 };

/* Of the Leases of node plug-ins, which are in the namespace of the custom resources and named as
 * their nodes. */
#define LABEL_NODE_LEASE "disk.csi.azure.com/node-lease"
enum { NODE_LEASE_RENEWALS = 3 }; /* in the duration of one */

/* Of a pod, by its user: "true" if its volumes are to fail over although their StorageClass does
 * not say so; and of an AzVolumeAttachment, by the controller, if all pods that use the volume
 * there say so. */
#define LABEL_AUTOMATIC_FAILOVER "disk.csi.azure.com/automatic-failover"
#define ANNOTATION_AUTOMATIC_FAILOVER LABEL_AUTOMATIC_FAILOVER

/* Of an AzVolumeAttachment. */
#define ROLE_PRIMARY "Primary"
#define ROLE_REPLICA "Replica"
#define STATE_ATTACHING "Attaching"
#define STATE_ATTACHED "Attached"
#define STATE_ATTACHMENT_FAILED "AttachmentFailed"
#define STATE_DETACHING "Detaching"
#define STATE_DETACHED "Detached"
#define STATE_DETACHMENT_FAILED "DetachmentFailed"

/* In its status.detail.publish_context. */
#define CONTEXT_LUN "LUN"
#define CONTEXT_SIZE "diskSizeBytes"

/* Topology segments: the driver's own, of its name; and Kubernetes's. */
#define ZONE_OF_DRIVER "topology.%s/zone"
#define ZONE_OF_KUBERNETES "topology.kubernetes.io/zone"
