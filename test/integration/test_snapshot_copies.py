"""Snapshots in another region than their disk: a local one is taken, copied and deleted, whoever dies in between."""

import threading

import pytest
from azsim import simulator
from cluster.waiting import until

from . import custom_resources
from .calls import create, refused
from .driver_world import Controller, World
from .test_snapshots import by_hand, drop, listed, names, snap, snap_all

FAST = {"attach": "50ms", "detach": "50ms", "create": "10ms", "delete": "50ms", "snapshot": "50ms", "copy": "2s"}
ELSEWHERE = {"location": "West Europe"}
LOCAL = "snapshot-1.local"


@pytest.fixture
def world(tmp_path, apiserver):
    with World(tmp_path, apiserver, **FAST) as world:
        yield world


def status(world, name="snapshot-1") -> dict:
    return (world.find("azsnapshots", name) or {}).get("status", {})


def is_ready(world, name="snapshot-1") -> bool:
    return status(world, name).get("readyToUse", False)


def puts(world, name: str) -> int:
    return sum(e["resource"] == name for e in world.calls("snapshots.createOrUpdate"))


def forbid(world, call: str, name: str) -> int:
    """The rule, by which Azure is not available for that."""
    return world.azure.fault("refuse", code="ServiceUnavailable", kind=f"snapshots.{call}", resource=name)


def test_the_life_of_a_copy(world, controller, azure_sdk):
    world.azure.control("PATCH", "latency", {"copy": "8s"})
    volume = create(controller).volume_id
    first = snap(controller, volume, parameters={**ELSEWHERE, "tags": "team=db"})
    assert not first.ready_to_use
    assert first.snapshot_id == volume.replace("/disks/pvc-1", "/snapshots/snapshot-1")
    assert (first.source_volume_id, first.size_bytes) == (volume, 4 << 30)
    assert names(azure_sdk) == {"snapshot-1", LOCAL}
    local, copy = azure_sdk.snapshots.get(simulator.GROUP, LOCAL), azure_sdk.snapshots.get(simulator.GROUP, "snapshot-1")
    assert first.creation_time.seconds == int(local.time_created.timestamp())
    assert (local.location, copy.location) == ("eastus", "westeurope")
    assert local.tags == {"team": "db", **world.own_mark()}
    assert copy.tags.items() > local.tags.items()
    assert copy.tags["k8s-azure-copy-of-disk"] == volume
    assert (copy.creation_data.create_option, copy.creation_data.source_resource_id) == ("CopyStart", local.id)
    before = world.last_call()
    assert snap(controller, volume, parameters=ELSEWHERE) == first
    assert not world.azure.journal(before), "all is on record"

    until(lambda: is_ready(world), "it is copied", 60)
    until(lambda: names(azure_sdk) == {"snapshot-1"}, "the local one goes")
    last = snap(controller, volume, parameters=ELSEWHERE)
    assert last.ready_to_use
    last.ready_to_use = False
    assert last == first, "nothing else changes"
    assert not world.calls("snapshots.get", before)
    assert status(world)["location"] == "westeurope"
    until(lambda: "snapshotId" not in status(world)["local"], "that is on record")
    drop(controller, first.snapshot_id)
    assert names(azure_sdk) == set()
    assert world.objects("azsnapshots") == []


def test_the_disks_own_region_has_two_names(world, controller, azure_sdk):
    volume = create(controller).volume_id
    assert snap(controller, volume, parameters={"location": "East US", "incremental": "false"}).ready_to_use
    assert names(azure_sdk) == {"snapshot-1"}
    assert "local" not in status(world)


def test_what_is_refused(world, controller, azure_sdk):
    volume, other = create(controller).volume_id, create(controller, "pvc-2").volume_id
    with refused("INVALID_ARGUMENT", "parameter incremental", "eastus", "westeurope"):
        snap(controller, volume, parameters={**ELSEWHERE, "incremental": "false"})
    with refused("INVALID_ARGUMENT", "west-europe"):
        snap(controller, volume, parameters={"location": "west-europe"})
    with refused("INVALID_ARGUMENT", "mars"):
        snap(controller, volume, parameters={"location": "mars"})
    until(lambda: not status(world).get("local"), "there is no local one")
    assert names(azure_sdk) == set(), "nothing is left of what cannot be"
    snap(controller, volume, parameters=ELSEWHERE)
    with refused("ALREADY_EXISTS", volume, other):
        snap(controller, other, parameters=ELSEWHERE)
    assert puts(world, LOCAL) == 2, "of mars and of West Europe"


def test_what_others_have_made(world, controller, azure_sdk):
    """The one of the name, and what has the name of the local one."""
    volume = create(controller).volume_id
    by_hand(azure_sdk, "snapshot-1", volume)
    with refused("ALREADY_EXISTS", "did not create it"):
        snap(controller, volume, parameters=ELSEWHERE)
    assert puts(world, LOCAL) == 0
    by_hand(azure_sdk, "snapshot-2.local", volume)
    with refused("ALREADY_EXISTS", "did not create it"):
        snap(controller, volume, "snapshot-2", ELSEWHERE)
    until(lambda: not status(world, "snapshot-2").get("local"), "it is not ours to delete")
    assert names(azure_sdk) == {"snapshot-1", "snapshot-2.local"}


def test_a_volume_cannot_be_restored_in_another_region(world, controller, azure_sdk):
    volume = create(controller).volume_id
    source = {"snapshot": {"snapshot_id": snap(controller, volume, parameters=ELSEWHERE).snapshot_id}}
    with refused("INVALID_ARGUMENT", "snapshot-1", "is in region westeurope", "the volume is to be in eastus"):
        create(controller, "pvc-2", volume_content_source=source)
    until(lambda: is_ready(world) and names(azure_sdk) == {"snapshot-1"}, "it is copied", 60)
    world.delete("azsnapshots", "snapshot-1")
    until(lambda: not world.find("azsnapshots", "snapshot-1"), "nothing is on record")
    with refused("INVALID_ARGUMENT", "is in region westeurope"):
        create(controller, "pvc-2", volume_content_source=source)
    assert not world.find("azvolumes", "pvc-2")
    there = create(controller, "pvc-2", {"skuName": "Premium_LRS", "location": "West Europe"},
                   volume_content_source=source)
    assert azure_sdk.disks.get(simulator.GROUP, "pvc-2").location == "westeurope"
    assert there.content_source.snapshot.snapshot_id == source["snapshot"]["snapshot_id"]


def test_data_that_azure_copies_before_it_can_be_copied(world, controller, azure_sdk):
    """Of a PremiumV2 disk: CreateSnapshot answers when it has its content, and one list tells of all."""
    volumes = [create(controller, f"pvc-{i}", {"skuName": "PremiumV2_LRS"}).volume_id for i in range(3)]
    made = snap_all(controller, {f"snapshot-{i}": volume for i, volume in enumerate(volumes)}, **ELSEWHERE)
    assert names(azure_sdk) == {f"snapshot-{i}.local" for i in range(3)}
    assert not any(snapshot.ready_to_use for snapshot in made)
    before = world.last_call()
    until(lambda: all(is_ready(world, f"snapshot-{i}") for i in range(3)), "all are copied", 90)
    until(lambda: names(azure_sdk) == {f"snapshot-{i}" for i in range(3)}, "the local ones go")
    assert [snap(controller, volume, f"snapshot-{i}", ELSEWHERE).creation_time for i, volume in enumerate(volumes)] == [
        snapshot.creation_time for snapshot in made]
    assert len(world.calls("snapshots.listByResourceGroup", before)) <= 4


def test_copies_of_a_disk_take_turns(world, controller, azure_sdk):
    """Azure refuses a second one meanwhile, and one that is older than the last."""
    volume = create(controller).volume_id
    made = [snap(controller, volume, f"snapshot-{i}", ELSEWHERE) for i in range(3)]
    assert names(azure_sdk) == {"snapshot-0", *(f"snapshot-{i}.local" for i in range(3))}
    assert len({snapshot.snapshot_id for snapshot in made}) == 3
    drop(controller, made[1].snapshot_id)
    until(lambda: is_ready(world, "snapshot-2"), "the last one is copied", 90)
    until(lambda: names(azure_sdk) == {"snapshot-0", "snapshot-2"}, "the local ones go")
    refusals = [e for e in world.azure.journal() if e.get("kind") == "snapshots.createOrUpdate" and e["status"] >= 300]
    assert not refusals
    assert not puts(world, "snapshot-1")


def test_the_local_one_counts(world, controller):
    volume = create(controller).volume_id
    snap_all(controller, {f"snapshot-{i}": volume for i in range(4)})
    snap_all(controller, {f"copy-{i}": volume for i in range(3)}, **ELSEWHERE)
    with refused("ABORTED", "7 incremental snapshots", "the next one can be created at"):
        snap(controller, volume, "snapshot-7", {})
    assert puts(world, "snapshot-7") == 0


def test_a_copy_that_fails_is_said_and_leaves_no_local_one(world, controller, azure_sdk):
    world.azure.control("PATCH", "latency", {"copy": "1h"})
    volume = create(controller).volume_id
    snapshot = snap(controller, volume, parameters=ELSEWHERE).snapshot_id
    waiting = snap(controller, volume, "snapshot-2", ELSEWHERE)
    azure_sdk.snapshots.begin_delete(simulator.GROUP, LOCAL, polling_interval=0.1).result()
    world.azure.control("PATCH", "latency", {"copy": "1s"})
    until(lambda: status(world).get("error"), "it is known", 60)
    with refused("INTERNAL", "could not copy", "CopySourceNotFound"):
        snap(controller, volume, parameters=ELSEWHERE)
    until(lambda: "snapshotId" not in status(world)["local"], "nothing is left to delete")
    until(lambda: is_ready(world, "snapshot-2"), "the next one has its turn", 60)
    drop(controller, snapshot)
    drop(controller, waiting.snapshot_id)
    assert names(azure_sdk) == set()


@pytest.mark.parametrize("code", ["ServiceUnavailable", "InternalServerError", "AuthorizationFailed"])
def test_a_copy_that_cannot_be_begun_yet(world, controller, azure_sdk, code):
    """What was taken is not given up, nor is it said that nothing comes of it."""
    rule = world.azure.fault("refuse", code=code, kind="snapshots.createOrUpdate", resource="snapshot-1")
    volume = create(controller).volume_id
    first = snap(controller, volume, parameters=ELSEWHERE)
    assert not first.ready_to_use
    assert names(azure_sdk) == {LOCAL}
    assert snap(controller, volume, parameters=ELSEWHERE) == first
    world.azure.control("DELETE", f"faults/{rule}")
    until(lambda: is_ready(world), "it is begun", 60)
    drop(controller, first.snapshot_id)
    assert names(azure_sdk) == set()


def test_an_announced_copy_does_not_take_what_others_made_meanwhile(world, controller, azure_sdk):
    world.azure.control("PATCH", "latency", {"copy": "5s"})
    slow = create(controller, parameters={"skuName": "PremiumV2_LRS"}).volume_id
    other = create(controller, "pvc-2").volume_id
    snapshot = snap(controller, slow, parameters=ELSEWHERE).snapshot_id
    by_hand(azure_sdk, "snapshot-1", other)
    until(lambda: status(world).get("error"), "it is in the way", 60)
    with refused("ALREADY_EXISTS", "did not create it"):
        snap(controller, slow, parameters=ELSEWHERE)
    until(lambda: names(azure_sdk) == {"snapshot-1"}, "the local one goes")
    drop(controller, snapshot)
    assert names(azure_sdk) == {"snapshot-1"}


@pytest.mark.parametrize("copy", ["1h", "1s"])
def test_one_that_is_not_wanted_any_more_leaves_nothing(world, controller, azure_sdk, copy):
    """Before the copy is begun, and while Azure copies it."""
    sku = "PremiumV2_LRS" if copy == "1h" else "Premium_LRS"
    world.azure.control("PATCH", "latency", {"copy": "1h"})
    volume = create(controller, parameters={"skuName": sku}).volume_id
    snapshot = snap(controller, volume, parameters=ELSEWHERE).snapshot_id
    assert names(azure_sdk) == ({LOCAL} if copy == "1h" else {LOCAL, "snapshot-1"})
    drop(controller, snapshot)
    assert names(azure_sdk) == set()
    assert world.objects("azsnapshots") == []


def test_a_record_that_is_deleted_by_hand_goes_when_the_copy_is_complete(world, controller, azure_sdk):
    volume = create(controller).volume_id
    first = snap(controller, volume, parameters=ELSEWHERE)
    world.delete("azsnapshots", "snapshot-1")
    with refused("ABORTED", "is being deleted"):
        snap(controller, volume, parameters=ELSEWHERE)
    until(lambda: not world.find("azsnapshots", "snapshot-1"), "the record goes", 60)
    assert names(azure_sdk) == {"snapshot-1"}
    assert listed(controller, snapshot_id=first.snapshot_id, source_volume_id=volume) == ["snapshot-1"]
    found = snap(controller, volume, parameters=ELSEWHERE)
    assert found.ready_to_use
    assert (found.snapshot_id, found.creation_time) == (first.snapshot_id, first.creation_time), "it is found again"
    until(lambda: "snapshotId" not in status(world)["local"], "there is no local one")
    assert puts(world, LOCAL) == puts(world, "snapshot-1") == 1
    drop(controller, found.snapshot_id)
    assert names(azure_sdk) == set()


def test_an_older_definition_is_said(world, controller, azure_sdk):
    """Without status.local, nobody would know of the local one."""
    volume = create(controller).volume_id
    world.create("azsnapshots", {"metadata": {"name": "probe"}, "spec": {"snapshotName": "probe", "sourceVolumeId": "x"}})

    def is_kept() -> bool:
        world.patch("azsnapshots", "probe", {"status": {"state": "Pending", "local": {"snapshotId": "x"}}}, status=True)
        return "local" in status(world, "probe")

    with custom_resources.older(world.client, "azsnapshots", "local", is_kept, part="status"):
        with refused("FAILED_PRECONDITION", "does not keep status.local", "kubectl apply -f crds/"):
            snap(controller, volume, parameters=ELSEWHERE)
        assert names(azure_sdk) == set()
        assert snap(controller, volume, "snapshot-2", {}).ready_to_use


# ---- the leader dies ----


def begin(controller, volume: str) -> None:
    """In the background: whoever answers will be gone."""
    threading.Thread(target=answer, args=(controller, volume)).start()


@pytest.fixture
def leader(world):
    with Controller(world, "one") as first:
        until(first.leads, "it leads")
        yield first
        first.start()  # whoever made it ends it


def test_it_dies_while_the_local_one_is_taken(world, leader, azure_sdk):
    volume = create(leader).volume_id
    world.azure.control("PATCH", "latency", {"snapshot": "2s"})
    begin(leader, volume)
    until(lambda: puts(world, LOCAL), "it has begun")
    leader.kill()
    finish(world, azure_sdk, volume)


def test_it_dies_before_the_copy_is_begun(world, leader, azure_sdk):
    volume = create(leader).volume_id
    rule = forbid(world, "createOrUpdate", "snapshot-1")
    begin(leader, volume)
    until(lambda: "creationTime" in (status(world).get("local") or {}), "the local one is taken")
    leader.kill()
    world.azure.control("DELETE", f"faults/{rule}")
    finish(world, azure_sdk, volume)


def test_it_dies_while_the_copy_is_begun(world, leader, azure_sdk):
    volume = create(leader).volume_id
    rule = forbid(world, "createOrUpdate", "snapshot-1")
    begin(leader, volume)
    until(lambda: "creationTime" in (status(world).get("local") or {}), "the local one is taken")
    world.azure.control("PATCH", "latency", {"snapshot": "3s"})
    world.azure.control("DELETE", f"faults/{rule}")
    until(lambda: puts(world, "snapshot-1"), "it has begun")
    leader.kill()
    finish(world, azure_sdk, volume)


def test_it_dies_before_the_local_one_is_deleted(world, leader, azure_sdk):
    volume = create(leader).volume_id
    rule = forbid(world, "delete", LOCAL)
    snap(leader, volume, parameters=ELSEWHERE)
    until(lambda: is_ready(world), "it is copied", 60)
    leader.kill()
    assert names(azure_sdk) == {"snapshot-1", LOCAL}
    world.azure.control("DELETE", f"faults/{rule}")
    finish(world, azure_sdk, volume)


def test_it_dies_between_the_deletions(world, leader, azure_sdk):
    world.azure.control("PATCH", "latency", {"copy": "1h"})
    volume = create(leader).volume_id
    snapshot = snap(leader, volume, parameters=ELSEWHERE).snapshot_id
    rule = forbid(world, "delete", LOCAL)
    threading.Thread(target=lambda: pytest.raises(Exception, drop, leader, snapshot)).start()
    until(lambda: names(azure_sdk) == {LOCAL}, "the copy is deleted")
    leader.kill()
    world.azure.control("DELETE", f"faults/{rule}")
    with Controller(world, "two") as second:
        until(lambda: not world.objects("azsnapshots"), "the next one finishes that", 60)
        assert names(azure_sdk) == set()
        drop(second, snapshot)


def finish(world, azure_sdk, volume: str) -> None:
    """The next leader does what is left, once; nothing but the copy is left."""
    with Controller(world, "two") as second:
        until(second.leads, "the other one leads", 30)
        first = until(lambda: answer(second, volume), "it answers", 60)
        until(lambda: is_ready(world), "it is copied", 60)
        until(lambda: names(azure_sdk) == {"snapshot-1"}, "the local one goes")
        last = snap(second, volume, parameters=ELSEWHERE)
        assert (last.snapshot_id, last.creation_time) == (first.snapshot_id, first.creation_time)
        assert puts(world, LOCAL) == puts(world, "snapshot-1") == 1
        drop(second, last.snapshot_id)
        assert names(azure_sdk) == set()


def answer(controller, volume: str):
    """None while it is not to be had."""
    try:
        return snap(controller, volume, parameters=ELSEWHERE)
    except Exception:
        return None
