"""Records of a backup of etcd that know less than Azure."""

from datetime import UTC, datetime

from cluster.waiting import until

from .calls import create, publish
from .driver_world import GROUP, Controller
from .test_snapshots import snap


def now() -> str:
    """When a record goes of which the last attempt had failed ten minutes ago."""
    return datetime.now(UTC).isoformat()


def told(world, reason: str) -> list[str]:
    return [e.message for e in world.core.list_namespaced_event(world.namespace).items if e.reason == reason]


def is_of_before(world, name: str, forget_after: str) -> None:
    """The record says what it said when the first attempt to make the disk had failed."""
    world.patch("azvolumes", name, {"status": {
        "state": "CreationFailed", "detail": None,
        "annotation": {f"{GROUP}/forget-after": forget_after, f"{GROUP}/disk-unique-id": None}}}, status=True)


def test_a_disk_that_was_made_later_stays(world, azure_sdk):
    with Controller(world, "first") as controller:
        create(controller)
    is_of_before(world, "pvc-1", now())
    with Controller(world, "second") as controller:
        until(lambda: not world.objects("azvolumes"), "the failed creation is forgotten")
        until(lambda: told(world, "DiskLeft"), "an event says so")
        assert "it was made later" in told(world, "DiskLeft")[0]
        disk = azure_sdk.disks.get("rg", "pvc-1")
        create(controller)
        assert azure_sdk.disks.get("rg", "pvc-1").unique_id == disk.unique_id, "its claim gets it back"


def test_a_disk_that_a_vm_has_stays(world, azure_sdk):
    with Controller(world, "first") as controller:
        publish(controller, create(controller).volume_id, world.nodes[0])
        until(lambda: len(world.attached("pvc-1")) == 3, "it is attached everywhere")
    for attachment in world.objects("azvolumeattachments"):
        world.patch("azvolumeattachments", attachment["metadata"]["name"], {"metadata": {"finalizers": None}})
        world.delete("azvolumeattachments", attachment["metadata"]["name"])
    is_of_before(world, "pvc-1", now())
    with Controller(world, "second"):
        until(lambda: not world.objects("azvolumes"), "the failed creation is forgotten")
        until(lambda: told(world, "DiskLeft"), "an event says so")
        assert len(world.attached("pvc-1")) == 3
        assert "a VM has it" in told(world, "DiskLeft")[0]


def test_a_snapshot_that_was_made_later_stays(world, azure_sdk):
    with Controller(world, "first") as controller:
        snap(controller, create(controller).volume_id)
    world.patch("azsnapshots", "snapshot-1", {"status": {
        "state": "CreationFailed", "snapshotId": None, "annotation": {f"{GROUP}/forget-after": now()}}}, status=True)
    with Controller(world, "second"):
        until(lambda: not world.objects("azsnapshots"), "the failed creation is forgotten")
        assert azure_sdk.snapshots.get("rg", "snapshot-1")
