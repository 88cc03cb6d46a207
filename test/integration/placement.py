"""What placement is decided from, as objects of a real API server: nodes, claims, volumes,
attachments, plug-ins, and the pods that ask. There is no kubelet and no controller; tests write the
objects as those would have left them."""

from datetime import UTC, datetime, timedelta

from kubernetes import client
from kubernetes.client.exceptions import ApiException

from . import custom_resources

GROUP, VERSION = "disk.csi.azure.com", "v1beta2"
DRIVER = "disk.csi.azure.com"
OBJECTS = "azure-disk-csi"  # namespace of the custom resources
PLURALS = {"AzVolumeAttachment": "azvolumeattachments", "AzDriverNode": "azdrivernodes"}


def disk_id(name: str) -> str:
    group = "/subscriptions/0b1f6471-1bf0-4dda-aec3-cb9272f09590/resourceGroups/rg"
    return f"{group}/providers/Microsoft.Compute/disks/{name}"


def time_text(ago: float = 0) -> str:
    moment = datetime.now(UTC) - timedelta(seconds=ago)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


class Placement:
    """The objects; every method makes one, or changes one that is there."""

    def __init__(self, api: client.ApiClient):
        self.api = api
        self.core = client.CoreV1Api(api)
        self.custom = client.CustomObjectsApi(api)

    def install(self) -> None:
        """CRDs and the namespace of their objects, and nothing else of what this class makes."""
        custom_resources.install(self.api)
        _if_new(self.core.create_namespace, {"metadata": {"name": OBJECTS}})
        self.clear()

    def claim(self, name: str, volume: str | None, mode: str = "ReadWriteOnce") -> None:
        """Bound to the volume; None: not yet bound to any."""
        metadata = {"name": name, "annotations": {"pv.kubernetes.io/bind-completed": "yes"}}
        spec = {
            "accessModes": [mode],
            "storageClassName": "",
            "resources": {"requests": {"storage": "1Gi"}},
        }
        if volume:
            spec["volumeName"] = volume
        self.core.create_namespaced_persistent_volume_claim(
            "default", {"metadata": metadata, "spec": spec}
        )
        if volume:
            status = {"status": {"phase": "Bound", "accessModes": [mode]}}
            self.core.patch_namespaced_persistent_volume_claim_status(name, "default", status)

    def volume(self, name: str, disk: str, claim: str, driver: str = DRIVER) -> None:
        source = {"driver": driver, "volumeHandle": disk_id(disk)}
        reference = {"kind": "PersistentVolumeClaim", "namespace": "default", "name": claim}
        spec = {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "1Gi"},
            "claimRef": reference,
            "csi": source,
            "persistentVolumeReclaimPolicy": "Retain",
        }
        self.core.create_persistent_volume({"metadata": {"name": name}, "spec": spec})

    def bound(self, name: str, mode: str = "ReadWriteOnce") -> None:
        """A claim, its volume and its disk, all of the same name."""
        self.volume(name, name, name)
        self.claim(name, name, mode)

    def attachment(self, disk: str, node: str, state: str, lun: int | None = 0) -> None:
        spec = {"volumeName": disk, "volume_id": disk_id(disk), "nodeName": node, "role": "Replica"}
        status = {"state": state}
        if lun is not None:
            status["detail"] = {"role": "Replica", "publish_context": {"LUN": str(lun)}}
        self._put("AzVolumeAttachment", f"{disk}-{node}-attachment", spec, status)

    def no_attachment(self, disk: str, node: str) -> None:
        self._remove("AzVolumeAttachment", f"{disk}-{node}-attachment")

    def plugin(self, node: str, ready: bool = True, silent: float = 0) -> None:
        """What the node's plug-in told, `silent` seconds ago."""
        status = {"lastHeartbeatTime": time_text(silent), "readyForVolumeAllocation": ready}
        self._put("AzDriverNode", node, {"nodeName": node}, status)

    def no_plugin(self, node: str) -> None:
        self._remove("AzDriverNode", node)

    def _put(self, kind: str, name: str, spec: dict, status: dict) -> None:
        place = (GROUP, VERSION, OBJECTS, PLURALS[kind])
        body = {
            "apiVersion": f"{GROUP}/{VERSION}",
            "kind": kind,
            "metadata": {"name": name, "namespace": OBJECTS},
            "spec": spec,
        }
        _if_new(self.custom.create_namespaced_custom_object, *place, body)
        self.custom.patch_namespaced_custom_object_status(*place, name, {"status": status})

    def _remove(self, kind: str, name: str) -> None:
        self.custom.delete_namespaced_custom_object(GROUP, VERSION, OBJECTS, PLURALS[kind], name)

    def node(self, name: str) -> None:
        """Ready, with room for a hundred pods."""
        room = {"cpu": "16", "memory": "64Gi", "pods": "110"}
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": ""}
        status = {"capacity": room, "allocatable": room, "conditions": [ready]}
        self.core.create_node({"metadata": {"name": name}, "status": status})
        # Admission has given it a taint that a controller takes away once the node is ready.
        self.core.patch_node(name, {"spec": {"taints": None}})

    def pod(self, name: str, claims: list[str], scheduler: str) -> None:
        self.core.create_namespaced_pod("default", pod(name, claims, scheduler))

    def node_of(self, name: str) -> str | None:
        """Where the scheduler has put a pod."""
        return self.core.read_namespaced_pod(name, "default").spec.node_name

    def clear(self) -> None:
        """All of it is gone when this returns."""
        self.core.delete_collection_namespaced_pod("default", grace_period_seconds=0)
        self.core.delete_collection_namespaced_persistent_volume_claim("default")
        self.core.delete_collection_persistent_volume()
        self.core.delete_collection_node()
        for plural in PLURALS.values():
            self.custom.delete_collection_namespaced_custom_object(GROUP, VERSION, OBJECTS, plural)
        self._release_protected()

    def _release_protected(self) -> None:
        """Claims and volumes carry finalizers of a controller that does not run here."""
        free = {"metadata": {"finalizers": None}}
        for claim in self.core.list_namespaced_persistent_volume_claim("default").items:
            self.core.patch_namespaced_persistent_volume_claim(claim.metadata.name, "default", free)
        for volume in self.core.list_persistent_volume().items:
            self.core.patch_persistent_volume(volume.metadata.name, free)


def pod(name: str, claims: list[str], scheduler: str = "default-scheduler") -> dict:
    volumes = [
        {"name": f"v{i}", "persistentVolumeClaim": {"claimName": claim}}
        for i, claim in enumerate(claims)
    ]
    container = {"name": "main", "image": "main", "resources": {"requests": {"cpu": "100m"}}}
    spec = {"containers": [container], "volumes": volumes, "schedulerName": scheduler}
    return {"metadata": {"name": name, "namespace": "default"}, "spec": spec}


def _if_new(create, *arguments) -> None:
    try:
        create(*arguments)
    except ApiException as failure:
        if failure.reason != "Conflict":
            raise
