"""Two clusters have their disks in one resource group, and people give their volumes the same names: what another
cluster has made is neither used nor deleted. What an earlier version made, whose mark is the same in all clusters, is
this cluster's by its PersistentVolume."""

import pytest
from cluster.waiting import until

from .calls import create, delete, publish, refused
from .driver_world import GROUP, Controller
from .kubernetes_side import persistent_volume

OLDER = {"k8s-azure-created-by": "kubernetes-azure-dd"}
OTHERS = {**OLDER, "k8s-azure-created-by-driver": GROUP,
          "k8s-azure-created-by-cluster": "5c1a0d52-6f6e-4f0b-9a43-0e5b6d1f7c11"}
UID = "96c8f65f-2d4d-4156-b0a2-0d2aa9847e8e"


def make_disk(azure_sdk, name: str, tags: dict[str, str]) -> str:
    """As CreateVolume would make it for create(); its id."""
    disk = {"location": "eastus", "zones": ["1"], "sku": {"name": "Premium_LRS"}, "tags": tags,
            "properties": {"diskSizeGB": 4, "maxShares": 3, "creationData": {"createOption": "Empty"}}}
    return azure_sdk.disks.begin_create_or_update("rg", name, disk, polling_interval=0.1).result().id


def tags_of(azure_sdk, name: str) -> dict[str, str]:
    return azure_sdk.disks.get("rg", name).tags


def disks(world) -> list[str]:
    return sorted(disk["name"] for disk in world.azure.control("GET", "disks")["disks"])


def test_a_disk_says_who_has_made_it(world, controller, azure_sdk):
    create(controller, "data", parameters={"tags": "team=db"})
    uid = world.core.read_namespace("kube-system").metadata.uid
    assert tags_of(azure_sdk, "data") == {"team": "db", **world.own_mark()}
    assert world.own_mark() == {**OTHERS, "k8s-azure-created-by-cluster": uid}


@pytest.mark.parametrize("tags, words", [
    (OTHERS, ["another cluster", OTHERS["k8s-azure-created-by-cluster"], "another name"]),
    (OLDER, ["earlier version", "volumeHandle"]),
    ({**OTHERS, "k8s-azure-created-by-driver": "disk2.csi.azure.com"}, ["disk2.csi.azure.com"]),
], ids=["others", "older", "another-driver"])
def test_another_clusters_disk_becomes_no_volume(world, controller, azure_sdk, tags, words):
    disk = make_disk(azure_sdk, "data", tags)
    for _ in range(2):
        with refused("ALREADY_EXISTS", disk, *words):
            create(controller, "data")
    assert tags_of(azure_sdk, "data") == tags, "nobody has touched it"
    azure_sdk.disks.begin_delete("rg", "data", polling_interval=0.1).result()
    assert create(controller, "data").volume_id == disk
    assert tags_of(azure_sdk, "data") == world.own_mark()


def test_a_creation_that_an_earlier_version_has_begun_is_finished(world, controller, azure_sdk):
    """A name with a claim's UID is one cluster's alone."""
    disk = make_disk(azure_sdk, f"pvc-{UID}", OLDER)
    assert create(controller, f"pvc-{UID}").volume_id == disk
    assert len(world.calls("disks.createOrUpdate")) == 1, "it was there, and is not written over"
    delete(controller, disk)
    assert disks(world) == []


@pytest.mark.parametrize("tags", [OTHERS, OLDER], ids=["others", "older"])
def test_a_disk_without_any_record_that_is_not_marked_as_own_stays(world, controller, azure_sdk, tags):
    disk = make_disk(azure_sdk, "data", tags)
    delete(controller, disk)
    assert disks(world) == ["data"]
    until(lambda: f"disk {disk} is not deleted" in controller.said(), "the log says so")
    assert not world.objects("azvolumes")


def test_a_creation_that_was_refused_leaves_the_other_disk(world, controller, azure_sdk):
    make_disk(azure_sdk, "data", OTHERS)
    with refused("ALREADY_EXISTS"):
        create(controller, "data")
    world.patch("azvolumes", "data", {"status": {"annotation": {f"{GROUP}/volume-delete-request": "x"}}}, True)
    world.delete("azvolumes", "data")
    until(lambda: not world.objects("azvolumes"), "the record is gone")
    assert disks(world) == ["data"]


def test_an_older_disk_is_this_clusters_by_its_persistent_volume(world, controller, azure_sdk):
    disk = make_disk(azure_sdk, "data", OLDER)
    with persistent_volume(world, disk, {}) as pv:
        until(lambda: world.objects("azvolumes"), "it is on record")
        world.core.patch_persistent_volume_status(pv, {"status": {"phase": "Released"}})
        world.delete("azvolumes", "data")
        until(lambda: not world.objects("azvolumes"), "its record is lost")
        assert disks(world) == ["data"]
        delete(controller, disk)
        assert disks(world) == []


def test_an_older_disk_with_a_record_goes_as_ever(world, controller, azure_sdk):
    volume = create(controller, "data").volume_id
    azure_sdk.disks.begin_update("rg", "data", {"tags": OLDER}, polling_interval=0.1).result()
    assert create(controller, "data").volume_id == volume, "a repeated call is answered by the record"
    publish(controller, volume, world.nodes[0])
    until(lambda: world.roles("data").get("a") == "Primary Attached", "used as ever")
    controller.csi.call("Controller/ControllerUnpublishVolume", volume_id=volume, node_id=world.nodes[0])
    delete(controller, volume)
    assert disks(world) == []
