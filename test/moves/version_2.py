"""Microsoft's driver for Azure disks, version 2: its chart as it has published it, whose images cannot be had, and the custom
resources as its controllers leave them."""

from azsim import simulator

VERSION = "2.0.0-beta.6"
CHART = f"azuredisk-csi-driver-v{VERSION}.tgz"
GROUP = "disk.csi.azure.com"
STAMPS = {f"{GROUP}/apiversion": "v1beta2", f"{GROUP}/request-id": "8c5a1c1e-0d1f-4b8e-9a53-0b2d1f6a7e11",
          f"{GROUP}/request-starttime": "2025-02-11T09:14:07.123456789Z", f"{GROUP}/requester-name": "node-controller"}
RECOVERY = {f"{GROUP}/recovery": "0b6f6d58-6d0a-4a77-8c55-3ef5a3b0e2c4"}


def _object(kind: str, name: str, metadata: dict, spec: dict, status: dict) -> dict:
    return {"apiVersion": f"{GROUP}/v1beta2", "kind": kind, "spec": spec, "status": status,
            "metadata": {"name": name, "namespace": "azure-disk-csi", **metadata}}


def volume(pv: dict, claim: str, replicas: int) -> dict:
    """The AzVolume of a PersistentVolume."""
    name, source = pv["metadata"]["name"], pv["spec"]["csi"]
    labels = {f"{GROUP}/pv": name, f"{GROUP}/pvc": claim, f"{GROUP}/pvc-namespace": "default"}
    size, parameters = 1 << 30, source["volumeAttributes"]
    return _object(
        "AzVolume", name,
        {"finalizers": [f"{GROUP}/azvolume-finalizer"], "annotations": STAMPS, "labels": labels},
        {"volumeName": name, "maxMountReplicaCount": replicas, "persistentVolume": name, "parameters": parameters,
         "volumeCapability": [{"access_type": 1, "access_mode": 7, "fs_type": ""}],
         "capacityRange": {"required_bytes": size}},
        {"state": "Created", "annotation": RECOVERY,
         "detail": {"volume_id": source["volumeHandle"], "parameters": parameters, "capacity_bytes": size,
                    "node_expansion_required": False}})


def attachment(volume_name: str, node: str, role: str, lun: str) -> dict:
    """An AzVolumeAttachment whose disk is attached."""
    labels = {f"{GROUP}/node-name": node, f"{GROUP}/volume-name": volume_name, f"{GROUP}/requested-role": role}
    requester = {"Primary": "crdProvisioner", "Replica": "controller"}[role]
    return _object(
        "AzVolumeAttachment", f"{volume_name}-{node}-attachment",
        {"finalizers": [f"{GROUP}/azvolumeattachment-finalizer"], "labels": labels,
         "annotations": STAMPS | {f"{GROUP}/volume-attach-request": requester}},
        {"volumeName": volume_name, "volume_id": simulator.disk_id(volume_name), "nodeName": node, "role": role,
         "volume_context": {}},
        {"state": "Attached", "annotation": RECOVERY, "detail": {"role": role, "publish_context": {"LUN": lun}}})


def driver_node(node: str) -> dict:
    status = {"lastHeartbeatTime": "2025-02-11T09:14:07Z", "readyForVolumeAllocation": True,
              "statusMessage": "Driver node healthy."}
    return _object("AzDriverNode", node, {"annotations": RECOVERY}, {"nodeName": node}, status)
