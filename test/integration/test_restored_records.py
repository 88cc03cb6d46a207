"""AzVolumes that Velero restores come without their status. None of them is a request for a disk."""

from azsim import simulator
from cluster.waiting import until

from .calls import create
from .kubernetes_side import forget, persistent_volume

RESTORED = {"velero.io/backup-name": "all", "velero.io/restore-name": "all-monday"}


def restore(world, controller) -> int:
    """The record of pvc-1 as Velero makes it again, while no controller looks; the last call before."""
    record = world.find("azvolumes", "pvc-1")
    controller.end()
    forget(world, "azvolumes")
    before = world.last_call()
    labels = record["metadata"].get("labels", {}) | RESTORED
    world.create("azvolumes", {"metadata": {"name": "pvc-1", "labels": labels}, "spec": record["spec"]})
    controller.start()
    return before


def status(world) -> dict:
    return world.find("azvolumes", "pvc-1").get("status", {})


def test_no_disk_is_created_for_it(world, controller):
    """It can be deleted, and nothing goes with it; CreateVolume may still ask for a volume of its name."""
    volume = create(controller).volume_id
    before = restore(world, controller)
    until(lambda: status(world).get("state") == "CreationFailed", "refused")
    error = status(world)["error"]
    assert error["code"] == "FAILED_PRECONDITION"
    for words in ("all-monday", "kubectl delete azvolume pvc-1", "docs/gitops.md"):
        assert words in error["message"]
    world.delete("azvolumes", "pvc-1")
    until(lambda: not world.find("azvolumes", "pvc-1"), "deleted")
    assert not world.calls("disks.createOrUpdate", before)
    assert not world.calls("disks.delete", before)
    assert create(controller).volume_id == volume == simulator.disk_id("pvc-1")


def test_create_volume_still_creates_it(world, controller):
    create(controller)
    restore(world, controller)
    until(lambda: status(world).get("state") == "CreationFailed", "refused")
    create(controller)
    assert status(world)["state"] == "Created"


def test_the_disk_of_its_persistent_volume_is_recorded(world, controller):
    volume = create(controller)
    with persistent_volume(world, volume.volume_id, dict(volume.volume_context)):
        before = restore(world, controller)
        until(lambda: status(world).get("state") == "Created", "its disk is on record")
        assert status(world)["detail"]["volume_id"] == volume.volume_id
        assert not world.calls("disks.createOrUpdate", before)
