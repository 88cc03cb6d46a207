"""The real csi-attacher, started as the chart starts it, and what Kubernetes' attach-detach controller writes for
it: PersistentVolumes that are bound, and VolumeAttachments that come and go."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

from cluster.waiting import until
from kubernetes import client

from .driver_world import GROUP, Controller, World
from .kubernetes_side import remove
from .sidecars import Sidecars, arguments, each

NAME = "csi-attacher"


class Attacher:
    def __init__(self, world: World, controller: Controller):
        self.world, self.controller = world, controller
        self.storage = client.StorageV1Api(world.client)
        self.bound: list[str] = []  # PersistentVolumes

    @contextmanager
    def running(self, *flags: str) -> Iterator["Attacher"]:
        """It knows the nodes, as kubelets would have written them down."""
        for node in self.world.nodes:
            driver = {"name": GROUP, "nodeID": node, "topologyKeys": [f"topology.{GROUP}/zone"]}
            self.storage.create_csi_node({"metadata": {"name": node}, "spec": {"drivers": [driver]}})
        words = [*arguments(NAME, self.world, self.controller), *flags]
        with Sidecars(self.world.folder, {NAME: words}) as self.sidecars:
            yield self
        for node in self.world.nodes:
            self.storage.delete_csi_node(node)
        for volume in self.bound:
            remove(self.world, volume)

    def bind(self, volumes: list[str]) -> None:
        def one(volume: str) -> None:
            self.world.core.create_persistent_volume({
                "metadata": {"name": _name(volume), "annotations": {"pv.kubernetes.io/provisioned-by": GROUP}},
                "spec": {"capacity": {"storage": "4Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "x",
                         "claimRef": {"namespace": self.world.namespace, "name": _name(volume)},
                         "csi": {"driver": GROUP, "volumeHandle": volume}}})
            self.world.core.patch_persistent_volume_status(_name(volume), {"status": {"phase": "Bound"}})

        each(one, volumes)
        self.bound += map(_name, volumes)

    def attach(self, nodes: dict[str, str]) -> None:
        """Each volume to its node."""
        def one(placed: tuple[str, str]) -> None:
            volume, node = placed
            self._ask("POST", "", {
                "metadata": {"name": f"{_name(volume)}-{node}"},
                "spec": {"attacher": GROUP, "nodeName": node, "source": {"persistentVolumeName": _name(volume)}}})

        with self.sidecars.unaware(NAME):
            each(one, nodes.items())

    def detach(self) -> None:
        """All volumes from wherever they are."""
        with self.sidecars.unaware(NAME):
            each(lambda attachment: self._ask("DELETE", f"/{attachment['metadata']['name']}"), self._attachments())

    def _ask(self, method: str, name: str, body: dict | None = None) -> dict:
        """Of VolumeAttachments, without what the client library does with answers: that takes longer than all else."""
        path = f"{self.world.client.configuration.host}/apis/storage.k8s.io/v1/volumeattachments{name}"
        headers = {"Content-Type": "application/json"}
        answer = self.world.client.rest_client.pool_manager.request(
            method, path, body=json.dumps(body) if body else None, headers=headers)
        assert answer.status < 300, answer.data
        return json.loads(answer.data)

    def _attachments(self) -> list[dict]:
        return self._ask("GET", "")["items"]

    def move(self, nodes: dict[str, str]) -> None:
        """Each volume from wherever it is; it is attached again when its VolumeAttachment has gone."""
        old = {a["spec"]["source"]["persistentVolumeName"]: a["metadata"]["name"] for a in self._attachments()}
        by_name = {_name(volume): (volume, node) for volume, node in nodes.items()}
        self.detach()
        waiting = set(by_name)

        def some_went() -> bool:
            there = {a["metadata"]["name"] for a in self._attachments()}
            gone = {name for name in waiting if old[name] not in there}
            waiting.difference_update(gone)
            self.attach(dict(by_name[name] for name in gone))
            return not waiting

        until(some_went, "the VolumeAttachments go", 1500, interval=0.1)

    def told(self, count: int) -> bool:
        """Kubernetes knows of so many that they are attached, and of no others."""
        items = self._attachments()
        return len(items) == count and all(a.get("status", {}).get("attached") for a in items)


def _name(volume: str) -> str:
    return volume.rpartition("/")[2]
