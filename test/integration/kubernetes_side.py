"""What Kubernetes knows of a volume: the objects that its own controllers, and the sidecars, would write."""

from collections.abc import Iterator
from contextlib import contextmanager

from kubernetes import client

from .driver_world import World

NO_FINALIZERS = {"metadata": {"finalizers": None}}


@contextmanager
def persistent_volume(world: World, volume_id: str, attributes: dict[str, str], provisioned: bool = True,
                      name: str = "", mode: str = "ReadWriteOnce", phase: str = "Bound",
                      read_only: bool = False) -> Iterator[str]:
    """A PersistentVolume, made for a claim or by hand; its name, which has the disk's in it if not this one."""
    name = f"{world.namespace}-{name or volume_id.rpartition('/')[2].lower().replace('_', '-')}"
    annotations = {"pv.kubernetes.io/provisioned-by": world.driver} if provisioned else {}
    world.core.create_persistent_volume({
        "metadata": {"name": name, "annotations": annotations},
        "spec": {"capacity": {"storage": "4Gi"}, "accessModes": [mode], "storageClassName": "x",
                 "volumeMode": "Block" if mode == "ReadWriteMany" else "Filesystem",
                 "claimRef": {"namespace": world.namespace, "name": "claim"},
                 "csi": {"driver": world.driver, "volumeHandle": volume_id, "volumeAttributes": attributes,
                         "readOnly": read_only}}})
    world.core.patch_persistent_volume_status(name, {"status": {"phase": phase}})
    try:
        yield name
    finally:
        remove(world, name)


def remove(world: World, pv: str) -> None:
    """The PersistentVolume, if it is there, at once."""
    def is_there() -> bool:
        return pv in [item.metadata.name for item in world.core.list_persistent_volume().items]

    if is_there():
        world.core.delete_persistent_volume(pv)
    if is_there():
        world.core.patch_persistent_volume(pv, NO_FINALIZERS)


@contextmanager
def volume_attachment(world: World, pv: str, node: str, attached: bool = True) -> Iterator[str]:
    """A VolumeAttachment that the attacher has answered: attached; or has not yet."""
    storage, name = client.StorageV1Api(world.client), f"{pv}-{node}"
    storage.create_volume_attachment({
        "metadata": {"name": name, "finalizers": [f"external-attacher/{world.driver.replace('.', '-')}"]},
        "spec": {"attacher": world.driver, "nodeName": node, "source": {"persistentVolumeName": pv}}})
    storage.patch_volume_attachment_status(name, {"status": {"attached": attached}})
    try:
        yield name
    finally:
        unpublished(world, name)


def unpublished(world: World, name: str) -> None:
    """It is gone, if it was there: the attacher has had its answer."""
    storage = client.StorageV1Api(world.client)

    def is_there() -> bool:
        return name in [item.metadata.name for item in storage.list_volume_attachment().items]

    if is_there():
        unpublishing(world, name)
    if is_there():
        storage.patch_volume_attachment(name, NO_FINALIZERS)


def unpublishing(world: World, name: str) -> None:
    """It is deleted, and stays until the attacher has unpublished the volume."""
    client.StorageV1Api(world.client).delete_volume_attachment(name)


def forget(world: World, plural: str) -> None:
    """Every custom resource of a kind goes at once, whatever its finalizers."""
    for item in world.objects(plural):
        world.delete(plural, item["metadata"]["name"])
        try:
            world.patch(plural, item["metadata"]["name"], NO_FINALIZERS)
        except client.ApiException as error:  # the controller has let it go already
            if error.status != 404:
                raise
