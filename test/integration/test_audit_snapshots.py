"""Snapshots that are left over, or gone: the leader's audit counts and tells them, azdiskctl shows them, and nobody deletes
anything."""

import pytest
from azsim import simulator
from cluster.waiting import until

from .azdiskctl import Azdiskctl
from .calls import create
from .driver_world import GROUP, Controller, World
from .test_audit import counts, until_all_scanned
from .test_snapshots import OTHERS, by_hand, names, snap
from .volume_snapshots import VolumeSnapshots, defined


@pytest.fixture
def world(tmp_path, apiserver):
    """Without nodes, at whose VMs the audit would look until the driver has used up its calls."""
    latency = {kind: "10ms" for kind in ("attach", "detach", "create", "delete", "snapshot")}
    with World(tmp_path, apiserver, nodes=0, throttling="off", get="0s", **latency) as world:
        yield world


@pytest.fixture
def contents(world):
    """The cluster knows VolumeSnapshotContents; one that a test leaves goes with their definition."""
    with defined(world.client):
        yield VolumeSnapshots(world.client, world.namespace)


@pytest.fixture
def controller(world):
    """Its leader looks twenty times a second."""
    with Controller(world, "one", "--audit-interval=50ms") as controller:
        yield controller


@pytest.fixture
def snapshot(world, contents, controller):
    """The id of one that is in order."""
    made = snap(controller, create(controller).volume_id, parameters={}).snapshot_id
    contents.create_content("content", GROUP, made)
    return made


def record_goes(world) -> None:
    """Without a request of csi-snapshotter."""
    world.delete("azsnapshots", "snapshot-1")
    until(lambda: not world.find("azsnapshots", "snapshot-1"), "the record goes")


def events(world) -> list[str]:
    """Reasons of the audit's events about AzSnapshots."""
    found = world.core.list_namespaced_event(world.namespace).items
    return [e.reason for e in found if e.action == "Audit" and e.involved_object.kind == "AzSnapshot"]


def shown(world) -> list[tuple[str, str]]:
    """Kinds and subjects that azdiskctl shows."""
    found = Azdiskctl(world, azure=True).ask("check", status=1)["findings"]
    return [(finding["kind"], finding["subject"]) for finding in found]


def test_snapshots_in_order(world, controller, snapshot, azure_sdk):
    by_hand(azure_sdk, "theirs", create(controller, "pvc-2").volume_id, OTHERS)
    before = world.last_call()
    until_all_scanned(controller)
    assert counts(controller) == {}
    assert world.calls("snapshots.listByResourceGroup", before) and not world.calls("snapshots.get", before)
    found = Azdiskctl(world, azure=True).ask("check")
    assert (found["findings"], found["snapshots"]) == ([], 2)
    assert "SNAPSHOT    DISK   STATE    READY  COPIED\nsnapshot-1  pvc-1  Created  yes    100 %" in Azdiskctl(world).run("map")


def test_one_that_somebody_has_deleted_in_azure(world, controller, snapshot, azure_sdk):
    azure_sdk.snapshots.begin_delete(simulator.GROUP, "snapshot-1", polling_interval=0.1).result()
    until(lambda: events(world) == ["RecordWithoutSnapshot"], "an event on the record", 60)
    assert counts(controller) == {"RecordWithoutSnapshot": 1}
    assert shown(world) == [("RecordWithoutSnapshot", "AzSnapshot/snapshot-1")]
    assert world.find("azsnapshots", "snapshot-1"), "which stays"
    controller.csi.call("Controller/DeleteSnapshot", snapshot_id=snapshot)
    until(lambda: counts(controller) == {}, "it is in order when that is gone, too", 60)


def test_one_whose_content_is_gone(world, controller, contents, snapshot, azure_sdk):
    contents.delete_content("content")
    until(lambda: events(world) == ["SnapshotWithoutContent"], "an event on the record", 60)
    assert counts(controller) == {"SnapshotWithoutContent": 1}
    assert shown(world) == [("SnapshotWithoutContent", "AzSnapshot/snapshot-1")]
    assert "SnapshotWithoutContent" in Azdiskctl(world).run("check", status=1), "without Azure, too"
    until_all_scanned(controller)
    assert world.find("azsnapshots", "snapshot-1") and names(azure_sdk) == {"snapshot-1"}, "nothing is deleted"
    contents.create_content("another", GROUP, snapshot.upper())
    until(lambda: counts(controller) == {}, "it is in order", 60)


def test_one_that_nobody_knows(world, controller, contents, snapshot, azure_sdk):
    record_goes(world)
    until_all_scanned(controller)
    assert counts(controller) == {}, "a VolumeSnapshotContent names it"
    contents.delete_content("content")
    until(lambda: counts(controller) == {"SnapshotWithoutRecord": 1}, "it is counted", 60)
    assert shown(world) == [("SnapshotWithoutRecord", snapshot)]
    assert names(azure_sdk) == {"snapshot-1"}, "it stays"


def test_a_cluster_without_volume_snapshots(world, controller):
    """What there is, somebody has asked for by CSI: nothing is known of whether he needs it."""
    made = snap(controller, create(controller).volume_id, parameters={}).snapshot_id
    until_all_scanned(controller)
    assert counts(controller) == {}
    record_goes(world)
    until(lambda: counts(controller) == {"SnapshotWithoutRecord": 1}, "it is counted", 60)
    assert shown(world) == [("SnapshotWithoutRecord", made)]


def test_snapshots_that_may_not_be_listed(world, controller, snapshot):
    world.azure.fault("refuse", kind="snapshots.listByResourceGroup", code="AuthorizationFailed")
    until(lambda: counts(controller) == {"SnapshotsNotListed": 1}, "it is counted", 60)
    group, _, _ = snapshot.partition("/providers/")
    found = Azdiskctl(world, azure=True).ask("check")["findings"]
    assert [(finding["kind"], finding["subject"]) for finding in found] == [("SnapshotsNotListed", group)]
