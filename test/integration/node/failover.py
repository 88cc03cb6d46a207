"""What the controller and a disk with reservations do for automatic failover, written by the test instead."""

import hashlib

from kubernetes import client
from kubernetes.client.exceptions import ApiException

from ..placement import GROUP, OBJECTS, VERSION, disk_id
from .cloud_side import ANNOTATION_FENCE, CloudSide

REQUEST, PREEMPTED = f"{GROUP}/preempt-request", f"{GROUP}/preempted"
LABEL_NODE_LEASE = f"{GROUP}/node-lease"
KEY, OTHER_KEY = "0x0a0a0a0a00000001", "0x0a0a0a0a00000002"


class FailoverSide:
    """Of one node."""

    def __init__(self, api: client.ApiClient, cloud: CloudSide):
        self.cloud, self.node = cloud, cloud.node
        self.custom = client.CustomObjectsApi(api)
        self.leases = client.CoordinationV1Api(api)

    def clear(self) -> None:
        if self.lease():
            self.leases.delete_namespaced_lease(self.node, OBJECTS)

    def key(self, disk: str, member: int) -> str:
        """One of the volume's."""
        cluster = client.CoreV1Api(self.custom.api_client).read_namespace("kube-system").metadata.uid
        family = hashlib.sha256(f"{GROUP} {cluster} {disk_id(disk).lower()}".encode()).digest()[:4]
        return f"0x{int.from_bytes(family, 'little'):08x}{member:08x}"

    def want(self, disk: str, wish: str = "true") -> None:
        """As the StorageClass has it."""
        body = {"spec": {"volume_context": {"automaticFailover": wish}}}
        self.custom.patch_namespaced_custom_object(GROUP, VERSION, OBJECTS, "azvolumeattachments", self._name(disk), body)

    def note(self, disk: str, **notes: str | None) -> None:
        """note(disk, fence=..., request=...): what is in its status.annotation; None takes it away."""
        names = {"fence": ANNOTATION_FENCE, "request": REQUEST, "preempted": PREEMPTED}
        body = {"status": {"annotation": {names[name]: text for name, text in notes.items()}}}
        self.custom.patch_namespaced_custom_object_status(
            GROUP, VERSION, OBJECTS, "azvolumeattachments", self._name(disk), body)

    def preempted(self, disk: str) -> str | None:
        found = self.custom.get_namespaced_custom_object(
            GROUP, VERSION, OBJECTS, "azvolumeattachments", self._name(disk))
        return found["status"].get("annotation", {}).get(PREEMPTED)

    def lease(self):
        """The node's Lease; None if there is none."""
        try:
            return self.leases.read_namespaced_lease(self.node, OBJECTS)
        except ApiException as failure:
            if failure.status == 404:
                return None
            raise

    def holder(self) -> str | None:
        lease = self.lease()
        return lease and lease.spec.holder_identity

    def _name(self, disk: str) -> str:
        return f"{disk}-{self.node}-attachment"
