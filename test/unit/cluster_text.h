/* cluster_text.h - a cluster from one JSON text, for tests of what looks at many objects at once.
 *
 * The text is {'volumes': [...], 'attachments': [...], ...} with single quotes for double ones; a
 * list may be left out. Macros write the objects that tests have many of.
 */
#pragma once

#include <stdlib.h>

#include <jansson.h>

#include "lib/base/alloc.h"
#include "lib/kube/object.h"
#include "provisioner-lib/audit/cluster_view.h"
#include "test/unit/expect.h"

#define DRIVER "disk.csi.azure.com"
#define CLUSTER "3f0a8c1e-6d5b-4f7a-9e21-7c4d2b1a0f55"
#define GROUP_DISKS "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/disks/"
#define GROUP_SNAPSHOTS "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/snapshots/"
#define GROUP_VMS "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/"

/* An AzVolume with two shares, created; `mode` is CSI's number, 1 for one writer. */
#define VOLUME(name, mode)                                                                         \
    "{'metadata':{'name':'" name "','creationTimestamp':'2026-01-01T00:00:00Z'},"                  \
    "'spec':{'volumeName':'" name "','parameters':{'maxShares':'2'},"                              \
    "'volumeCapability':[{'access_mode':" mode "}]},"                                              \
    "'status':{'state':'Created','detail':{'volume_id':'" GROUP_DISKS name "',"                    \
    "'accessible_topology':[{'segments':{'topology.disk.csi.azure.com/zone':'eastus-1'}}]}}}"
/* `wanted` and `role` are its role as it is to be, and on record; `more` is more of the status. */
#define ATTACHMENT(volume, node, wanted, role, state, lun, more)                                   \
    "{'metadata':{'name':'" volume "-" node "','uid':'u-" volume "-" node "',"                     \
    "'creationTimestamp':'2026-01-01T00:00:02Z'},"                                                 \
    "'spec':{'volumeName':'" volume "','volume_id':'" GROUP_DISKS volume "','nodeName':'" node     \
    "','role':'" wanted "'},'status':{'state':'" state "','detail':{'role':'" role                 \
    "','publish_context':{'LUN':'" lun "'}}" more "}}"
#define ATTACHED(volume, node, role, lun) ATTACHMENT(volume, node, role, role, "Attached", lun, "")
/* Of the disk of that name; `status` is the AzSnapshot's. */
#define SNAPSHOT(name, disk, status)                                                               \
    "{'metadata':{'name':'" name "','creationTimestamp':'2026-01-01T00:00:04Z'},"                  \
    "'spec':{'snapshotName':'" name "','sourceVolumeId':'" GROUP_DISKS disk "'},'status':{" status \
    "}}"
#define SNAPSHOT_CREATED(name, percent)                                                            \
    "'state':'Created','snapshotId':'" GROUP_SNAPSHOTS name                                        \
    "','readyToUse':true,'completionPercent':" percent
#define PV(name, disk)                                                                             \
    "{'metadata':{'name':'" name "','creationTimestamp':'2026-01-01T00:00:01Z'},"                  \
    "'spec':{'csi':{'driver':'" DRIVER "','volumeHandle':'" GROUP_DISKS disk "'},"                 \
    "'claimRef':{'namespace':'default','name':'claim'}}}"
#define IN_TREE_PV(name, disk)                                                                     \
    "{'metadata':{'name':'" name "','creationTimestamp':'2026-01-01T00:00:01Z'},"                  \
    "'spec':{'azureDisk':{'diskName':'x','diskURI':'" GROUP_DISKS disk "'}}}"
#define VOLUME_ATTACHMENT(name, pv, node, attached)                                                \
    "{'metadata':{'name':'" name "','creationTimestamp':'2026-01-01T00:00:03Z'},"                  \
    "'spec':{'attacher':'" DRIVER "','nodeName':'" node "','source':{'persistentVolumeName':'" pv  \
    "'}},'status':{'attached':" attached "}}"
/* Of a pod that names the disk without a claim. */
#define INLINE_VOLUME_ATTACHMENT(name, disk, node, attached)                                       \
    "{'metadata':{'name':'" name "','creationTimestamp':'2026-01-01T00:00:03Z'},"                  \
    "'spec':{'attacher':'" DRIVER "','nodeName':'" node "','source':{'inlineVolumeSpec':"          \
    "{'csi':{'driver':'" DRIVER "','volumeHandle':'" GROUP_DISKS disk "'}}}},"                     \
    "'status':{'attached':" attached "}}"
/* `in_use` is a list of names as kubelet writes them. */
#define NODE(name, ready, in_use)                                                                  \
    "{'metadata':{'name':'" name "'},'status':{'conditions':[{'type':'Ready','status':'" ready     \
    "'}],'volumesInUse':[" in_use "]}}"
#define NODE_OFF(name, in_use)                                                                     \
    "{'metadata':{'name':'" name "'},"                                                             \
    "'spec':{'taints':[{'key':'node.kubernetes.io/out-of-service','effect':'NoExecute'}]},"        \
    "'status':{'volumesInUse':[" in_use "]}}"
#define IN_USE(disk) "'kubernetes.io/csi/" DRIVER "^" GROUP_DISKS disk "'"

static inline json_t *json_of(const char *text)
{
    CLEANUP(freep) char *copy = mem_strdup(text);
    json_error_t error;

    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    json_t *json = json_loads(copy, 0, &error);
    if (!json)
        fail_msg("not JSON (%s): %s", error.text, copy);
    return json;
}

/* The objects of one list; free with object_list_free. */
static inline struct object_list object_list_of(const json_t *cluster, const char *name,
                                                const ProtobufCMessageDescriptor *type)
{
    const json_t *array = json_object_get(cluster, name);
    size_t n = json_array_size(array);
    struct kube_object **items = mem_alloc((n + 1) * sizeof(struct kube_object *));

    for (size_t i = 0; i < n; i++)
        assert_ok(kube_object_decode(type, json_array_get(array, i), &items[i]));
    return (struct object_list){items, n};
}

static inline void object_list_free(const struct object_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        kube_object_unref(list->items[i]);
    free((void *)(uintptr_t)list->items);
}

static inline struct cluster_view view_of(const json_t *cluster)
{
    return (struct cluster_view){
        .driver_name = DRIVER,
        .cluster_id = CLUSTER,
        .volumes = object_list_of(cluster, "volumes", &api__az_volume__descriptor),
        .attachments =
            object_list_of(cluster, "attachments", &api__az_volume_attachment__descriptor),
        .snapshots = object_list_of(cluster, "snapshots", &api__az_snapshot__descriptor),
        .driver_nodes = object_list_of(cluster, "driverNodes", &api__az_driver_node__descriptor),
        .nodes = object_list_of(cluster, "nodes", &api__node__descriptor),
        .persistent_volumes = object_list_of(cluster, "pvs", &api__persistent_volume__descriptor),
        .volume_attachments =
            object_list_of(cluster, "volume_attachments", &api__volume_attachment__descriptor),
    };
}

static inline void view_free(const struct cluster_view *view)
{
    object_list_free(&view->volumes);
    object_list_free(&view->attachments);
    object_list_free(&view->snapshots);
    object_list_free(&view->driver_nodes);
    object_list_free(&view->nodes);
    object_list_free(&view->persistent_volumes);
    object_list_free(&view->volume_attachments);
}
