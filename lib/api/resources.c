#include "lib/api/resources.h"

#include "lib/api/azdisk.pb-c.h"
#include "lib/api/kubernetes.pb-c.h"

#define CORE "", "v1"
#define ADMISSION "admissionregistration.k8s.io", "v1"
#define COORDINATION "coordination.k8s.io", "v1"
#define EVENTS_API "events.k8s.io", "v1"
#define STORAGE "storage.k8s.io", "v1"
#define SNAPSHOT "snapshot.storage.k8s.io", "v1"
#define AZDISK "disk.csi.azure.com", "v1beta2"

/* clang-format off */
const struct api_resource NODES = {
    CORE, "nodes", "Node", false, &api__node__descriptor};
const struct api_resource PODS = {
    CORE, "pods", "Pod", true, &api__pod__descriptor};
const struct api_resource NAMESPACES = {
    CORE, "namespaces", "Namespace", false, &api__namespace__descriptor};
const struct api_resource PERSISTENT_VOLUMES = {
    CORE, "persistentvolumes", "PersistentVolume", false, &api__persistent_volume__descriptor};
const struct api_resource PERSISTENT_VOLUME_CLAIMS = {
    CORE, "persistentvolumeclaims", "PersistentVolumeClaim", true, &api__persistent_volume_claim__descriptor};
const struct api_resource SECRETS = {
    CORE, "secrets", "Secret", true, &api__secret__descriptor};
const struct api_resource LEASES = {
    COORDINATION, "leases", "Lease", true, &api__lease__descriptor};
const struct api_resource EVENTS = {
    EVENTS_API, "events", "Event", true, &api__event__descriptor};
const struct api_resource CSI_NODES = {
    STORAGE, "csinodes", "CSINode", false, &api__csinode__descriptor};
const struct api_resource VOLUME_ATTACHMENTS = {
    STORAGE, "volumeattachments", "VolumeAttachment", false, &api__volume_attachment__descriptor};
const struct api_resource VOLUME_SNAPSHOT_CONTENTS = {
    SNAPSHOT, "volumesnapshotcontents", "VolumeSnapshotContent", false, &api__volume_snapshot_content__descriptor};
const struct api_resource MUTATING_WEBHOOK_CONFIGURATIONS = {
    ADMISSION, "mutatingwebhookconfigurations", "MutatingWebhookConfiguration", false, &api__mutating_webhook_configuration__descriptor};
const struct api_resource AZ_VOLUMES = {
    AZDISK, "azvolumes", "AzVolume", true, &api__az_volume__descriptor};
const struct api_resource AZ_VOLUME_ATTACHMENTS = {
    AZDISK, "azvolumeattachments", "AzVolumeAttachment", true, &api__az_volume_attachment__descriptor};
const struct api_resource AZ_SNAPSHOTS = {
    AZDISK, "azsnapshots", "AzSnapshot", true, &api__az_snapshot__descriptor};
const struct api_resource AZ_DRIVER_NODES = {
    AZDISK, "azdrivernodes", "AzDriverNode", true, &api__az_driver_node__descriptor};
/* clang-format on */
