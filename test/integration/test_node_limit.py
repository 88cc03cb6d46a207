"""How many volumes a node is said to take: places of its VM that are neither taken by disks of others nor reserved for
them, for kubelet (by the AzDriverNode, which the node plug-in answers from) and for replicas alike."""

import pytest
from cluster.waiting import until

from .azure_side import attach, make_disk
from .calls import create, publish, refused
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
        assert [(len(e["attached"]), len(e["detached"])) for e in
                world.calls("virtualMachines.attachDetachDataDisks", before) if e["vm"] == second] == [(1, 1)]
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
