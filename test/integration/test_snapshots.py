"""Snapshots: a record for each, made once, ready when Azure has copied its data; listed, deleted, and never another's."""

import threading

import pytest
from azsim import simulator
from cluster.waiting import until

from .azure_side import make_disk
from .calls import create, refused
from .driver_world import GROUP, Controller, World

FAST = {"attach": "50ms", "detach": "50ms", "create": "10ms", "delete": "50ms", "snapshot": "50ms"}
CLASS = {"tags": "team=db", "csi.storage.k8s.io/volumesnapshot/name": "daily",
         "csi.storage.k8s.io/volumesnapshot/namespace": "shop"}
OTHERS = {"k8s-azure-created-by": "kubernetes-azure-dd", "k8s-azure-created-by-driver": GROUP,
          "k8s-azure-created-by-cluster": "5c1a0d52-6f6e-4f0b-9a43-0e5b6d1f7c11"}


@pytest.fixture
def world(tmp_path, apiserver):
    with World(tmp_path, apiserver, **FAST) as world:
        yield world


def snap(controller, volume: str, name="snapshot-1", parameters=CLASS, **more):
    return controller.csi.call("Controller/CreateSnapshot", name=name, source_volume_id=volume, parameters=parameters,
                               **more).snapshot


def snap_all(controller, wanted: dict[str, str], **parameters: str) -> list:
    """Name -> volume; at once."""
    calls = [controller.csi.begin("Controller/CreateSnapshot", name=name, source_volume_id=volume, parameters=parameters)
             for name, volume in wanted.items()]
    return [call.result().snapshot for call in calls]


def drop(controller, snapshot: str) -> None:
    controller.csi.call("Controller/DeleteSnapshot", snapshot_id=snapshot)


def listed(controller, **request) -> list[str]:
    answer = controller.csi.call("Controller/ListSnapshots", **request)
    return [entry.snapshot.snapshot_id.rpartition("/")[2] for entry in answer.entries]


def names(azure_sdk) -> set[str]:
    return {snapshot.name for snapshot in azure_sdk.snapshots.list()}


def by_hand(azure_sdk, name: str, volume: str, tags: dict[str, str] | None = None) -> str:
    """Somebody else's; its id."""
    body = {"location": simulator.LOCATION, "tags": tags or {},
            "properties": {"incremental": True, "creationData": {"createOption": "Copy", "sourceResourceId": volume}}}
    return azure_sdk.snapshots.begin_create_or_update(simulator.GROUP, name, body, polling_interval=0.1).result().id


def test_the_life_of_a_snapshot(world, controller, azure_sdk):
    volume = create(controller).volume_id
    before = world.last_call()
    snapshot = snap(controller, volume)
    assert snapshot.ready_to_use
    assert snapshot.source_volume_id == volume
    assert snapshot.size_bytes == 4 << 30
    assert snapshot.creation_time.seconds > 0
    assert snap(controller, volume) == snapshot, "the same name is the same snapshot"
    assert len(world.calls("snapshots.createOrUpdate", before)) == 1

    seen = azure_sdk.snapshots.get(simulator.GROUP, "snapshot-1")
    assert seen.id == snapshot.snapshot_id
    assert seen.incremental
    assert seen.tags == {"team": "db", "kubernetes.io-created-for-snapshot-name": "daily",
                         "kubernetes.io-created-for-snapshot-namespace": "shop", **world.own_mark()}
    status = world.find("azsnapshots", "snapshot-1")["status"]
    assert (status["state"], status["readyToUse"], status["completionPercent"]) == ("Created", True, 100)

    before = world.last_call()
    assert listed(controller, snapshot_id=snapshot.snapshot_id.upper()) == ["snapshot-1"]
    assert controller.csi.call("Controller/GetSnapshot", snapshot_id=snapshot.snapshot_id).snapshot == snapshot
    assert world.azure.journal(before) == [], "what is on record asks nothing of Azure"
    for _ in range(2):
        drop(controller, snapshot.snapshot_id)
    assert not world.find("azsnapshots", "snapshot-1")
    assert names(azure_sdk) == set()
    assert listed(controller) == []
    with refused("NOT_FOUND", "snapshot-1"):
        controller.csi.call("Controller/GetSnapshot", snapshot_id=snapshot.snapshot_id)


def test_what_is_refused(world, controller):
    volume, other = create(controller).volume_id, create(controller, "pvc-2").volume_id
    snap(controller, volume)
    with refused("ALREADY_EXISTS", volume, other):
        snap(controller, other)
    with refused("INVALID_ARGUMENT", "parameter skuName"):
        snap(controller, volume, "snapshot-2", {"skuName": "Premium_LRS"})
    with refused("INVALID_ARGUMENT", "clientSecret", "csi.storage.k8s.io/snapshotter-secret-name"):
        snap(controller, volume, "snapshot-2", secrets={"clientSecret": "x"})
    with refused("INVALID_ARGUMENT", "snapshots"):
        controller.csi.call("Controller/CreateSnapshot", name="s", source_volume_id=volume + "/snapshots")
    assert {o["metadata"]["name"] for o in world.objects("azsnapshots")} == {"snapshot-1"}
    with refused("NOT_FOUND", "gone"):
        snap(controller, volume.replace("pvc-1", "gone"), "snapshot-2")
    with refused("NOT_FOUND", "nowhere"):
        snap(controller, volume, "snapshot-3", {"resourceGroup": "nowhere"})


def test_a_creation_that_failed_begins_anew_as_it_is_asked_for(world, controller, azure_sdk):
    volume = create(controller).volume_id
    with refused("NOT_FOUND", "nowhere"):
        snap(controller, volume, parameters={"resourceGroup": "nowhere", "tags": "a=b"})
    assert world.find("azsnapshots", "snapshot-1")["status"]["state"] == "CreationFailed"
    assert snap(controller, volume, parameters={"incremental": "false"}).ready_to_use
    assert "a" not in azure_sdk.snapshots.get(simulator.GROUP, "snapshot-1").tags
    assert world.find("azsnapshots", "snapshot-1")["spec"]["parameters"] == {"incremental": "false"}


def test_one_name_at_once_makes_one_snapshot(world, controller):
    volume = create(controller).volume_id
    before = world.last_call()
    calls = [controller.csi.begin("Controller/CreateSnapshot", name="snapshot-1", source_volume_id=volume)
             for _ in range(5)]
    codes = {call.code().name for call in calls}
    assert codes <= {"OK", "ABORTED"} and "OK" in codes
    assert len(world.calls("snapshots.createOrUpdate", before)) == 1


def test_a_leader_that_dies_leaves_what_the_next_one_finishes(world):
    world.azure.control("PATCH", "latency", {"snapshot": "2s"})
    with Controller(world, "one") as first:
        until(first.leads, "it leads")
        volume = create(first).volume_id
        with Controller(world, "two") as second:
            threading.Thread(target=lambda: pytest.raises(Exception, snap, first, volume)).start()
            until(lambda: world.calls("snapshots.createOrUpdate"), "it has begun")
            first.kill()
            until(second.leads, "the other one leads", 30)
            assert snap(second, volume).ready_to_use
            assert len(world.calls("snapshots.createOrUpdate")) == 1
        first.start()


def test_data_that_azure_copies_in_the_background(world, controller):
    """One list tells of all of them."""
    world.azure.control("PATCH", "latency", {"copy": "10s"})
    volumes = [create(controller, f"pvc-{i}", {"skuName": "PremiumV2_LRS"}).volume_id for i in range(3)]
    made = snap_all(controller, {f"snapshot-{i}": volume for i, volume in enumerate(volumes)})
    assert not any(snapshot.ready_to_use for snapshot in made)
    instant = snap(controller, volumes[0], "snapshot-instant", {"instantAccessDurationMinutes": "60"})
    assert instant.ready_to_use
    before = world.last_call()
    until(lambda: all(o["status"]["readyToUse"] for o in world.objects("azsnapshots")), "all are copied", 60)
    assert snap(controller, volumes[0], "snapshot-0", {}).ready_to_use
    assert not world.calls("snapshots.get", before)
    assert len(world.calls("snapshots.listByResourceGroup", before)) <= 3


def test_a_copy_that_fails_is_said(world, controller, azure_sdk):
    world.azure.control("PATCH", "latency", {"copy": "1h"})
    volume = create(controller, parameters={"skuName": "PremiumV2_LRS"}).volume_id
    snapshot = snap(controller, volume, parameters={}).snapshot_id
    failed = {"status": {"error": {"code": "INTERNAL", "message": "Azure could not copy the data"}}}
    world.patch("azsnapshots", "snapshot-1", failed, status=True)
    with refused("INTERNAL", "could not copy"):
        until(lambda: not snap(controller, volume, parameters={}), "it is known")
    drop(controller, snapshot)
    assert names(azure_sdk) == set()


def test_the_eighth_snapshot_in_five_minutes_waits(world, controller):
    """Azure would refuse it, without a word on when to come again."""
    volume = create(controller).volume_id
    snap_all(controller, {f"snapshot-{i}": volume for i in range(7)})
    before = world.last_call()
    with refused("ABORTED", "7 incremental snapshots", "the next one can be created at"):
        snap(controller, volume, "snapshot-7", {})
    assert not world.azure.journal(before)
    assert snap(controller, volume, "snapshot-full", {"incremental": "false"}).ready_to_use


def test_pages_and_filters(world, controller, azure_sdk):
    volumes = [create(controller, f"pvc-{i}").volume_id for i in range(2)]
    snap_all(controller, {f"snapshot-{i}": volumes[i % 2] for i in range(5)})
    theirs = by_hand(azure_sdk, "by-hand", volumes[0])
    assert listed(controller) == [f"snapshot-{i}" for i in range(5)]
    assert listed(controller, source_volume_id=volumes[1].upper()) == ["snapshot-1", "snapshot-3"]
    assert listed(controller, snapshot_id=theirs) == ["by-hand"], "csi-snapshotter asks so for a static one"
    assert listed(controller, snapshot_id=theirs, source_volume_id=volumes[1]) == []
    assert listed(controller, snapshot_id=theirs + "-no") == listed(controller, snapshot_id="no") == []
    first = controller.csi.call("Controller/ListSnapshots", max_entries=2)
    drop(controller, first.entries[1].snapshot.snapshot_id)
    assert listed(controller, starting_token=first.next_token) == ["snapshot-2", "snapshot-3", "snapshot-4"]
    with refused("ABORTED", "ListSnapshots"):
        listed(controller, starting_token="3")
    with refused("INVALID_ARGUMENT", "max_entries"):
        listed(controller, max_entries=-1)


def test_what_others_have_made(world, controller, azure_sdk):
    volume = create(controller).volume_id
    by_hand(azure_sdk, "snapshot-1", volume)
    with refused("ALREADY_EXISTS", "did not create it"):
        snap(controller, volume)
    theirs = by_hand(azure_sdk, "theirs", volume, OTHERS)
    with refused("FAILED_PRECONDITION", "another cluster", "Retain"):
        drop(controller, theirs)
    for name in ("Static", "of_somebody", "snapshot-" + "x" * 71):
        drop(controller, by_hand(azure_sdk, name, volume))
    assert names(azure_sdk) == {"snapshot-1", "theirs"}
    assert {o["metadata"]["name"] for o in world.objects("azsnapshots")} == {"snapshot-1"}
    for id_ in ("", theirs.replace("/snapshots/", "/disks/"), "nonsense", theirs + "/../../disks/pvc-1"):
        with refused("INVALID_ARGUMENT", "snapshot_id") if not id_ else refused_by_nobody():
            drop(controller, id_)
    assert azure_sdk.disks.get(simulator.GROUP, "pvc-1")


class refused_by_nobody:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *_) -> bool:
        return False


def test_a_record_that_is_deleted_by_hand_leaves_the_snapshot(world, controller, azure_sdk):
    volume = create(controller).volume_id
    snapshot = snap(controller, volume).snapshot_id
    world.delete("azsnapshots", "snapshot-1")
    until(lambda: not world.find("azsnapshots", "snapshot-1"), "the record goes")
    assert names(azure_sdk) == {"snapshot-1"}
    assert snap(controller, volume).snapshot_id == snapshot, "it is found again"
    drop(controller, snapshot)
    assert names(azure_sdk) == set()


def test_one_that_is_deleted_while_it_is_created_is_not_created_again(world, controller, azure_sdk):
    """By somebody who knows what its id is going to be."""
    world.azure.control("PATCH", "latency", {"snapshot": "4s"})
    volume = create(controller).volume_id
    begun = controller.csi.begin("Controller/CreateSnapshot", name="snapshot-1", source_volume_id=volume)
    until(lambda: world.calls("snapshots.createOrUpdate"), "it has begun")
    drop(controller, volume.replace("/disks/pvc-1", "/snapshots/snapshot-1"))
    with refused("ABORTED", "deleted while it was being created"):
        begun.result()
    assert names(azure_sdk) == set()
    assert world.objects("azsnapshots") == []
    assert len(world.calls("snapshots.createOrUpdate")) == 1


def test_one_that_somebody_has_deleted_in_azure(world, controller, azure_sdk):
    volume = create(controller).volume_id
    snapshot = snap(controller, volume).snapshot_id
    azure_sdk.snapshots.begin_delete(simulator.GROUP, "snapshot-1", polling_interval=0.1).result()
    with refused("NOT_FOUND", "snapshot-1"):
        create(controller, "pvc-2", volume_content_source={"snapshot": {"snapshot_id": snapshot}})
    drop(controller, snapshot)
    assert world.objects("azsnapshots") == []


def test_a_snapshot_outlives_its_disk(world, controller, azure_sdk):
    disk = make_disk(azure_sdk, "data")
    snapshot = snap(controller, disk).snapshot_id
    azure_sdk.disks.begin_delete(simulator.GROUP, "data", polling_interval=0.1).result()
    assert snap(controller, disk).snapshot_id == snapshot
    drop(controller, snapshot)
    assert names(azure_sdk) == set()


def test_a_deletion_that_azure_refuses_is_said_and_tried_again(world, controller, azure_sdk):
    snapshot = snap(controller, create(controller).volume_id).snapshot_id
    grant = azure_sdk.snapshots.begin_grant_access(
        simulator.GROUP, "snapshot-1", {"access": "Read", "durationInSeconds": 3600}, polling_interval=0.1)
    grant.result()
    with refused("FAILED_PRECONDITION", "snapshot-1"):
        drop(controller, snapshot)
    assert world.find("azsnapshots", "snapshot-1")["status"]["state"] == "DeletionFailed"
    azure_sdk.snapshots.begin_revoke_access(simulator.GROUP, "snapshot-1", polling_interval=0.1).result()
    until(lambda: not world.find("azsnapshots", "snapshot-1"), "it is tried again", 30)
