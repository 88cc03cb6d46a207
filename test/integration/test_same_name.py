"""Disks of one name in two resource groups are two volumes: neither is ever taken for the other, however they come on
record. What is on record is found as it is, whatever its name."""

from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from azsim import simulator
from cluster.waiting import until

from .azure_side import make_disk
from .calls import create, delete, publish, refused, unpublish
from .driver_world import Controller, World
from .kubernetes_side import forget, persistent_volume, volume_attachment

NAME = "data"
SIDE_BY_SIDE = 2  # disks


@pytest.fixture
def disks(azure_sdk) -> list[str]:
    return [make_disk(azure_sdk, NAME, group=group) for group in ("rg", "elsewhere")]


def whereabouts(world: World) -> dict[str, list[str]]:
    """The nodes that each of the disks that are attached is attached to."""
    return {disk["id"]: [owner["vm"] for owner in disk["attachedTo"]]
            for disk in world.azure.control("GET", "disks")["disks"] if disk["attachedTo"]}


def await_whereabouts(world: World, expected: dict[str, str]) -> None:
    until(lambda: whereabouts(world) == {disk: [node] for disk, node in expected.items()}, f"attached: {expected}")


def records(world: World) -> dict[str, str]:
    """The AzVolume of each disk that is on record."""
    volumes = {v["metadata"]["name"]: v["status"]["detail"]["volume_id"]
               for v in world.objects("azvolumes") if "detail" in v.get("status", {})}
    assert len(set(volumes.values())) == len(volumes), volumes
    return {disk: name for name, disk in volumes.items()}


def adopted(world: World, disks: list[str]) -> dict[str, str]:
    until(lambda: records(world).keys() == set(disks), "both are on record")
    assert sorted(len(name) for name in records(world).values()) == [len(NAME), len(NAME) + 1 + 16]
    assert all(name.split(".")[0] == NAME for name in records(world).values())
    return records(world)


def published(controller, disk: str, node: str) -> None:
    """By a sidecar, which repeats a call that was too early."""
    def call() -> bool:
        try:
            publish(controller, disk, node)
        except grpc.RpcError as error:
            assert error.code() == grpc.StatusCode.ABORTED, error
            return False
        return True

    until(call, f"{disk} is published")


@pytest.mark.parametrize("nodes", [(0, 0), (0, 1)], ids=["one-node", "two-nodes"])
def test_both_are_used(world, controller, disks, nodes):
    wanted = {disk: world.nodes[node] for disk, node in zip(disks, nodes)}
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        list(pool.map(lambda disk: published(controller, disk, wanted[disk]), disks))
    await_whereabouts(world, wanted)
    names = adopted(world, disks)
    first, second = disks
    with refused("FAILED_PRECONDITION", names[second], wanted[second]):
        publish(controller, second, world.nodes[2])
    unpublish(controller, first, wanted[first])
    await_whereabouts(world, {second: wanted[second]})
    delete(controller, first)
    until(lambda: records(world) == {second: names[second]}, "and forgotten")
    publish(controller, second, wanted[second])
    unpublish(controller, second, wanted[second])
    await_whereabouts(world, {})


def test_one_keeps_its_record_when_the_other_has_none_any_more(world, controller, disks):
    first, second = disks
    publish(controller, first, world.nodes[0])
    publish(controller, second, world.nodes[1])
    names = adopted(world, disks)
    assert names[first] == NAME
    unpublish(controller, first, world.nodes[0])
    delete(controller, first)
    until(lambda: records(world) == {second: names[second]}, "the first is forgotten")
    publish(controller, second, world.nodes[1])
    publish(controller, first, world.nodes[0])
    assert records(world) == names


def test_both_claims_volumes_are_recovered(world, controller, disks):
    """When all records are lost, while pods use both disks, and while none does."""
    with persistent_volume(world, disks[0], {}, False, "one") as one, \
            persistent_volume(world, disks[1], {}, False, "two") as two:
        names = adopted(world, disks)
        for disk in disks:
            publish(controller, disk, world.nodes[0])
        await_whereabouts(world, dict.fromkeys(disks, world.nodes[0]))
        with volume_attachment(world, one, world.nodes[0]), volume_attachment(world, two, world.nodes[0]):
            controller.end()
            forget(world, "azvolumeattachments")
            forget(world, "azvolumes")
            before = world.last_call()
            controller.start()
            names = adopted(world, disks)
            for name in names.values():
                until(lambda name=name: world.roles(name) == {"a": "Primary Attached"}, f"{name} is in use")
            assert not world.calls("virtualMachines.attachDetachDataDisks", before)
        for disk in disks:
            unpublish(controller, disk, world.nodes[0])
        await_whereabouts(world, {})


def test_what_is_left_of_a_lost_record_is_not_taken_for_the_others(world, controller, disks):
    """The AzVolume of the first one is gone, its AzVolumeAttachment is there."""
    first, second = disks
    publish(controller, first, world.nodes[0])
    await_whereabouts(world, {first: world.nodes[0]})
    controller.end()
    forget(world, "azvolumes")
    controller.start()
    publish(controller, second, world.nodes[1])
    await_whereabouts(world, {first: world.nodes[0], second: world.nodes[1]})
    unpublish(controller, second, world.nodes[1])
    await_whereabouts(world, {first: world.nodes[0]})


@pytest.mark.parametrize("phase", ["Available", "Released", "Bound"])
def test_a_new_volume_beside_one_that_was_made_by_hand(world, controller, azure_sdk, phase):
    foreign = make_disk(azure_sdk, NAME, group="elsewhere")
    with persistent_volume(world, foreign, {}, False, phase=phase):
        if phase == "Bound":
            until(lambda: foreign in records(world), "it is adopted")
        made = create(controller, NAME).volume_id
        assert made.lower() == simulator.disk_id(NAME).lower()
        assert create(controller, NAME).volume_id == made, "the same call again"
        [record] = [world.find("azvolumes", name) for disk, name in records(world).items() if disk == made]
        assert record["spec"]["volumeName"] == NAME and "persistentVolume" not in record["spec"]
        publish(controller, made, world.nodes[0])
        unpublish(controller, made, world.nodes[0])
        delete(controller, made)
        assert [disk["id"] for disk in world.azure.control("GET", "disks")["disks"]] == [foreign]


def test_a_new_volume_does_not_take_a_disk_that_is_a_volume_by_hand(world, controller, azure_sdk):
    """Nobody has two PersistentVolumes of one disk, one of which deletes it."""
    disk = make_disk(azure_sdk, NAME)
    with persistent_volume(world, disk, {}, False):
        until(lambda: disk in records(world), "it is adopted")
        with refused("ALREADY_EXISTS", disk, "by hand"):
            create(controller, NAME, {})


def test_nor_one_that_could_not_be_read(world, controller):
    with persistent_volume(world, simulator.disk_id(NAME), {}, False):
        until(lambda: (world.find("azvolumes", NAME) or {}).get("status", {}).get("error"), "it is not there")
        with refused("ALREADY_EXISTS", simulator.disk_id(NAME), "by hand"):
            create(controller, NAME, {})


def claim(pv: str, group: str) -> dict[str, str]:
    """Parameters of a class whose disks are named after their claims."""
    return {"skuName": "Premium_LRS", "resourceGroup": group, "diskName": NAME, "csi.storage.k8s.io/pv/name": pv,
            "csi.storage.k8s.io/pvc/name": "claim", "csi.storage.k8s.io/pvc/namespace": "default"}


def test_two_claims_whose_disks_have_one_name_in_two_groups(world, controller):
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        def made(group: str) -> str:
            def call() -> str | None:
                try:
                    return create(controller, f"pv-{group}", claim(f"pv-{group}", group)).volume_id
                except grpc.RpcError as error:
                    assert error.code() == grpc.StatusCode.ABORTED, error
                    return None
            return until(call, f"a disk in {group}")

        groups = ("rg", "elsewhere")
        disks = dict(zip(groups, pool.map(made, groups)))
    assert len(set(disks.values())) == len(groups)
    for group, disk in disks.items():
        assert f"/resourceGroups/{group}/" in disk
        assert create(controller, f"pv-{group}", claim(f"pv-{group}", group)).volume_id == disk
        with refused("ALREADY_EXISTS", "diskName", f"pv-{group}", "pv-other"):
            create(controller, "pv-other", claim("pv-other", group))
    adopted(world, list(disks.values()))
    delete(controller, disks["rg"])
    assert [disk["id"] for disk in world.azure.control("GET", "disks")["disks"]] == [disks["elsewhere"]]


# ---- as somebody else wrote it ----

def by_hand(world, name: str, disk: str) -> None:
    """An AzVolume of a disk that exists."""
    world.create("azvolumes", {
        "metadata": {"name": name}, "spec": {"volumeName": name, "maxMountReplicaCount": 0, "volumeCapability": [
            {"access_type": 1, "access_mode": 1}]}})
    world.patch("azvolumes", name, {"status": {"state": "Created", "detail": {
        "volume_id": disk, "capacity_bytes": 4 * 1024**3, "node_expansion_required": False}}}, True)


def test_a_record_of_upstreams_driver_with_another_name_is_found(world, azure_sdk):
    """It takes the disk's name as it is, in lower case."""
    disk = make_disk(azure_sdk, "My.Data")
    by_hand(world, "my.data", disk)
    with Controller(world) as controller:
        publish(controller, disk, world.nodes[0])
        assert records(world) == {disk: "my.data"}
        until(lambda: world.roles("my.data") == {"a": "Primary Attached"}, "attached")
        unpublish(controller, disk, world.nodes[0])
        await_whereabouts(world, {})


def test_a_disk_with_two_records_is_not_used(world, azure_sdk):
    """Each of them would let a node write to it."""
    disk = make_disk(azure_sdk, NAME)
    by_hand(world, NAME, disk)
    by_hand(world, "other", disk)
    with Controller(world) as controller:
        with refused("FAILED_PRECONDITION", disk, NAME, "other", "delete one of them"):
            publish(controller, disk, world.nodes[0])
        assert whereabouts(world) == {}
        world.delete("azvolumes", "other")
        until(lambda: "other" not in [v["metadata"]["name"] for v in world.objects("azvolumes")], "gone")
        published(controller, disk, world.nodes[0])
        await_whereabouts(world, {disk: world.nodes[0]})
