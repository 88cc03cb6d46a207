"""The real csi-provisioner, started as the chart starts it, and what it acts on: a StorageClass, and claims of it, as
Kubernetes' own controller hands them to it.

It asks for topology, so it wants to know the nodes as Attacher.running() writes them down."""

from collections.abc import Iterator
from contextlib import contextmanager

from kubernetes import client

from .driver_world import GROUP, Controller, World
from .kubernetes_side import remove
from .sidecars import Sidecars, arguments, each

NAME = "csi-provisioner"


class Provisioner:
    def __init__(self, world: World, controller: Controller):
        self.world, self.controller = world, controller
        self.storage = client.StorageV1Api(world.client)

    @contextmanager
    def running(self) -> Iterator["Provisioner"]:
        words = arguments(NAME, self.world, self.controller)
        with Sidecars(self.world.folder, {NAME: words}) as self.sidecars:
            yield self
        each(lambda pv: remove(self.world, pv.metadata.name), self._volumes())

    @contextmanager
    def storage_class(self, parameters: dict[str, str]) -> Iterator[str]:
        name = f"{self.world.namespace}-class"
        self.storage.create_storage_class({"metadata": {"name": name}, "provisioner": GROUP, "parameters": parameters})
        yield name
        self.storage.delete_storage_class(name)

    def claim(self, storage_class: str, names: list[str]) -> None:
        def one(name: str) -> None:
            self.world.core.create_namespaced_persistent_volume_claim(self.world.namespace, {
                "metadata": {"name": name, "annotations": {"volume.kubernetes.io/storage-provisioner": GROUP}},
                "spec": {"storageClassName": storage_class, "accessModes": ["ReadWriteOnce"],
                         "resources": {"requests": {"storage": "4Gi"}}}})

        with self.sidecars.unaware(NAME):
            each(one, names)

    def made(self, count: int) -> bool:
        """There are so many PersistentVolumes of claims."""
        return len(self._volumes()) == count

    def bind(self) -> list[str]:
        """The handles of all volumes, as bound as Kubernetes' own controller makes them."""
        volumes = self._volumes()
        each(lambda pv: self.world.core.patch_persistent_volume_status(pv.metadata.name, {"status": {"phase": "Bound"}}),
             volumes)
        return sorted(pv.spec.csi.volume_handle for pv in volumes)

    def _volumes(self) -> list[client.V1PersistentVolume]:
        return [pv for pv in self.world.core.list_persistent_volume().items
                if pv.spec.claim_ref and pv.spec.claim_ref.namespace == self.world.namespace]
