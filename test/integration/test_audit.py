"""The leader's audit: what was put wrong by hand is counted, told once, and put right where Azure's word decides."""

import re
import urllib.request

import pytest
from cluster.waiting import until

from .calls import GIB, create, delete, publish, refused
from .driver_world import Controller, World
from .kubernetes_side import persistent_volume, volume_attachment
from .test_azdiskctl import (
    EVERYWHERE, a_disk_of_others_on_a_vm, a_disk_of_ours_on_a_vm, a_replica_that_kubelet_uses,
    a_volume_whose_disk_is_gone, another_lun, attachment, detached_behind_its_back, is_used_on, two_primaries)


LOOKS = {"virtualMachines.get", "disks.listByResourceGroup", "snapshots.listByResourceGroup"}


@pytest.fixture
def world(tmp_path, apiserver):
    with World(tmp_path, apiserver, attach="100ms", detach="50ms", create="50ms", delete="50ms", get="0s") as world:
        yield world


@pytest.fixture
def flags():
    return []


@pytest.fixture
def controller(world, flags):
    """Its leader looks twenty times a second, and a volume is in use on the first node."""
    with Controller(world, "one", "--audit-interval=50ms", *flags) as controller:
        volume = create(controller)
        publish(controller, volume.volume_id, world.nodes[0])
        until(lambda: world.roles("pvc-1") == EVERYWHERE, "three attachments")
        with persistent_volume(world, volume.volume_id, dict(volume.volume_context)) as pv:
            with volume_attachment(world, pv, world.nodes[0]):
                yield controller


def series(controller: Controller, metric: str) -> dict[str, int]:
    """Its values by its label."""
    text = urllib.request.urlopen(f"http://127.0.0.1:{controller.metrics}/metrics", timeout=30).read().decode()
    return {label: int(n) for label, n in re.findall(rf'^{metric}{{\w+="(\w+)"}} (\d+)$', text, re.MULTILINE)}


def counts(controller: Controller, metric="azuredisk_audit_findings") -> dict[str, int]:
    """The findings that there are, by kind."""
    return {kind: n for kind, n in series(controller, metric).items() if n}


def scans(controller: Controller, metric="azuredisk_audit_scans_total") -> int:
    return series(controller, metric).get("ok", 0)


def events(world: World, kind: str, name: str) -> list[str]:
    """Reasons of the audit's events about an object, once each however often they were told."""
    found = world.core.list_event_for_all_namespaces(field_selector=f"involvedObject.name={name}").items
    return [e.reason for e in found if e.action == "Audit" and e.involved_object.kind == kind]


def until_scanned(controller: Controller, times: int) -> None:
    began = scans(controller)
    until(lambda: scans(controller) >= began + times, f"{times} scans", 120)


def until_all_scanned(controller: Controller) -> None:
    """One of 30 scans covers the disks, and one the snapshots."""
    until_scanned(controller, 35)


def test_a_cluster_in_order_is_left_alone(world, controller):
    before = world.last_call()
    until_all_scanned(controller)
    assert counts(controller) == {}
    asked = {e["kind"] for e in world.azure.journal(before)}
    assert asked <= LOOKS, "it only looks"
    assert world.roles("pvc-1") == EVERYWHERE


@pytest.mark.parametrize("put_wrong, kind, node", [
    (detached_behind_its_back, "DiskNotAttached", 2), (another_lun, "LunDiffers", 0)])
def test_what_azure_decides_is_put_right(world, controller, azure_sdk, put_wrong, kind, node):
    name = attachment(world, node)
    put_wrong(world, azure_sdk)
    # Another kind may have been told before, while the volume was attached and not yet published.
    until(lambda: events(world, "AzVolumeAttachment", name).count(kind) == 1, "an event on the attachment")
    until(lambda: counts(controller) == {}, "it is put right")
    until(lambda: world.roles("pvc-1") == EVERYWHERE, "all are attached")
    attached = world.azure.control("GET", f"vms/{world.nodes[node]}")["attached"]
    status = world.find("azvolumeattachments", name)["status"]
    assert [str(a["lun"]) for a in attached] == [status["detail"]["publish_context"]["LUN"]]


def test_a_disk_that_somebody_made_larger(world, azure_sdk):
    """The second scan of a leader covers the disks."""
    with Controller(world, "first") as controller:
        create(controller)
    azure_sdk.disks.begin_update("rg", "pvc-1", {"properties": {"diskSizeGB": 9}}, polling_interval=0.1).result()
    with Controller(world, "second", "--audit-interval=50ms") as controller:
        until(lambda: events(world, "AzVolume", "pvc-1") == ["SizeDiffers"], "an event on the volume")
        until(lambda: counts(controller) == {}, "it is put right")
        status = world.find("azvolumes", "pvc-1")["status"]
        assert (status["state"], status["detail"]["capacity_bytes"]) == ("Updated", 9 * GIB)


@pytest.mark.parametrize("flags", [["--repair=none"]])
def test_nothing_is_put_right_when_that_is_not_wanted(world, controller, azure_sdk):
    name = attachment(world, 2)
    detached_behind_its_back(world, azure_sdk)
    until(lambda: events(world, "AzVolumeAttachment", name) == ["DiskNotAttached"], "an event on the attachment")
    before = world.last_call()
    until_scanned(controller, 12)  # every other one is at what is doubtful
    assert counts(controller) == {"DiskNotAttached": 1}, "it lasts"
    asked = {e["kind"] for e in world.azure.journal(before)}
    assert asked <= LOOKS, "it only looks"


def test_a_volume_attachment_that_somebody_has_removed(world):
    """Without its finalizers it goes, and the driver is never told."""
    node = world.nodes[0]
    with Controller(world, "one", "--audit-interval=50ms") as controller:
        volume = create(controller)
        with persistent_volume(world, volume.volume_id, dict(volume.volume_context)) as pv:
            is_used_on(world, node)
            publish(controller, volume.volume_id, node)
            with volume_attachment(world, pv, node):
                until(lambda: world.roles("pvc-1") == EVERYWHERE and counts(controller) == {}, "all is well")
            until(lambda: counts(controller) == {"PrimaryNotPublished": 1}, "it is found")
            until_scanned(controller, 12)
            assert world.roles("pvc-1")["a"] == "Primary Attached", "the node uses it"
            with refused("FAILED_PRECONDITION", "still published"):
                delete(controller, volume.volume_id)
            world.core.patch_node_status(node, {"status": {"volumesInUse": None}})
            until(lambda: "Primary Attached" not in world.roles("pvc-1").values(), "it is a replica")
            delete(controller, volume.volume_id)


def test_what_people_must_decide_is_counted_and_told_once(world, controller, azure_sdk):
    is_used_on(world, world.nodes[1])
    told = {  # what is put wrong, the kind, the object on which it is told
        two_primaries: ("TwoPrimaries", "AzVolume", "pvc-1"),
        a_disk_of_ours_on_a_vm: ("AttachedWithoutRecord", "AzVolume", "pvc-2"),
        a_disk_of_others_on_a_vm: ("ForeignDisk", "Node", world.nodes[1]),
        a_volume_whose_disk_is_gone: ("VolumeWithoutDisk", "AzVolume", "pvc-3"),
        a_replica_that_kubelet_uses: ("ReplicaInUse", "AzVolumeAttachment", attachment(world, 2)),
    }
    for put_wrong in told:
        put_wrong(world, azure_sdk)
    # The second primary is not published either, which two_primaries cannot help.
    expected = {kind: 1 for kind, *_ in told.values()} | {"PrimaryNotPublished": 1}
    until(lambda: counts(controller) == expected, "all are counted", 120)
    former = {kind: n for kind, n in expected.items() if kind != "PrimaryNotPublished"} | {"PrimaryWithoutPublication": 1}
    assert counts(controller, "azuredisk_audit_differences") == former, "docs/upgrading.md"
    assert scans(controller, "azuredisk_audit_looks_total") >= 1
    for kind, *about in told.values():
        until(lambda: kind in events(world, *about), f"an event {kind}")
    until_all_scanned(controller)
    assert counts(controller) == expected, "they last"
    for kind, *about in told.values():
        assert events(world, *about).count(kind) == 1, "and are told once"


def test_what_was_mended_is_counted_no_longer(world, controller, azure_sdk):
    a_volume_whose_disk_is_gone(world, azure_sdk)
    until(lambda: counts(controller) == {"VolumeWithoutDisk": 1}, "it is counted")
    world.patch("azvolumes", "pvc-3", {"metadata": {"finalizers": None}})
    world.delete("azvolumes", "pvc-3")
    until(lambda: counts(controller) == {}, "it is mended")


def test_a_second_primary_that_nothing_uses_becomes_a_replica(world, controller, azure_sdk):
    """Kubernetes has not published it there."""
    name = attachment(world, 1)
    two_primaries(world, azure_sdk)
    until(lambda: events(world, "AzVolumeAttachment", name) == ["PrimaryNotPublished"], "an event on the attachment")
    until(lambda: counts(controller) == {}, "it is put right")
    until(lambda: world.roles("pvc-1") == EVERYWHERE, "there is one primary")
