"""How many volumes a node is said to take: places of its VM that are neither taken by disks of others nor reserved for
them, for kubelet (by the AzDriverNode, which the node plug-in answers from) and for replicas alike."""

import grpc
import pytest
from cluster.waiting import until

from .azure_side import attach, make_disk
from .calls import create, publish, refused, unpublish
from .driver_world import Controller, World

SHARED = {"skuName": "Premium_LRS", "maxShares": "2"}


@pytest.fixture
def world(tmp_path, apiserver):
    """Nodes with four places each."""
    with World(tmp_path, apiserver, nodes=0, attach="100ms", detach="50ms", create="50ms") as world:
        world.add_small_nodes("a", "b")
        yield world


def limit(world: World, node: str) -> int | None:
    return world.find("azdrivernodes", node)["status"].get("slots", {}).get("limit")


def test_reserved_places(world, azure_sdk):
    first, second = world.nodes
    volumes = [f"pvc-{number}" for number in range(4)]
    with Controller(world, "one", "--reserved-data-disk-slot-num=1") as controller:
        until(lambda: limit(world, first) == limit(world, second) == 3, "kubelet hears of three places")
        for name in volumes:  # the fourth as for a pod that has chosen its node itself
            publish(controller, create(controller, name, SHARED).volume_id, first)
        until(lambda: all(world.roles(name).get("a") == "Primary Attached" for name in volumes), "all four run")
        until(lambda: [world.roles(name).get("b") for name in volumes].count("Replica Attached") == 3, "replicas")

        attach(azure_sdk, make_disk(azure_sdk, "theirs"), second, 20)
        before = world.last_call()
        publish(controller, create(controller, "pvc-4", SHARED).volume_id, second)
        until(lambda: world.roles("pvc-4").get("b") == "Primary Attached", "a replica gave way")
        changes = [(len(e["attached"]), len(e["detached"])) for e in
                   world.calls("virtualMachines.attachDetachDataDisks", before) if e["vm"] == second]
        assert changes in ([(1, 1)], [(0, 1), (1, 0)]), "two, if the driver has not heard yet that the last place is taken"
        assert limit(world, second) == 3, "their disk has the place that was reserved"


def test_a_node_that_others_have_filled(world, azure_sdk):
    """kubelet asks for the limit anew when a publish was RESOURCE_EXHAUSTED: it is on record by then."""
    node = world.nodes[0]
    with Controller(world) as controller:
        until(lambda: limit(world, node) == 4, "four places")
        for number in range(3):
            publish(controller, create(controller, f"pvc-{number}", {}).volume_id, node)
        attach(azure_sdk, make_disk(azure_sdk, "theirs"), node, 20)
        one_more = create(controller, "pvc-x", {}).volume_id
        with refused("RESOURCE_EXHAUSTED", node):
            publish(controller, one_more, node)
        assert limit(world, node) == 3


def test_a_node_that_others_fill_behind_the_drivers_back(world, azure_sdk):
    """By what the driver knows of the VM there is a place, so it answers with a LUN, which the other disk has."""
    node = world.nodes[0]
    with Controller(world) as controller:
        first, second = (create(controller, name, {}).volume_id for name in ("pvc-1", "pvc-2"))
        theirs = [make_disk(azure_sdk, f"theirs-{number}") for number in range(3)]
        publish(controller, first, node)
        until(lambda: world.roles("pvc-1") == {"a": "Primary Attached"}, "the driver knows the VM")
        for number, disk in enumerate(theirs):
            attach(azure_sdk, disk, node, 1 + number)

        def is_refused() -> bool:
            try:
                publish(controller, second, node)
            except grpc.RpcError as error:
                return error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
            return False

        until(is_refused, "there is no place after all")
        until(lambda: world.roles("pvc-2") == {}, "nothing is left of it, which would take the next place")
        unpublish(controller, first, node)
        publish(controller, second, node)
        until(lambda: world.roles("pvc-2") == {"a": "Primary Attached"}, "in the place that became free")
