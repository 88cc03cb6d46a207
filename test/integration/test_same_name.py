"""Two disks of one name in two resource groups, each with a PersistentVolume: one is served, the other refused, and
neither is ever taken for the other, nor for that of a new volume."""

from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from azsim import simulator
from cluster.waiting import until

from .azure_side import make_disk
from .calls import create, delete, publish, refused, unpublish
from .driver_world import Controller, World
from .kubernetes_side import persistent_volume

NAME = "data"


@pytest.fixture
def world(tmp_path, apiserver):
    with World(tmp_path, apiserver, attach="100ms", detach="50ms") as world:
        yield world


@pytest.fixture
def disks(azure_sdk) -> list[str]:
    return [make_disk(azure_sdk, NAME, group=group) for group in ("rg", "elsewhere")]


def whereabouts(world: World) -> dict[str, list[str]]:
    """The nodes that each of the disks that are attached is attached to."""
    return {disk["id"]: [owner["vm"] for owner in disk["attachedTo"]]
            for disk in world.azure.control("GET", "disks")["disks"] if disk["attachedTo"]}


def recorded(world: World) -> str | None:
    """The disk of the AzVolume."""
    volume = world.find("azvolumes", NAME) or {}
    return volume.get("status", {}).get("detail", {}).get("volume_id")


def test_the_second_is_refused(world, controller, disks):
    first, second = disks
    publish(controller, first, world.nodes[0])
    until(lambda: world.roles(NAME) == {"a": "Primary Attached"}, "the first is attached")
    for node in world.nodes[:2]:
        with refused("FAILED_PRECONDITION", first, second, f"AzVolume {NAME}"):
            publish(controller, second, node)
        unpublish(controller, second, node)
    with refused("FAILED_PRECONDITION", first, second):
        delete(controller, second)
    assert whereabouts(world) == {first: [world.nodes[0]]}
    assert world.roles(NAME) == {"a": "Primary Attached"}


@pytest.mark.parametrize("nodes", [(0, 0), (0, 1)], ids=["one-node", "two-nodes"])
def test_of_two_at_the_same_time_one_is_served(world, controller, disks, nodes):
    def outcome(disk: str, node: str) -> grpc.RpcError | None:
        try:
            publish(controller, disk, node)
        except grpc.RpcError as error:
            return error
        return None

    wanted = {disk: world.nodes[node] for disk, node in zip(disks, nodes)}
    with ThreadPoolExecutor(2) as pool:
        outcomes = dict(zip(wanted, pool.map(outcome, wanted, wanted.values())))
    [served] = [disk for disk, error in outcomes.items() if not error]
    [other] = [disk for disk in disks if disk != served]
    assert outcomes[other].code() == grpc.StatusCode.FAILED_PRECONDITION
    assert served in outcomes[other].details() and other in outcomes[other].details()
    until(lambda: whereabouts(world) == {served: [wanted[served]]}, "that one is attached")
    unpublish(controller, other, wanted[other])
    assert whereabouts(world) == {served: [wanted[served]]}


def test_with_both_volumes_bound_the_one_on_record_is_served(world, controller, disks):
    with persistent_volume(world, disks[0], {}, False, "one"), persistent_volume(world, disks[1], {}, False, "two"):
        until(lambda: recorded(world), "one of them is adopted")
        other = next(disk for disk in disks if disk != recorded(world))
        with refused("FAILED_PRECONDITION", *disks):
            publish(controller, other, world.nodes[0])
        publish(controller, recorded(world), world.nodes[0])
        until(lambda: whereabouts(world) == {recorded(world): [world.nodes[0]]}, "it is attached")


def test_the_second_is_served_when_nothing_is_left_of_the_first(world, controller, disks):
    first, second = disks
    with persistent_volume(world, first, {}, False):
        publish(controller, first, world.nodes[0])
        with refused("FAILED_PRECONDITION", "delete its PersistentVolume"):
            publish(controller, second, world.nodes[1])
        unpublish(controller, first, world.nodes[0])
    until(lambda: not world.find("azvolumes", NAME), "no record of the first")
    publish(controller, second, world.nodes[1])
    until(lambda: whereabouts(world) == {second: [world.nodes[1]]}, "the second is attached")


@pytest.mark.parametrize("phase", ["Available", "Released"])
def test_a_new_volume_does_not_take_the_disk_of_a_persistent_volume_made_by_hand(world, azure_sdk, phase):
    foreign = make_disk(azure_sdk, NAME, group="elsewhere")
    with persistent_volume(world, foreign, {}, False, phase=phase), Controller(world) as controller:
        made = create(controller, NAME).volume_id
        assert made.lower() != foreign.lower()
        assert "persistentVolume" not in world.find("azvolumes", NAME)["spec"]
        delete(controller, made)
        assert [disk["id"] for disk in world.azure.control("GET", "disks")["disks"]] == [foreign]


def test_a_new_volume_does_not_take_one_that_is_on_record(world, controller, azure_sdk):
    foreign = make_disk(azure_sdk, NAME, group="elsewhere")
    with persistent_volume(world, foreign, {}, False):
        until(lambda: recorded(world) == foreign, "it is adopted")
        with refused("ALREADY_EXISTS", foreign, "by hand"):
            create(controller, NAME, {})


def test_nor_one_that_could_not_be_read(world, controller):
    group = f"/subscriptions/{simulator.SUBSCRIPTION}/resourceGroups/elsewhere"
    foreign = f"{group}/providers/Microsoft.Compute/disks/{NAME}"
    with persistent_volume(world, foreign, {}, False):
        until(lambda: (world.find("azvolumes", NAME) or {}).get("status", {}).get("error"), "it is not there")
        with refused("ALREADY_EXISTS", foreign, "by hand"):
            create(controller, NAME, {})
