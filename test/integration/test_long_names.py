"""Names that are no values of labels: Nodes and PersistentVolumes may have 253 characters, values of labels 63."""

import pytest
from azsim import simulator
from cluster.waiting import until

from .calls import create, delete, publish, unpublish
from .driver_world import GROUP, Controller, World

LONG = ".".join(["node" * 8, "of" * 20, "a" * 26])  # as a Node of a machine with a long domain may be called


@pytest.fixture
def world(tmp_path, apiserver):
    with World(tmp_path, apiserver, nodes=1, attach="50ms", detach="50ms", create="50ms") as world:
        yield world


@pytest.fixture
def node(world) -> str:
    """Its VM has a name of its own."""
    world.azure.control("POST", "vms", {"name": "short", "size": "Standard_D4s_v5", "zone": "1"}, 201)
    vm = simulator.disk_id("short").replace("/disks/", "/virtualMachines/")
    world.core.create_node({"metadata": {"name": LONG, "labels": {f"topology.{GROUP}/zone": "eastus-1"}},
                            "spec": {"providerID": f"azure://{vm}"}})
    world.nodes.append(LONG)
    world.set_ready(LONG, True)
    world.create("azdrivernodes", {"metadata": {"name": LONG}, "spec": {"nodeName": LONG}})
    world.beat(LONG)
    return LONG


def test_a_volume_is_published_to_a_node_with_a_long_name(world, node):
    with Controller(world) as controller:
        volume = create(controller, parameters={"skuName": "Premium_LRS"}).volume_id
        publish(controller, volume, node)

        def attachment() -> dict | None:
            found = world.objects("azvolumeattachments")
            return next((a for a in found if a.get("status", {}).get("state") == "Attached"), None)

        seen = until(attachment, "the disk is attached")
        value = seen["metadata"]["labels"][f"{GROUP}/node-name"]
        assert seen["spec"]["nodeName"] == node and len(value) <= 63
        listed = world.custom.list_namespaced_custom_object(
            GROUP, "v1beta2", world.namespace, "azvolumeattachments", label_selector=f"{GROUP}/node-name={value}")
        assert len(listed["items"]) == 1
        unpublish(controller, volume, node)
        delete(controller, volume)
        assert world.objects("azvolumeattachments") == [] == world.objects("azvolumes")
