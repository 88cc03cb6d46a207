"""The node's side of automatic failover (docs/failover.md), as far as it is written to the API server: a node plug-in that
can fall silent and come back. Disks are Azure's model here, which has no reservations; test/guest has them."""

import datetime
import uuid

from cluster.waiting import until
from kubernetes import client

from .driver_world import GROUP, World

FENCE, REQUEST, ANSWER = (f"{GROUP}/{note}" for note in ("fence", "preempt-request", "preempted"))
TAINT = "node.kubernetes.io/out-of-service"
MOVED = f"{GROUP}/failed-over"  # the taint of a node that is not given up, but from which pods were moved
KUBELET = "kube-node-lease"


def now(seconds: float = 0) -> str:
    """As a MicroTime, so much later."""
    moment = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=seconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class SilentNode:
    """A node whose plug-in has renewed its Lease once, and holds the fences of its volumes."""

    def __init__(self, world: World, letter: str):
        self.world, self.name = world, f"{world.prefix}{letter}"
        self.leases = client.CoordinationV1Api(world.client)
        self.boot_id = "not-booted-here"

    # ---- the machine ----

    def boot(self) -> str:
        self.reports_its_boot()
        self.kubelet_renews(now())
        return self.boot_id

    def reports_its_boot(self) -> None:
        """To its Node, which kubelet writes before its Lease."""
        self.boot_id = str(uuid.uuid4())
        words = ("architecture", "containerRuntimeVersion", "kernelVersion", "kubeProxyVersion", "kubeletVersion",
                 "machineID", "operatingSystem", "osImage", "systemUUID")
        info = {word: "x" for word in words} | {"bootID": self.boot_id}
        self.world.core.patch_node_status(self.name, {"status": {"nodeInfo": info}})

    def kubelet_renews(self, moment: str) -> None:
        """Its own Lease."""
        self._write(KUBELET, {"holderIdentity": self.name, "leaseDurationSeconds": 40, "renewTime": moment})

    def taint(self, key: str = TAINT) -> str | None:
        """Its value; also None if there is no Node."""
        nodes = self.world.core.list_node(field_selector=f"metadata.name={self.name}").items
        found = [taint.value for node in nodes for taint in node.spec.taints or [] if taint.key == key]
        return found[0] if found else None

    def has_in_use(self, *volumes: str) -> None:
        """By kubelet's word; `DRIVER^HANDLE`."""
        names = [f"kubernetes.io/csi/{volume}" for volume in volumes]
        self.world.core.patch_node_status(self.name, {"status": {"volumesInUse": names}})

    def in_use(self) -> list[str]:
        names = self.world.core.read_node(self.name).status.volumes_in_use or []
        return [name.removeprefix("kubernetes.io/csi/") for name in names]

    def is_there(self) -> bool:
        """Its Node."""
        return bool(self.world.core.list_node(field_selector=f"metadata.name={self.name}").items)

    def restarts_its_kubelet(self) -> None:
        """Which finds a Node of its name, and registers with it."""
        annotation = {"volumes.kubernetes.io/controller-managed-attach-detach": "true"}
        self.world.core.patch_node_status(self.name, {"metadata": {"annotations": annotation}})

    # ---- the plug-in ----

    def renews(self, seconds: float = 0) -> str:
        """The time of it, in the words of the Lease; `seconds` from now."""
        moment = now(seconds)
        self._write(self.world.namespace, {"holderIdentity": self.boot_id, "leaseDurationSeconds": 2, "renewTime": moment})
        return moment

    def gives_up_its_lease(self) -> None:
        self._write(self.world.namespace, {"holderIdentity": "", "leaseDurationSeconds": 1, "renewTime": now()})

    def fences(self, volume: str, key: str) -> None:
        self.note(volume, FENCE, f"held {key}")

    def attachment(self, volume: str) -> dict:
        [found] = [item for item in self.world.objects("azvolumeattachments")
                   if (item["spec"]["volumeName"], item["spec"]["nodeName"]) == (volume, self.name)]
        return found

    def note(self, volume: str, note: str, text: str | None) -> None:
        self.world.patch("azvolumeattachments", self.attachment(volume)["metadata"]["name"],
                         {"status": {"annotation": {note: text}}}, status=True)

    def request(self, volume: str) -> str | None:
        """What it is asked to preempt."""
        return self._notes(volume).get(REQUEST)

    def is_asked_anew(self, volume: str) -> bool:
        """What it has answered may stay for a while."""
        notes = self._notes(volume)
        return notes.get(REQUEST) not in (None, notes.get(ANSWER))

    def _notes(self, volume: str) -> dict[str, str]:
        return self.attachment(volume)["status"].get("annotation", {})

    def answers(self, volume: str) -> None:
        """Its disk has confirmed it."""
        self.fences(volume, "0x1234567800000000")
        self.note(volume, ANSWER, until(lambda: self.request(volume), "a request"))

    def _write(self, namespace: str, spec: dict) -> None:
        labels = {f"{GROUP}/node-lease": "true"}
        body = {"metadata": {"name": self.name, "labels": labels if namespace == self.world.namespace else {}}, "spec": spec}
        try:
            self.leases.patch_namespaced_lease(self.name, namespace, body)
        except client.ApiException as error:
            if error.status != 404:
                raise
            self.leases.create_namespaced_lease(namespace, body)
