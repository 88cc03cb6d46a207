"""Data that Azure copies in the background, to disks and to snapshots of them: what waits for it, what is said meanwhile,
and that all goes on by itself."""

import re

import grpc
import pytest
from azsim import simulator
from cluster.waiting import until

from .calls import GIB, create, publish, refused
from .driver_world import Controller, World
from .test_copies import from_snapshot, from_volume
from .test_growth import begin, expand, size_of
from .test_snapshots import snap

FAST = {"attach": "50ms", "detach": "50ms", "create": "10ms", "delete": "50ms", "snapshot": "50ms", "update": "50ms",
        "copy": "10ms"}
ALONE = {"skuName": "PremiumV2_LRS"}
SHARED = {"skuName": "PremiumV2_LRS", "maxShares": "3"}
SOON = "20s"  # longer than the driver waits between two looks
NEVER = "10h"


@pytest.fixture
def world(tmp_path, apiserver):
    with World(tmp_path, apiserver, **FAST) as world:
        yield world


def copies_take(world, time: str) -> None:
    """Those that begin from now on."""
    world.azure.control("PATCH", "latency", {"copy": time})


def percent(world, name: str) -> int:
    return world.find("azvolumes", name)["status"].get("completionPercent", 100)


def events(world, reason: str) -> list:
    return [e for e in world.core.list_namespaced_event(world.namespace).items if e.reason == reason]


def clone(world, controller, time: str, parameters=ALONE) -> str:
    """Of pvc-1: pvc-2, to which data is copied."""
    source = create(controller, parameters=parameters).volume_id
    copies_take(world, time)
    return create(controller, "pvc-2", parameters, **from_volume(source)).volume_id


def pending(world, controller, volume: str, time: str, name="snapshot-1", **parameters: str) -> None:
    copies_take(world, time)
    snap(controller, volume, name, parameters)


def test_replicas_come_when_the_data_is_there(world, controller):
    source = create(controller, parameters=SHARED).volume_id
    snapshot = snap(controller, source, parameters={}).snapshot_id
    until(lambda: snap(controller, source, parameters={}).ready_to_use, "the snapshot is complete", 30)
    copies_take(world, SOON)
    before = world.last_call()
    restored = create(controller, "pvc-2", SHARED, **from_snapshot(snapshot)).volume_id
    assert percent(world, "pvc-2") < 100
    publish(controller, restored, world.nodes[0])
    until(lambda: world.roles("pvc-2") == {"a": "Primary Attached"}, "the primary is attached at once", 10)
    until(lambda: events(world, "ReplicasWaitForCopy"), "an event")
    assert percent(world, "pvc-2") < 100 and len(world.roles("pvc-2")) == 1
    until(lambda: sorted(world.roles("pvc-2").values()) == ["Primary Attached"] + 2 * ["Replica Attached"],
          "the replicas come by themselves", 60)
    assert percent(world, "pvc-2") == 100
    [event] = events(world, "ReplicasWaitForCopy")
    assert event.involved_object.name == "pvc-2" and event.count in (None, 1)
    assert re.search(r"pvc-2, and \d+ % is done.* 2 replicas", event.message)
    assert len(world.calls("disks.listByResourceGroup", before)) <= 3
    assert len(world.calls("disks.get", before)) <= 2, "of the creation"


def test_a_disk_grows_when_its_data_is_there(world, controller):
    volume = clone(world, controller, SOON)
    before = world.last_call()
    with refused("FAILED_PRECONDITION", "still copying data to its disk", " % is done"):
        expand(controller, volume, 10 * GIB)
    assert not world.calls("disks.update", before)
    until(lambda: size_of(world, "pvc-2") == 10, "it grows, though nobody asks again", 60)
    assert expand(controller, volume, 10 * GIB) == 10 * GIB
    assert "completionPercent" not in world.find("azvolumes", "pvc-2")["status"]
    assert all(call["status"] < 300 for call in world.azure.journal(before) if call.get("kind") == "disks.update")


def test_how_far_it_is_is_on_record(world, controller):
    """With one list for all, and whatever else there is to be looked at."""
    source = create(controller, parameters=ALONE).volume_id
    create(controller, "plain", {"skuName": "Premium_LRS"})
    copies_take(world, "80s")
    before = world.last_call()
    for i in range(3):
        create(controller, f"copy-{i}", ALONE, **from_volume(source))
    first = [percent(world, f"copy-{i}") for i in range(3)]
    until(lambda: all(percent(world, f"copy-{i}") > first[i] + 10 for i in range(3)), "it is followed", 40)
    assert [world.find("azvolumes", name)["status"].get("completionPercent") for name in ("pvc-1", "plain")] == [None, None]
    assert len(world.calls("disks.listByResourceGroup", before)) <= 2


def test_a_copy_that_is_not_on_record_is_found_before_azure_refuses(world, controller):
    """Of a volume that another version of the driver has made, or of a disk that somebody has converted."""
    volume = clone(world, controller, NEVER)
    world.patch("azvolumes", "pvc-2", {"status": {"completionPercent": None}}, status=True)
    before = world.last_call()
    with refused("FAILED_PRECONDITION", "still copying data to its disk"):
        expand(controller, volume, 10 * GIB)
    assert percent(world, "pvc-2") < 100
    assert not [call for call in world.azure.journal(before) if call.get("kind") == "disks.update"]


def test_the_next_leader_goes_on(world):
    first = Controller(world, "one").start()
    volume = clone(world, first, SOON, SHARED)
    publish(first, volume, world.nodes[0])
    first.kill()
    with Controller(world, "two"):
        until(lambda: len(world.roles("pvc-2")) == 3, "the replicas come", 60)
    assert percent(world, "pvc-2") == 100


def test_a_disk_grows_when_its_snapshots_are_complete(world, controller):
    """Azure would let them fail."""
    volume = create(controller, parameters=ALONE).volume_id
    pending(world, controller, volume, SOON)
    pending(world, controller, volume, SOON, "snapshot-2", instantAccessDurationMinutes="60")
    before = world.last_call()
    with refused("FAILED_PRECONDITION", "to snapshot snapshot-", "which would fail", " % is done"):
        expand(controller, volume, 10 * GIB)
    assert size_of(world) == 4 and not world.calls("disks.update", before)
    until(lambda: size_of(world) == 10, "it grows, though nobody asks again", 60)
    for name in ("snapshot-1", "snapshot-2"):
        status = world.find("azsnapshots", name)["status"]
        assert (status["completionPercent"], status["readyToUse"], status.get("error")) == (100, True, None)
    assert expand(controller, volume, 10 * GIB) == 10 * GIB


def test_a_snapshot_that_goes_is_not_waited_for(world, controller):
    volume = create(controller, parameters=ALONE).volume_id
    pending(world, controller, volume, NEVER)
    with refused("FAILED_PRECONDITION", "to snapshot snapshot-1"):
        expand(controller, volume, 10 * GIB)
    controller.csi.call("Controller/DeleteSnapshot", snapshot_id=volume.replace("/disks/pvc-1", "/snapshots/snapshot-1"))
    until(lambda: size_of(world) == 10, "it grows")


def test_a_snapshot_that_is_begun_while_a_growth_waits_for_its_turn(world, controller):
    world.azure.control("PATCH", "latency", {"attach": "5s"})
    volume = create(controller, parameters=ALONE).volume_id
    copies_take(world, SOON)
    publish(controller, volume, world.nodes[0])
    until(lambda: world.calls("virtualMachines.attachDetachDataDisks"), "the attach has begun")
    growth = begin(controller, volume, 10 * GIB)
    until(lambda: world.find("azvolumes", "pvc-1")["status"]["state"] == "Updating", "the growth is requested")
    snap(controller, volume, parameters={})
    with refused("FAILED_PRECONDITION", "to snapshot snapshot-1"):
        growth.result()
    until(lambda: size_of(world) == 10, "it grows later", 60)
    assert world.find("azsnapshots", "snapshot-1")["status"].get("error") is None
    assert world.find("azsnapshots", "snapshot-1")["status"]["completionPercent"] == 100


def test_the_disk_counts_and_not_its_record(world, controller, azure_sdk):
    """Somebody has converted it to a kind whose snapshots fail when it grows, and nobody has looked since."""
    volume = create(controller, parameters={"skuName": "Premium_LRS"}).volume_id
    azure_sdk.disks.begin_update(simulator.GROUP, "pvc-1", {"sku": {"name": "PremiumV2_LRS"}}, polling_interval=0.1).result()
    pending(world, controller, volume, SOON)
    before = world.last_call()
    growth = begin(controller, volume, 10 * GIB)
    until(lambda: world.calls("disks.get", before), "the disk is looked at")
    assert world.find("azsnapshots", "snapshot-1")["status"]["completionPercent"] < 100
    until(lambda: size_of(world) == 10, "it grows later", 60)
    if growth.exception():  # it takes as long as the caller's patience, or longer
        assert growth.code() in (grpc.StatusCode.ABORTED, grpc.StatusCode.DEADLINE_EXCEEDED)
    status = world.find("azsnapshots", "snapshot-1")["status"]
    assert (status["completionPercent"], status.get("error")) == (100, None)


def test_snapshots_of_other_kinds_are_complete_at_once(world, controller):
    volume = create(controller, parameters={"skuName": "Premium_LRS"}).volume_id
    pending(world, controller, volume, NEVER)
    assert expand(controller, volume, 10 * GIB) == 10 * GIB
